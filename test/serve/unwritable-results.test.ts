// Results that cannot be written as JSON: what a handler's own code says about that stays hidden.
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { operation } from "../support/operations.ts"
import { openSurface } from "../support/surfaces.ts"
import type { Surface } from "../support/surfaces.ts"

const SECRET = "s3cr3t-db.internal"
const unwritable = {
  toJSON() {
    throw new Error(SECRET)
  },
}

const operations = [
  operation("odd.result", { handler: () => unwritable }),
  operation("odd.items", {
    type: "subscription",
    async *handler() {
      yield unwritable
    },
  }),
]

describe.each(["gateway", "REST", "batch", "hub", "HTTP client", "MCP, modern", "MCP, legacy"])(
  "a result whose toJSON throws, over %s,",
  (way) => {
    let surface: Surface
    beforeAll(async () => {
      surface = await openSurface(way, { upstream: "", errors: undefined, operations })
    })
    afterAll(() => surface[Symbol.asyncDispose]())

    test("is an error that does not show its message", async () => {
      const seen = [await surface.call("odd.result"), await surface.stream?.("odd.items")]
      for (const one of seen) {
        if (one === undefined) continue
        expect(one.code).toBe("EXECUTION_ERROR")
        expect(JSON.stringify(one)).not.toContain(SECRET)
      }
    })
  },
)
