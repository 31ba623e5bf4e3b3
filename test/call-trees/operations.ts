import { CallError, FromSchema, isCallError } from "../../src/index.ts"
import type { AnyOperation, OperationContext } from "../../src/index.ts"
import type { NodeClock } from "../protocol/sim/clock.ts"
import { operation } from "../support/operations.ts"
import type { Attempt, Effect, Journal, Node, Run, Stream } from "./journal.ts"
import { DEFAULT_TIMEOUT, KINDS } from "./plan.ts"
import type { Kind, Script } from "./plan.ts"

/** Where handlers write down what they do. */
export interface Host {
  readonly journal: Journal
  readonly clock: NodeClock
  readonly nodes: ReadonlyMap<string, Node>
  /** Makes a call, writes it down, and repeats it like a good client. */
  call(node: Node, parent: Run | undefined, send: Send): Promise<unknown>
}

/** Sends one attempt. */
export type Send = (attempt: Attempt) => Promise<{ readonly data: unknown; readonly meta: unknown }>

interface Work {
  readonly node: string
  /** The call, where metadata does not arrive. */
  readonly attempt?: number
}

/** What a handler returns. */
export interface Result {
  readonly run: number
}

const OPEN = FromSchema({})
/** Longer than any call may take. */
const FOREVER = 20_000
const HARMLESS = { idempotent: true }

/** The operations of a registry, by kind, and a stream. */
export function operationsOf(host: Host, at: number): Record<Kind | "watch", AnyOperation> {
  const made = KINDS.map((kind) => [
    kind,
    operation(`r${at}.${kind}`, {
      type: kind === "get" ? "query" : "mutation",
      ...(kind === "put" && { annotations: HARMLESS }),
      inputSchema: OPEN,
      outputSchema: OPEN,
      handler: (work: Work, context: OperationContext) => handle(host, work, context),
    }),
  ])
  const watch = operation(`r${at}.watch`, {
    type: "subscription",
    inputSchema: OPEN,
    outputSchema: OPEN,
    handler: ({ run }: Result, context: OperationContext) => items(host, run, context),
  })
  return { ...(Object.fromEntries(made) as Record<Kind, AnyOperation>), watch }
}

async function* items(
  { journal, clock }: Host,
  run: number,
  { signal }: OperationContext,
): AsyncGenerator {
  const stream: Stream = { run: journal.runs[run] as Run, endedAt: Infinity }
  journal.streams.push(stream)
  try {
    for (let item = 0; ; item++) {
      yield item
      await clock.sleep(1000, signal)
    }
  } finally {
    stream.endedAt = journal.now()
  }
}

async function handle(host: Host, work: Work, context: OperationContext): Promise<Result> {
  const { journal, nodes } = host
  const node = nodes.get(work.node) as Node
  const caller = work.attempt ?? (context.metadata?.["attempt"] as number)
  const attempt = journal.attempts[caller] as Attempt
  const count = journal.runs.filter((run) => run.node === node).length
  const number = Math.min(count, node.plan.scripts.length - 1)
  const script = node.plan.scripts[number] as Script
  const run: Run = {
    id: journal.runs.length,
    node,
    attempt,
    script,
    startedAt: journal.now(),
    endedAt: Infinity,
    effects: 0,
    wasOk: false,
  }
  journal.runs.push(run)
  journal.write(`${node.operationId} of call ${attempt.id} (${node.id}) starts run ${run.id}`)
  try {
    await perform(host, run, node.children[number] as readonly Node[], context)
    run.wasOk = true
    return { run: run.id }
  } finally {
    run.endedAt = journal.now()
    journal.write(`run ${run.id} of ${node.id} ends ${run.wasOk ? "well" : "badly"}`)
  }
}

