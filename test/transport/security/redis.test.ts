import { afterAll, beforeAll, describe } from "vitest"
import { provideRedis } from "../../support/brokers.ts"
import { redisLab } from "./lab.ts"
import type { Lab } from "./lab.ts"
import { testHostile } from "./suite/hostile.ts"
import { testIdentity } from "./suite/identity.ts"
import { testImpostors } from "./suite/impostors.ts"
import { testPermitted } from "./suite/permitted.ts"

const isThere = await provideRedis()

describe.skipIf(!isThere)("Redis with the permissions of the command", () => {
  let lab: Lab

  beforeAll(async () => {
    lab = await redisLab()
  })

  afterAll(() => lab[Symbol.asyncDispose]())

  testPermitted(() => lab)
  testImpostors(() => lab)
  testIdentity(() => lab)
  testHostile(() => lab)
})
