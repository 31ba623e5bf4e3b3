import { setTimeout as sleep } from "node:timers/promises"
import { Type } from "typebox"
import { CallError, createRegistry, defineOperation, silentLogger } from "../src/index.ts"
import type { OperationRegistry } from "../src/index.ts"
import type { JournalWriter } from "./journal.ts"

/** What every call of the lab is given: its id for the journal, and how long it takes. */
const Work = Type.Object({
  id: Type.String(),
  ms: Type.Number(),
  /** Something large to send along. */
  data: Type.Optional(Type.String()),
  /** So many characters are to come back. */
  bytes: Type.Optional(Type.Integer()),
})

/** An answer names the run that it came from, and gives back what was sent. */
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

/** The text of an item: each has its own, so that one that was damaged or mixed up is noticed. */
export function itemText(n: number, bytes: number): string {
  const own = `${n}:`
  return own.padEnd(Math.max(bytes, own.length), "abcdefghijklmnopqrstuvwxyz")
}

/** What a worker does wrong on purpose, to see whether it is found. */
export type Sabotage = "runs twice" | "does not run" | "mixes up answers" | "denies"

/** Whose operations these are. */
interface LabWorker {
  readonly name: string
  readonly sabotage?: Sabotage | undefined
  readonly version?: string | undefined
}

/** What the workers of the lab serve. Each run is in the journal before it does anything. */
export function labRegistry(
  journal: JournalWriter,
  { name: worker, sabotage, version = "1.0.0" }: LabWorker,
): OperationRegistry {
  const base = {
    namespace: "lab",
    version,
    description: "Of the fault lab",
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
          // As a bug in a timer does it: nobody is there to catch it.
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
