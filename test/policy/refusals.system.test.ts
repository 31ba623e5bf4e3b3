// What a refusal of a policy says of itself, to callers on every way in.
import { describe, expect, onTestFinished, test } from "vitest"
import { CallError, createRegistry } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import type { AnyOperation, OperationContext, Resilience } from "../../src/index.ts"
import { openSurface, SURFACES } from "../support/surfaces.ts"
import type { Seen } from "../support/surfaces.ts"
import { provideBrokers } from "../support/brokers.ts"
import { operation, rejection } from "../support/operations.ts"

const BROKERS = await provideBrokers()
const NEED_BROKERS: ReadonlySet<string> = new Set(["NATS", "Redis"])

const again = (id: string) => (_input: unknown, context: OperationContext) => context.call(id, {})

/** Calls an operation twice with the same key: the second call ends as it has to. */
const twice =
  (id: string, inputs: readonly [unknown, unknown]) =>
  async (_input: unknown, context: OperationContext): Promise<unknown> => {
    const options = { idempotencyKey: context.requestId }
    await context.call(id, inputs[0], options).catch(() => undefined)
    return await context.call(id, inputs[1], options)
  }

/** Operations whose calls are refused; those that call themselves refuse the inner call. */
function refusing(): AnyOperation[] {
  const define = (
    name: string,
    resilience: Resilience,
    handler: (input: unknown, context: OperationContext) => unknown,
  ): AnyOperation =>
    // Imported: their errors are passed on as those that they get.
    operation(`policy.${name}`, {
      handler,
      resilience,
      inputSchema: { type: "object" },
      imported: true,
    })
  return [
    define("limited", { rateLimit: { perSecond: 0.01, burst: 1 } }, again("policy.limited")),
    define("overloaded", { concurrency: { max: 1 } }, again("policy.overloaded")),
    define("circuit", { breaker: { minimumCalls: 1, openMs: 60_000 } }, () => {
      throw new CallError("UNAVAILABLE", "away")
    }),
    define("late", { timeout: { attempt: 20 } }, () => new Promise(() => undefined)),
    define("pay", { idempotency: {} }, () => 1),
    define("lost", { idempotency: {} }, () => {
      throw new CallError("WORKER_LOST", "gone", { mayHaveExecuted: true })
    }),
    define("reused", {}, twice("policy.pay", [{ n: 1 }, { n: 2 }])),
    define("doubtful", {}, twice("policy.lost", [{}, {}])),
  ]
}

/** The table of the codes: what each refusal says. */
const ROWS: Readonly<Record<string, object>> = {
  limited: { code: "RATE_LIMITED", retryable: true, mayHaveExecuted: false },
  overloaded: { code: "OVERLOADED", retryable: true, mayHaveExecuted: false },
  circuit: { code: "CIRCUIT_OPEN", retryable: true, mayHaveExecuted: false },
  late: { code: "TIMEOUT", retryable: false, mayHaveExecuted: true },
  reused: { code: "CONFLICT", retryable: false, mayHaveExecuted: false },
  doubtful: { code: "CONFLICT", retryable: false, mayHaveExecuted: true },
}

/** Those that say when there is room again. */
const TIMED: ReadonlySet<string> = new Set(["limited", "circuit"])

type Refused = Pick<Seen, "code" | "retryable" | "mayHaveExecuted"> & {
  readonly retryAfterMs?: number | undefined
}

async function expectRows(call: (id: string) => Promise<Refused>): Promise<void> {
  // Opens the circuit.
  await call("policy.circuit")
  for (const [name, row] of Object.entries(ROWS)) {
    const { code, retryable, mayHaveExecuted, retryAfterMs } = await call(`policy.${name}`)
    expect({ name, code, retryable, mayHaveExecuted }).toEqual({ name, ...row })
    expect([name, typeof retryAfterMs]).toEqual([name, TIMED.has(name) ? "number" : "undefined"])
  }
}

describe("a refusal of a policy says whether it may be repeated, and whether something ran:", () => {
  test("in the process", async () => {
    const registry = createRegistry(refusing(), { logger: silentLogger })
    onTestFinished(() => registry.close())
    await expectRows(async (id) => (await rejection(registry.execute(id, {}))) as CallError)
  })

  const ways = Object.keys(SURFACES).filter((name) => !NEED_BROKERS.has(name) || name in BROKERS)
  test.each(ways)("over %s", async (name) => {
    await using broker = await BROKERS[name]?.()
    const terms = { upstream: "", errors: undefined, operations: refusing(), broker: broker?.url }
    await using surface = await openSurface(name, terms)
    await expectRows(surface.call)
  })
})
