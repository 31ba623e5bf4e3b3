// Schemas of Zod, Valibot and ArkType that allow no value, as the results of calls over every way in.
import { type } from "arktype"
import * as v from "valibot"
import { describe, expect, test } from "vitest"
import { z } from "zod"
import type { RegistryOptions } from "../../src/index.ts"
import { provideBrokers } from "../support/brokers.ts"
import { operation } from "../support/operations.ts"
import { openSurface, WAYS_IN } from "../support/surfaces.ts"

const BROKERS = await provideBrokers()
const WAYS = Object.keys(WAYS_IN).filter(
  (way) => !["NATS", "Redis"].includes(way) || way in BROKERS,
)

const SCHEMAS = {
  zVoid: z.void(),
  zUndefined: z.undefined(),
  zOptional: z.object({ name: z.string() }).optional(),
  zNullish: z.object({ name: z.string() }).nullish(),
  zUnion: z.union([z.object({ name: z.string() }), z.undefined()]),
  vVoid: v.void(),
  vOptional: v.optional(v.object({ name: v.string() })),
  arkUndefined: type("undefined"),
  arkOptional: type({ name: "string" }).or("undefined"),
}

const operations = Object.entries(SCHEMAS).flatMap(([name, outputSchema]) => [
  operation(`none.${name}`, { outputSchema, handler: () => undefined }),
  operation(`some.${name}`, { outputSchema, handler: () => ({ name: "Ada", secret: 1 }) }),
  operation(`wrong.${name}`, { outputSchema, handler: () => ({ name: {} }) }),
])

describe.each(WAYS)("over %s", (way) => {
  test("results may be absent where the schema allows it, and nowhere else", async () => {
    await using broker = await BROKERS[way]?.()
    const registry: RegistryOptions = { output: "strict" }
    const terms = { upstream: "", errors: undefined, operations, registry, broker: broker?.url }
    await using surface = await openSurface(way, terms)
    for (const name of Object.keys(SCHEMAS)) {
      const none = await surface.call(`none.${name}`)
      expect([none.code, none.data], name).toEqual([undefined, undefined])
      // The registry of a hub only warns.
      const code = way === "hub" ? undefined : "OUTPUT_VALIDATION_ERROR"
      expect((await surface.call(`wrong.${name}`)).code, name).toBe(code)
      if (!name.endsWith("Optional")) continue
      expect((await surface.call(`some.${name}`)).data, name).toEqual({ name: "Ada" })
    }
  })
})
