import { unwrapOrThrow } from "../../response-envelope.ts"
import type { ResponseEnvelope } from "../../response-envelope.ts"
import { encodeEnvelope, encodeValue } from "../../wire.ts"
import type { HTTPAnswer } from "./model.ts"
import type { HTTPContext } from "./spine.ts"

/** An envelope as JSON. */
export function envelopeText(envelope: ResponseEnvelope): string {
  return JSON.stringify(encodeEnvelope(envelope))
}

/** The data of an envelope as JSON; `undefined` when there is none. Throws when a tool reports a failure. */
function dataText(envelope: ResponseEnvelope): string | undefined {
  const data = unwrapOrThrow(envelope)
  if (data === undefined) return undefined
  return JSON.stringify(encodeValue(data).value)
}

/** One item of a stream as bare data. */
export function itemText(envelope: ResponseEnvelope): string {
  return dataText(envelope) ?? "null"
}

/** An answer with bare data; 204 when there is none. */
export function dataAnswer(
  context: HTTPContext,
  envelope: ResponseEnvelope,
  headers?: Readonly<Record<string, string>>,
): HTTPAnswer {
  const text = dataText(envelope)
  return text === undefined ? context.empty() : context.json(text, headers)
}
