import { unwrapOrThrow } from "../../response-envelope.ts"
import type { ResponseEnvelope } from "../../response-envelope.ts"
import { encodeEnvelope, encodeValue } from "../../wire.ts"
import type { HTTPAnswer } from "./model.ts"
import type { HTTPContext } from "./spine.ts"

/** An envelope as JSON. */
export function envelopeText(envelope: ResponseEnvelope): string {
  const meta = localMetaText(envelope)
  if (meta === undefined) return JSON.stringify(encodeEnvelope(envelope))
  const { value, binary } = encodeValue(envelope.data)
  const data = JSON.stringify(value) as string | undefined
  // A value that has no JSON, such as nothing at all, is left out.
  if (data === undefined) return `{"meta":${meta}}`
  if (binary === undefined) return `{"data":${data},"meta":${meta}}`
  return `{"data":${data},"meta":${meta},"binary":${JSON.stringify(binary)}}`
}

/** What is known of a local result, written out: the platform takes longer over it than over most data. */
function localMetaText({ meta }: ResponseEnvelope): string | undefined {
  if (meta.source !== "local" || Object.keys(meta).length !== 3) return undefined
  const { operationId, timestamp } = meta
  if (typeof operationId !== "string" || !Number.isFinite(timestamp)) return undefined
  if (operationId !== lastId) {
    lastId = operationId
    lastStart = `{"source":"local","operationId":${JSON.stringify(operationId)},"timestamp":`
  }
  return `${lastStart}${timestamp}}`
}

// Items of a stream, and often calls, come from the same operation as the one before.
let lastId: string | undefined
let lastStart = ""

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
