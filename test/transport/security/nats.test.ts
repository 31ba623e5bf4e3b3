import { afterAll, beforeAll, describe } from "vitest"
import { provideNats } from "../../support/brokers.ts"
import { natsLab } from "./lab.ts"
import type { Lab } from "./lab.ts"
import { testHostile } from "./suite/hostile.ts"
import { testIdentity } from "./suite/identity.ts"
import { testImpostors } from "./suite/impostors.ts"
import { testPermitted } from "./suite/permitted.ts"

const isThere = await provideNats()

describe.skipIf(!isThere)("NATS with the permissions of the command", () => {
  let lab: Lab

  beforeAll(async () => {
    lab = await natsLab()
  })

  afterAll(() => lab[Symbol.asyncDispose]())

  testPermitted(() => lab)
  testImpostors(() => lab)
  testIdentity(() => lab)
  testHostile(() => lab)
})
