import { CallError, createRegistry, FromSchema } from "../../../src/index.ts"
import { silentLogger } from "../../../src/testing.ts"
import type {
  AnyOperation,
  OperationContext,
  OperationRegistry,
  PendingRequestMap,
} from "../../../src/index.ts"
import { operation } from "../../support/operations.ts"
import type { NodeClock, World } from "./clock.ts"
import type { Execution, Journal } from "./journal.ts"

/** What a request says: which plan it belongs to, and what to do. */
export interface Work {
  readonly key: string
  readonly work: number
  readonly depth: number
  readonly items: number
  readonly failAt?: number | undefined
}

/** A process that serves. */
export interface Host {
  readonly world: World
  readonly clock: NodeClock
  readonly journal: Journal
  /** The way to the next server. */
  readonly next: PendingRequestMap | undefined
}

/** The code of errors that are part of the plan. */
export const PLANNED = "PLANNED"

/** A registry whose handlers write down what they do. */
export function simRegistry(host: Host): OperationRegistry {
  const { clock, next } = host
  const one = (
    id: string,
    handler: (input: Work, context: OperationContext) => unknown,
  ): AnyOperation =>
    operation(id, {
      inputSchema: OPEN,
      outputSchema: OPEN,
      handler: async (input: Work, context: OperationContext) => {
        const execution = begin(host, id, input, context)
        try {
          return await handler(input, context)
        } finally {
          execution.endedAt = host.world.time
        }
      },
    })
  const operations = [
    one("sim.echo", ({ key }) => ({ key })),
    one("sim.work", async ({ key, work }, { signal }) => {
      await clock.sleep(work, signal)
      return { key }
    }),
    one("sim.stubborn", async ({ key, work }) => {
      await clock.sleep(work)
      return { key }
    }),
    one("sim.fail", async ({ key, work }, { signal }) => {
      await clock.sleep(work, signal)
      throw new CallError(PLANNED, "As planned.", { details: { key } })
    }),
    one("sim.nest", async (input, { call, signal }) => {
      const { key, work, depth } = input
      await clock.sleep(work, signal)
      if (depth > 0)
        await call(`sim.${depth === 1 ? "work" : "nest"}`, { ...input, depth: depth - 1 })
      return { key }
    }),
    one("sim.relay", async (input, { signal, deadline, requestId }) => {
      if (next === undefined) throw new Error("There is no next server.")
      const options = { signal, deadline, parentRequestId: requestId }
      const { data } = await next.call("sim.work", input, options)
      return data
    }),
    operation("sim.stream", {
      type: "subscription",
      inputSchema: OPEN,
      outputSchema: OPEN,
      handler: (input: Work, context: OperationContext) => items(host, input, context),
    }),
  ]
  return createRegistry(operations, { clock, logger: silentLogger, timeout: 100_000 })
}

// Read once: each history registers its operations twice and more.
const OPEN = FromSchema({})

async function* items(host: Host, input: Work, context: OperationContext): AsyncGenerator {
  const execution = begin(host, "sim.stream", input, context)
  const { key, work, items: count, failAt } = input
  try {
    for (let at = 1; at <= count; at++) {
      if (work > 0) await host.clock.sleep(work, context.signal)
      if (at === failAt) throw new CallError(PLANNED, "As planned.", { details: { key } })
      execution.produced = at
      yield { key, at }
    }
    if (failAt === count + 1) throw new CallError(PLANNED, "As planned.", { details: { key } })
  } finally {
    execution.endedAt = host.world.time
  }
}

function begin(host: Host, id: string, input: Work, context: OperationContext): Execution {
  const { world, journal } = host
  const execution: Execution = {
    key: input.key,
    operation: id,
    startedAt: world.time,
    endedAt: undefined,
    abortedAt: context.signal.aborted ? world.time : undefined,
    produced: 0,
    requestId: context.requestId,
    depth: input.depth,
    node: host.clock,
  }
  journal.executions.push(execution)
  journal.lines.push(`${world.time} ${id} ${input.key}`)
  const { signal } = context
  signal.addEventListener("abort", () => (execution.abortedAt = world.time), { once: true })
  return execution
}
