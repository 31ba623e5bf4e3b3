import { isObject } from "../../../src/internal/guards.ts"
import { printJson } from "../ui/json-text.ts"
import { readEnvelope } from "./call.ts"
import { readEvents } from "./event-stream.ts"
import type { StreamEvent } from "./event-stream.ts"
import { ProblemError } from "./model.ts"
import type { CallTrace, HubEvent, HubEventsOptions } from "./model.ts"
import type { SourceLogLine, SourceStatus, WatchOptions } from "./model.ts"
import { isProblem, unexpectedAnswer, localProblem, unreachable } from "./problems.ts"
import type { Requests } from "./requests.ts"
import { steadyNow } from "../ui/steady-now.ts"

/** Reads a subscription to its end. Aborting it here counts as an end, not as a failure. */
export async function watchOperation(
  requests: Requests,
  id: string,
  input: unknown,
  { signal, onItem }: WatchOptions,
): Promise<void> {
  const request = async (): Promise<Response> =>
    await requests.ask(`operations/${encodeURIComponent(id)}`, {
      method: "POST",
      body: printJson(input) ?? null,
      headers: { accept: "text/event-stream", "content-type": "application/json" },
      signal,
    })
  await readStream(`The stream of "${id}"`, request, signal, ({ id: eventId, data }) => {
    onItem({ id: eventId, envelope: readEnvelope(data), at: steadyNow() })
  })
}

/** Reads the events of the hub, until it is aborted; rejects if the hub goes away. */
export async function readHubEvents(
  requests: Requests,
  { signal, onOpen, onEvent }: HubEventsOptions,
): Promise<void> {
  const request = async (): Promise<Response> => {
    const headers = { accept: "text/event-stream" }
    const response = await requests.ask("hub/events", { headers, signal })
    onOpen?.()
    return response
  }
  await readStream("The event stream of the hub", request, signal, (event) => {
    const hubEvent = hubEventOf(event)
    if (hubEvent !== undefined) onEvent(hubEvent)
  })
}

/** Reads the events of a response, up to the one that ends it. */
async function readStream(
  what: string,
  request: () => Promise<Response>,
  signal: AbortSignal,
  onEvent: (event: StreamEvent) => void,
): Promise<void> {
  if (signal.aborted) return
  try {
    const response = await request()
    for await (const event of readEvents(response)) {
      if (signal.aborted || event.name === "end") return
      if (event.name === "error") throw failureOf(event, response.status)
      onEvent(event)
    }
    if (!signal.aborted) throw streamBrokeOff(what)
  } catch (error) {
    if (signal.aborted) return
    if (error instanceof ProblemError) throw error
    if (error instanceof SyntaxError) throw unexpectedAnswer("An event of the stream")
    throw new ProblemError(unreachable(true), 0)
  }
}

/** Parses an event with its kind inside or as its name; `undefined` for unknown ones. */
function hubEventOf({ name, data }: StreamEvent): HubEvent | undefined {
  const value: unknown = JSON.parse(data)
  if (!isObject(value)) return undefined
  const { kind } = value as { readonly kind?: unknown }
  if ("trace" in value && kind === "call") return value as HubEvent
  if ("status" in value && kind === "source") return value as HubEvent
  if (name === "call") return { kind: "call", trace: value as CallTrace }
  if (name === "source") return { kind: "source", status: value as SourceStatus }
  if (name === "log") return { kind: "log", line: value as SourceLogLine }
  if (name === "lost" && "events" in value) return { kind: "lost", events: Number(value.events) }
  return undefined
}

function failureOf({ data }: StreamEvent, status: number): ProblemError {
  const value: unknown = JSON.parse(data)
  if (!isProblem(value)) return unexpectedAnswer("An error of the stream")
  return new ProblemError(value, value.status ?? status)
}

function streamBrokeOff(what: string): ProblemError {
  const detail = `${what} broke off before its end: the hub stopped, or the connection was lost.`
  const more = { retryable: true, mayHaveExecuted: true }
  return new ProblemError(localProblem("UNAVAILABLE", "The stream broke off", detail, more), 0)
}
