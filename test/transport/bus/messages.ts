import { encodeCallEvent } from "../../../src/core/event-codec.ts"
import { frameOf, wholeText } from "../../../src/transport/bus/wire/frames.ts"
import * as wire from "../../../src/transport/bus/wire/messages.ts"
import type { CallerMessage, WorkerMessage } from "../../../src/transport/bus/wire/messages.ts"

/** Any message on its own, also one that callers and workers send as an item of a list. */
export function messageText(message: CallerMessage | WorkerMessage): string {
  switch (message.type) {
    case "accepted":
      return wholeText(wire.acceptedText(wire.quoted(message.id), message))
    case "go":
      return wholeText(wire.goText(wire.quoted(message.id), message.key, message.left))
    case "done":
      return wire.doneText(message.ids.map(wire.quoted))
    case "invalid":
      throw new TypeError("An invalid request is only read.")
    case "request": {
      const { event, attempt, now: isNow = false, ticket } = message
      return wire.requestText(encodeCallEvent(event), { attempt, isNow, ticket })
    }
    default:
      return wire.messageText(message)
  }
}

/** A frame of encoded messages. */
export function frameText(from: string, messages: readonly string[]): string {
  return frameOf(from, messages.join(","))
}
