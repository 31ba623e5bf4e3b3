import { CallError, createRegistry, FromSchema } from "../../../../src/index.ts"
import { silentLogger } from "../../../../src/testing.ts"
import type {
  AnyOperation,
  OperationContext,
  OperationRegistry,
  PendingRequestMap,
} from "../../../../src/index.ts"
import { operation } from "../../../support/operations.ts"
import type { Lab } from "./broker.ts"
import type { Run } from "./journal.ts"
import type { Plan } from "./plan.ts"
import { TOO_LARGE } from "./plan.ts"
import type { ProcessClock } from "./process-clock.ts"

/** What a request says: which plan it belongs to, and what to do. */
export interface Work extends Pick<Plan, "key" | "work" | "items" | "failAt" | "largeAt"> {
  readonly padding?: string | undefined
}

/** A process that serves. */
export interface Host {
  readonly lab: Lab
  readonly clock: ProcessClock
  readonly name: string
  /** Its own way to the others. */
  readonly map: PendingRequestMap
  /** Not everybody serves what is rare, and some say that "sim.mixed" must not be run twice. */
  readonly hasRare: boolean
  readonly isCareful: boolean
}

// One for all, and read once: what is known of a schema is kept by the schema.
const SCHEMA = FromSchema({})
const OPEN = { inputSchema: SCHEMA, outputSchema: SCHEMA }

/** The code of errors that are part of the plan. */
export const PLANNED = "PLANNED"

type Handler = (input: Work, context: OperationContext, run: Run) => Promise<unknown>

/** A registry whose handlers write down what they do. */
export function simRegistry(host: Host): OperationRegistry {
  const { clock, map, hasRare, isCareful } = host
  const one = (id: string, parts: Partial<AnyOperation>, handler: Handler): AnyOperation =>
    operation(id, {
      ...OPEN,
      ...parts,
      handler: async (input: Work, context: OperationContext) => {
        const isIdempotent = parts.type === "query" || parts.annotations?.idempotent === true
        const run = begin(host, id, input, context, isIdempotent)
        try {
          return await handler(input, context, run)
        } finally {
          run.endedAt = host.lab.world.time
        }
      },
    })
  const work: Handler = async (input, { signal }, run) => {
    await clock.sleep(input.work, signal)
    return { key: input.key, run: run.number }
  }
  const operations = [
    one("sim.query", { type: "query" }, work),
    one("sim.upsert", { annotations: { idempotent: true } }, work),
    one("sim.change", {}, work),
    one("sim.mixed", { annotations: { idempotent: !isCareful } }, work),
    one("sim.relay", {}, async (input, { signal, deadline, requestId }) => {
      const options = { signal, deadline, parentRequestId: requestId }
      const { data } = await map.call("sim.change", input, options)
      return data
    }),
    one("sim.stubborn", {}, async (input, _context, run) => {
      await clock.sleep(input.work)
      return { key: input.key, run: run.number }
    }),
    one("sim.fail", {}, async (input, { signal }) => {
      await clock.sleep(input.work, signal)
      throw new CallError(PLANNED, "As planned.", { details: { key: input.key } })
    }),
    one("sim.large", {}, work),
    one("sim.largeResult", {}, async ({ key }, _context, run) => ({
      key,
      run: run.number,
      padding: "x".repeat(TOO_LARGE),
    })),
    operation("sim.stream", {
      ...OPEN,
      type: "subscription",
      handler: (input: Work, context: OperationContext) => items(host, input, context),
    }),
    ...(hasRare ? [one("sim.rare", { type: "query" }, work)] : []),
  ]
  return createRegistry(operations, { clock, logger: silentLogger, timeout: 100_000 })
}

async function* items(host: Host, input: Work, context: OperationContext): AsyncGenerator {
  const run = begin(host, "sim.stream", input, context, false)
  const { key, work, items: count, failAt, largeAt } = input
  const fail = (): CallError => new CallError(PLANNED, "As planned.", { details: { key } })
  try {
    for (let at = 1; at <= count; at++) {
      if (work > 0) await host.clock.sleep(work, context.signal)
      if (at === failAt) throw fail()
      run.produced = at
      const padding = at === largeAt ? "x".repeat(TOO_LARGE) : undefined
      yield { key, at, run: run.number, padding }
    }
    if (failAt === count + 1) throw fail()
  } finally {
    run.endedAt = host.lab.world.time
  }
}

function begin(
  { lab, clock, name }: Host,
  id: string,
  input: Work,
  context: OperationContext,
  isIdempotent: boolean,
): Run {
  const { world, journal } = lab
  const { signal } = context
  const run: Run = {
    number: journal.runs.length + 1,
    key: input.key,
    operation: id,
    startedAt: world.time,
    endedAt: undefined,
    abortedAt: signal.aborted ? world.time : undefined,
    produced: 0,
    worker: name,
    isIdempotent,
    process: clock,
  }
  journal.runs.push(run)
  journal.say(`${name} starts ${input.key} (run ${run.number} of ${id})`)
  signal.addEventListener("abort", () => (run.abortedAt ??= world.time), { once: true })
  return run
}
