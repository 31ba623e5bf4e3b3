import { readEnvelope } from "./call.ts"
import { readEvents } from "./event-stream.ts"
import type { StreamEvent } from "./event-stream.ts"
import { ProblemError } from "./model.ts"
import type { CallTrace, HubEvent, SourceStatus, WatchItem } from "./model.ts"
import { isProblem, notAnAnswer, ownProblem, unreachable } from "./problems.ts"
import type { Requests } from "./requests.ts"
import { steadyNow } from "../ui/steady-now.ts"

/** Reads a subscription to its end. One that is aborted here has ended, and not failed. */
export async function watchOperation(
  requests: Requests,
  id: string,
  input: unknown,
  options: { readonly signal: AbortSignal; onItem(item: WatchItem): void },
): Promise<void> {
  const { signal } = options
  await unlessAborted(signal, async () => {
    const response = await requests.ask(`operations/${encodeURIComponent(id)}`, {
      method: "POST",
      body: input === undefined ? null : JSON.stringify(input),
      headers: { accept: "text/event-stream", "content-type": "application/json" },
      signal,
    })
    for await (const event of readEvents(response)) {
      if (signal.aborted || event.name === "end") return
      if (event.name === "error") throw failureOf(event, response.status)
      options.onItem({ id: event.id, envelope: readEnvelope(event.data), at: steadyNow() })
    }
    if (!signal.aborted) throw cutOff(`The stream of "${id}"`)
  })
}

/** Reads what happens in the hub, until it is aborted; rejects when the hub goes away. */
export async function readHubEvents(
  requests: Requests,
  options: { readonly signal: AbortSignal; onEvent(event: HubEvent): void },
): Promise<void> {
  const { signal } = options
  await unlessAborted(signal, async () => {
    const response = await requests.ask("hub/events", {
      headers: { accept: "text/event-stream" },
      signal,
    })
    for await (const event of readEvents(response)) {
      if (signal.aborted || event.name === "end") return
      if (event.name === "error") throw failureOf(event, response.status)
      const told = hubEventOf(event)
      if (told !== undefined) options.onEvent(told)
    }
    if (!signal.aborted) throw cutOff("The stream of what happens in the hub")
  })
}

/** An event with its kind inside, or as its name; what is not known is passed over. */
function hubEventOf({ name, data }: StreamEvent): HubEvent | undefined {
  const value: unknown = JSON.parse(data)
  if (typeof value !== "object" || value === null) return undefined
  const { kind } = value as { readonly kind?: unknown }
  if ("trace" in value && kind === "call") return value as HubEvent
  if ("status" in value && kind === "source") return value as HubEvent
  if (name === "call") return { kind: "call", trace: value as CallTrace }
  if (name === "source") return { kind: "source", status: value as SourceStatus }
  if (name === "lost" && "events" in value) return { kind: "lost", events: Number(value.events) }
  return undefined
}

async function unlessAborted(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  if (signal.aborted) return
  try {
    await work()
  } catch (error) {
    if (signal.aborted) return
    if (error instanceof ProblemError) throw error
    if (error instanceof SyntaxError) throw notAnAnswer("An event of the stream")
    throw new ProblemError(unreachable(true), 0)
  }
}

function failureOf({ data }: StreamEvent, status: number): ProblemError {
  const value: unknown = JSON.parse(data)
  if (!isProblem(value)) return notAnAnswer("An error of the stream")
  return new ProblemError(value, value.status ?? status)
}

function cutOff(what: string): ProblemError {
  const detail = `${what} broke off before its end: the hub stopped, or the connection was lost.`
  const more = { retryable: true, mayHaveExecuted: true }
  return new ProblemError(ownProblem("UNAVAILABLE", "The stream broke off", detail, more), 0)
}
