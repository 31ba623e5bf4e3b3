import { readCallerFrame, readWorkerFrame } from "../../../../src/transport/bus/wire/wire.ts"
import type { CallerMessage, WorkerMessage } from "../../../../src/transport/bus/wire/messages.ts"
import type { Journal } from "./journal.ts"

/** The requests whose callers left, by a message that does not arrive. */
export function missedAborts(text: string): readonly string[] {
  if (!text.includes('"call.aborted"') && !text.includes('"nogo"')) return []
  const messages = readCallerFrame(text)?.messages ?? []
  return messages.flatMap((message) => {
    if (message.type === "nogo") return [message.id]
    return message.type === "event" && message.event.type === "call.aborted"
      ? [message.event.requestId]
      : []
  })
}

/** Whether a frame has a request that runs without a grant: what a process refused, another one would run. */
export function runsAtOnce(text: string): boolean {
  const messages = readCallerFrame(text)?.messages ?? []
  return messages.some((message) => message.type === "request" && message.now === true)
}

/** A frame in a few words, with the plans instead of the ids of requests. */
export function describeFrame(text: string, journal: Journal): string {
  if (!text.startsWith("{")) return text
  const frames = [readCallerFrame(text), readWorkerFrame(text)]
  const messages = frames.reduce(
    (all, frame) =>
      frame !== undefined && frame.messages.length > all.length ? frame.messages : all,
    [] as readonly (CallerMessage | WorkerMessage)[],
  )
  const names = new Map<string, string>()
  for (const [key, { requestId }] of journal.outcomes) names.set(requestId, key)
  const name = (id: string): string => names.get(id) ?? "?"
  return messages.map((message) => describe(message, name)).join("; ")
}

function describe(message: CallerMessage | WorkerMessage, name: (id: string) => string): string {
  switch (message.type) {
    case "request": {
      const { attempt, now, event } = message
      return `request ${name(event.requestId)} #${attempt}${now === true ? " now" : ""} ${event.operationId}`
    }
    case "go":
      return `go ${name(message.id)} ${message.left}`
    case "nogo":
      return `nogo ${name(message.id)}`
    case "accepted":
      return `accepted ${name(message.id)} #${message.attempt}${message.runs === true ? " runs" : ""}`
    case "refused":
      return `refused ${name(message.id)} #${message.attempt} ${message.error.code}${message.elsewhere ? " elsewhere" : ""}`
    case "event": {
      const { event } = message
      const seq = "seq" in event && event.seq !== undefined ? ` ${event.seq}` : ""
      const code = event.type === "call.error" ? ` ${event.code}` : ""
      return `${event.type.slice(5)} ${name(event.requestId)}${seq}${code}`
    }
    case "ping": {
      const streams = Object.entries(message.streams).map(([id, seq]) => `${name(id)}:${seq}`)
      return ["ping", ...message.ids.map(name), ...streams].join(" ")
    }
    case "pong":
      return [
        "pong",
        ...message.unknown.map((id) => `unknown:${name(id)}`),
        ...message.lost.map((id) => `lost:${name(id)}`),
      ].join(" ")
    case "done":
      return `done ${message.ids.map(name).join(" ")}`
    default:
      return message.type
  }
}