async function perform(
  host: Host,
  run: Run,
  children: readonly Node[],
  context: OperationContext,
): Promise<void> {
  const { script } = run
  const { effect, wait, obeys, isParallel, onError } = script
  const signal = obeys ? context.signal : undefined
  if (effect === "before" || effect === "both") affect(host, run, "before")
  if (wait > 0) await host.clock.sleep(wait, signal)
  if (script.opensStream === true) {
    await context.subscribe(`r${run.node.home}.watch`, { run: run.id }).next()
  }
  const one = async (child: Node): Promise<void> => {
    const { operationId, key, plan } = child
    try {
      await host.call(child, run, async ({ id }) => {
        const options = {
          metadata: { attempt: id },
          ...(plan.timeout !== undefined && { timeout: plan.timeout }),
          ...(key !== undefined && { idempotencyKey: key }),
        }
        return await context.call(operationId, { node: child.id }, options)
      })
    } catch (error) {
      if (onError === "throw") throw error
      if (onError === "wrap") throw new Error("A nested call failed.", { cause: error })
    }
  }
  if (isParallel) await Promise.all(children.map(one))
  else for (const child of children) await one(child)
  if (effect === "after" || effect === "both") affect(host, run, "after")
  await end(host, run, signal)
}

function affect({ journal }: Host, run: Run, slot: Effect["slot"]): void {
  run.effects++
  journal.effects.push({ run, slot, at: journal.now() })
  journal.write(`run ${run.id} of ${run.node.id} has its effect (${slot})`)
}

async function end(host: Host, run: Run, signal: AbortSignal | undefined): Promise<void> {
  const { end: how, children } = run.script
  if (how === "ok") return
  if (how === "hangs") {
    await host.clock.sleep(FOREVER, signal)
    return
  }
  if (how === "refuses" || how === "refuses for good") {
    // Said only where it is true.
    const isTrue = run.effects === 0 && children.length === 0
    const flags = { mayHaveExecuted: false, retryable: how === "refuses" }
    throw new CallError("SOLD_OUT", "Refused.", isTrue ? flags : {})
  }
  throw how === "fails" ? new Error("As planned.") : new CallError(how, "As planned.")
}

/** Makes a call and repeats it where its error, or its key, says that this is safe. */
export function goodClient(journal: Journal, clock: NodeClock): Host["call"] {
  return async (node, parent, send) => {
    const { plan, kept, intent } = node
    const timeout = parent === undefined ? intent.patience : (plan.timeout ?? DEFAULT_TIMEOUT)
    for (let round = 0; ; round++) {
      const attempt: Attempt = {
        id: journal.attempts.length,
        node,
        parent,
        beganAt: journal.now(),
        deadline: journal.now() + timeout,
        settledAt: undefined,
        error: undefined,
        data: undefined,
        wasReplayed: false,
      }
      journal.attempts.push(attempt)
      journal.write(
        `call ${attempt.id} of ${node.operationId} (${node.id})${node.key === undefined ? "" : `, ${node.key}`}, by ${parent === undefined ? (intent.who ?? "anybody") : `run ${parent.id}`}`,
      )
      try {
        const { data, meta } = await send(attempt)
        attempt.settledAt = journal.now()
        attempt.data = data
        attempt.wasReplayed = (meta as { replayed?: boolean }).replayed === true
        journal.write(`call ${attempt.id} has its result`)
        return data
      } catch (error) {
        attempt.settledAt = journal.now()
        if (!isCallError(error)) {
          journal.faults.push(`call ${attempt.id} threw what is no CallError: ${String(error)}`)
          throw error
        }
        attempt.error = error
        const { code, retryable, mayHaveExecuted } = error
        const message = error.message.replace(/ \(request [^)]+\)/, "")
        journal.write(
          `call ${attempt.id} failed with ${code}${retryable ? ", retryable" : ""}${mayHaveExecuted ? "" : ", not executed"}: ${message}`,
        )
        const isSafe = retryable || (kept !== undefined && code !== "CONFLICT")
        if (!isSafe || round >= plan.repeats) throw error
        if (plan.pause > 0) await clock.sleep(plan.pause)
      }
    }
  }
}
