import { setTimeout as sleep } from "node:timers/promises"
import { Type } from "typebox"
import { CallError, createRegistry, defineOperation } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import type { IdempotencyStore, OperationRegistry } from "../../src/index.ts"
import type { JournalWriter } from "./journal.ts"

/** The input of every call of the lab: its id for the journal, and its duration. */
const Work = Type.Object({
  id: Type.String(),
  ms: Type.Number(),
  /** Additional data, to make the input large. */
  data: Type.Optional(Type.String()),
  /** The number of characters in the result. */
  bytes: Type.Optional(Type.Integer()),
})

/** A result names its run and repeats the input. */
const Done = Type.Object({
  id: Type.String(),
  run: Type.String(),
  worker: Type.String(),
  size: Type.Integer(),
  text: Type.Optional(Type.String()),
})

const Items = Type.Object({
  id: Type.String(),
  count: Type.Integer(),
  bytes: Type.Integer(),
  /** Milliseconds between two items. */
  every: Type.Optional(Type.Number()),
})

const Item = Type.Object({ n: Type.Integer(), text: Type.String() })

/** The text of an item; each is different, so that damaged and mixed-up items are detected. */
export function itemText(n: number, bytes: number): string {
  const own = `${n}:`
  return own.padEnd(Math.max(bytes, own.length), "abcdefghijklmnopqrstuvwxyz")
}

/** A deliberate defect of a worker, to test the audit. */
export type Sabotage = "runs twice" | "does not run" | "mixes up answers" | "denies"

/** The worker of the operations. */
interface LabWorker {
  readonly name: string
  readonly sabotage?: Sabotage | undefined
  readonly version?: string | undefined
  /** Where keys of "work" are kept. */
  readonly store?: IdempotencyStore | undefined
}

/** The operations of the lab's workers. Each run is recorded in the journal before it does anything. */
export function labRegistry(
  journal: JournalWriter,
  { name: worker, sabotage, version = "1.0.0", store }: LabWorker,
): OperationRegistry {
  const base = {
    namespace: "lab",
    version,
    description: "An operation of the fault lab",
    accessControl: { requiredScopes: [] },
  } as const

  const work = async (
    { id, ms, data = "", bytes }: { id: string; ms: number; data?: string; bytes?: number },
    { signal }: { readonly signal: AbortSignal },
  ) => {
    if (sabotage === "does not run") return { id, run: "none", worker, size: data.length }
    const run = journal.start(id)
    if (sabotage === "runs twice") journal.start(id)
    if (sabotage === "denies") {
      throw new CallError("UNAVAILABLE", "It says that it did not run.", { mayHaveExecuted: false })
    }
    try {
      await sleep(ms, undefined, { signal })
    } catch (error) {
      journal.note("aborted", id, run)
      throw error
    }
    journal.note("end", id, run)
    const text = bytes === undefined ? undefined : "x".repeat(bytes)
    const size = data.length + (sabotage === "mixes up answers" ? 1 : 0)
    return { id, run, worker, size, ...(text !== undefined && { text }) }
  }

  return createRegistry(
    [
      defineOperation({
        ...base,
        name: "work",
        type: "mutation",
        inputSchema: Work,
        outputSchema: Done,
        ...(store !== undefined && { resilience: { idempotency: { store } } }),
        handler: work,
      }),
      defineOperation({
        ...base,
        name: "read",
        type: "query",
        inputSchema: Work,
        outputSchema: Done,
        handler: work,
      }),
      defineOperation({
        ...base,
        name: "crash",
        type: "mutation",
        inputSchema: Work,
        outputSchema: Done,
        handler: ({ id, ms }): Promise<never> => {
          journal.start(id)
          // Throws in a timer, where the error cannot be caught.
          setTimeout(() => {
            throw new Error("A handler crashes its process.")
          }, ms)
          return new Promise(() => undefined)
        },
      }),
      defineOperation({
        ...base,
        name: "block",
        type: "mutation",
        inputSchema: Work,
        outputSchema: Done,
        handler: ({ id, ms }) => {
          const run = journal.start(id)
          const until = Date.now() + ms
          while (Date.now() < until);
          journal.note("end", id, run)
          return { id, run, worker, size: 0 }
        },
      }),
      defineOperation({
        ...base,
        name: "items",
        type: "subscription",
        inputSchema: Items,
        outputSchema: Item,
        async *handler({ id, count, bytes, every }) {
          const run = journal.start(id)
          let n = 0
          try {
            while (n < count) {
              if (every !== undefined) await sleep(every)
              n++
              yield { n, text: itemText(n, bytes) }
            }
          } finally {
            journal.note(n === count ? "end" : "aborted", id, run, n)
          }
        },
      }),
    ],
    { logger: silentLogger },
  )
}
