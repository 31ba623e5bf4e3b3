// How often a call is repeated when every registry on its way repeats calls, and what is left of its error.
import { describe, expect, test } from "vitest"
import { CallError, createClient, createRegistry, ERROR_CODES, fromCall } from "../src/index.ts"
import { silentLogger } from "../src/testing.ts"
import type { AnyOperation, OperationRegistry, Resilience } from "../src/index.ts"
import { createHTTPTransport } from "../src/http.ts"
import { serveHTTP } from "../src/node.ts"
import { systemClock } from "../src/internal/clock.ts"
import type { Clock } from "../src/internal/platform.ts"
import { groundFor, IMPORT_LINKS } from "./support/links.ts"
import { operation, rejection } from "./support/operations.ts"

const CODES = [...Object.keys(ERROR_CODES), "BUSY"]
const KINDS = Object.keys(IMPORT_LINKS)
type LinkOpener = (typeof IMPORT_LINKS)[keyof typeof IMPORT_LINKS]
const RETRY: Resilience = { retry: { attempts: 3, delay: 0 } }

/** A clock that does not wait. */
const HASTY: Clock = { ...systemClock, setTimeout: (act) => systemClock.setTimeout(act, 0) }

const nameOf = (code: string): string => `api.${code.toLowerCase().replaceAll("_", "-")}`

/** For each code a query that fails with it, and how often they ran since the last question. */
function failing(retryable: boolean): { operations: AnyOperation[]; runs: () => number } {
  let runs = 0
  const operations = CODES.map((code) =>
    operation(nameOf(code), {
      type: "query",
      handler: () => {
        runs++
        const details = { reason: "NO_ROOM", statusCode: 500 }
        throw new CallError(code, "not now", { retryable, retryAfterMs: 1, details })
      },
    }),
  )
  return { operations, runs: () => runs + (runs = 0) }
}

function repeating(operations: readonly AnyOperation[], resilience: Resilience): OperationRegistry {
  const policies = [{ match: "*", ...resilience }]
  return createRegistry(operations, { logger: silentLogger, policies })
}

/** A registry that imports from one that imports from one with these operations, and a client of it. */
async function openChain(
  kind: string,
  operations: readonly AnyOperation[],
  levels: readonly [worker: Resilience, middle: Resilience, edge: Resilience],
): Promise<{ call: (id: string) => Promise<unknown> } & AsyncDisposable> {
  const ground = await groundFor(kind)
  const [first, ...others] = levels
  const worker = repeating(operations, first)
  let registry = worker
  ground.closers.push(() => worker.close())
  for (const level of others) {
    const transport = await (IMPORT_LINKS[kind] as LinkOpener)(registry, ground)
    const next = repeating([], level)
    ground.closers.push(() => next.close())
    await fromCall(transport, { registry: next, logger: silentLogger })
    registry = next
  }
  const edge = registry
  return {
    call: (id) => rejection(edge.execute(id, {})),
    [Symbol.asyncDispose]: () => ground[Symbol.asyncDispose](),
  }
}

describe("three attempts at every level", () => {
  describe.each(KINDS)("over %s and again", (kind) => {
    test("make three requests, whichever level makes them, and the error keeps what it says", async () => {
      const { operations, runs } = failing(true)
      for (const levels of [
        [RETRY, RETRY, RETRY],
        [{}, RETRY, RETRY],
        [{}, {}, RETRY],
      ] as const) {
        await using chain = await openChain(kind, operations, levels)
        for (const code of CODES) {
          const error = await chain.call(nameOf(code))
          expect([code, runs()]).toEqual([code, 3])
          expect(error).toMatchObject({
            code,
            attempts: 3,
            retryable: true,
            mayHaveExecuted: true,
            retryAfterMs: 1,
            details: { reason: "NO_ROOM" },
          })
        }
      }
    })

    test("make one request if the error is not retryable, and no link makes it so", async () => {
      const { operations, runs } = failing(false)
      await using chain = await openChain(kind, operations, [RETRY, RETRY, RETRY])
      for (const code of CODES) {
        expect(await chain.call(nameOf(code))).toMatchObject({ code, retryable: false })
        expect([code, runs()]).toEqual([code, 1])
      }
    })
  })

  test.each(KINDS)(
    "of a query that does not answer are made over %s, as in process",
    async (kind) => {
      let runs = 0
      const silent = operation("api.silent", {
        type: "query",
        handler: () => {
          runs++
          return new Promise(() => undefined)
        },
      })
      const edge: Resilience = { ...RETRY, timeout: { attempt: 300 } }
      await using chain = await openChain(kind, [silent], [{}, {}, edge])
      for (let round = 0; round < 2; round++) {
        runs = 0
        expect(await chain.call("api.silent")).toMatchObject({ code: "TIMEOUT", attempts: 3 })
        expect(runs).toBe(3)
      }
    },
  )

  test("over HTTP are not multiplied by the retries of the client, which counts its own", async () => {
    const { operations, runs } = failing(true)
    for (const level of [RETRY, {}]) {
      await using registry = repeating(operations, level)
      await using served = await serveHTTP(registry, { port: 0, logger: silentLogger })
      const options = { retries: 2, clock: HASTY }
      await using client = createClient(createHTTPTransport(served.url, options))
      for (const code of CODES) {
        const error = await rejection(client.call(nameOf(code), {}))
        expect(error).toMatchObject({ code, attempts: 3, retryable: true, mayHaveExecuted: true })
        expect([code, runs()]).toEqual([code, 3])
      }
    }
  })
})
