import { EMPTY, jsonAnswer } from "./answer.ts"
import { unwrapOrThrow } from "../../core/envelope.ts"
import type { ResponseEnvelope } from "../../core/envelope.ts"
import { encodeEnvelope, encodeValue } from "../../core/envelope-codec.ts"
import type { OperationSpec } from "../../core/types.ts"
import { fileFieldsOf } from "../../schema/file-fields.ts"
import type { HTTPAnswer } from "../exchange.ts"
import type { HTTPContext } from "./http-context.ts"
import { fileAnswer } from "./files/download.ts"

/** An envelope as JSON. */
export function envelopeText(envelope: ResponseEnvelope): string {
  const meta = localMetaText(envelope)
  if (meta === undefined) return JSON.stringify(encodeEnvelope(envelope))
  const { value, binary } = encodeValue(envelope.data)
  const data = JSON.stringify(value) as string | undefined
  // A value without JSON, such as `undefined`, is left out.
  if (data === undefined) return `{"meta":${meta}}`
  if (binary === undefined) return `{"data":${data},"meta":${meta}}`
  return `{"data":${data},"meta":${meta},"binary":${JSON.stringify(binary)}}`
}

/** Metadata of a local result, written by hand: `JSON.stringify` takes longer for it than for most data. */
function localMetaText({ meta }: ResponseEnvelope): string | undefined {
  if (meta.source !== "local") return undefined
  const { operationId, timestamp } = meta
  for (const key in meta) {
    if (key !== "source" && key !== "operationId" && key !== "timestamp") return undefined
  }
  if (operationId === lastId && timestamp === lastTime) return lastText
  if (typeof operationId !== "string" || !Number.isFinite(timestamp)) return undefined
  const id = JSON.stringify(operationId)
  lastId = operationId
  lastTime = timestamp
  lastText = `{"source":"local","operationId":${id},"timestamp":${timestamp}}`
  return lastText
}

// Cached: stream items come from one operation, many of them within a millisecond.
let lastId: string | undefined
let lastTime: number | undefined
let lastText = ""

/** The data of an envelope as JSON; `undefined` when there is none. Throws when a tool reports a failure. */
function dataText(envelope: ResponseEnvelope): string | undefined {
  const data = unwrapOrThrow(envelope)
  if (data === undefined) return undefined
  return JSON.stringify(encodeValue(data).value)
}

/** The JSON of a stream item without its envelope. */
export function itemText(envelope: ResponseEnvelope): string {
  return dataText(envelope) ?? "null"
}

/** An answer with data without its envelope: a file, JSON, or a 204 when there is none. */
export function dataAnswer(
  context: HTTPContext,
  envelope: ResponseEnvelope,
  { outputSchema }: OperationSpec,
  headers?: Readonly<Record<string, string>>,
): HTTPAnswer {
  if (typeof envelope.data === "object") {
    const mediaType = fileFieldsOf(outputSchema)?.whole?.mediaType
    const file = fileAnswer(context, envelope, mediaType, headers)
    if (file !== undefined) return file
  }
  const text = dataText(envelope)
  return text === undefined ? EMPTY : jsonAnswer(text, headers)
}
