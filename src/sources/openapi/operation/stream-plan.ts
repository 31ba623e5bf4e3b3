import { isRecord } from "../../../internal/guards.ts"
import { child, itemsAt, objectAt, type Place } from "../document.ts"
import type { RequestPlan } from "../model.ts"
import { contentTypes, propertiesOf, type Body } from "./body.ts"
import type { RawOperation } from "./list.ts"
import { isGatewayStream, isStream, isStreamType, mediaClass, type Media } from "./media.ts"
import type { Parameters } from "./parameters.ts"
import type { Response } from "./responses.ts"

/** How the items of a stream are yielded. */
export interface StreamPlan {
  readonly media: Media
  /** The whole event if its schema describes one, the `result` of a gRPC gateway, else its data. */
  readonly yields: "event" | "data" | "result"
  /** The schema of the data is a string: it is yielded as text without parsing. */
  readonly isText: boolean
}

/** Finds the stream among the responses of an operation. */
export function streamPlan(
  { file, pointer, raw }: RawOperation,
  success: readonly Response[],
): StreamPlan {
  const all = success.flatMap(({ media }) => media)
  const gateway = all.find(({ schema }) => isGatewayStream(schema?.value))
  if (gateway !== undefined) {
    const itemSchema = propertiesOf(gateway.schema).get("result")
    const media: Media = { ...gateway, class: "json-values", schema: undefined, itemSchema }
    return { media, yields: "result", isText: false }
  }
  const declared = all.find((one) => isStream(one.class))
  const media: Media = declared ?? {
    // A success without a schema: in Swagger 2.0 only `produces` declares the stream.
    type: "application/x-ndjson",
    class: "ndjson",
    place: { value: {}, file, pointer },
  }
  const item = itemWithin(media)
  if (item !== undefined) {
    return { media: { ...media, itemSchema: item }, yields: "data", isText: false }
  }
  if (media.class !== "sse") return { media, yields: "data", isText: false }
  // 3.2: a schema of items with `data` describes the event around the data.
  const data = media.itemSchema && propertiesOf(media.itemSchema).get("data")
  const schema = data ?? media.itemSchema ?? media.schema
  return {
    media,
    yields: data === undefined ? "data" : "event",
    // A server of this library writes every item as JSON, strings too.
    isText: typeof raw["x-operation-id"] !== "string" && isString(schema, 0),
  }
}

/**
 * Whether a stream contains the changes of a list, as in Kubernetes, which declares the schema of the list.
 */
export function isWatch({ class: kind, type }: Pick<Media, "class" | "type">): boolean {
  return kind === "ndjson" && /json\s*;\s*stream=watch/i.test(type)
}

/** Whether a Swagger 2.0 operation is a watch stream, judged by `produces` alone. */
export function isPlainWatch(operation: RawOperation): boolean {
  if (operation.document.version !== "2.0") return false
  const type = contentTypes(operation.inherited("produces")).find(isStreamType)
  return type !== undefined && isWatch({ class: mediaClass(type), type })
}

/** Whether a schema allows only strings and null. */
function isString(schema: Place | undefined, depth: number): boolean {
  const place = depth > 8 ? undefined : objectAt(schema)
  if (place === undefined) return false
  const { type, enum: values, const: only } = place.value
  if (type !== undefined) {
    const types: unknown[] = Array.isArray(type) ? type : [type]
    return types.includes("string") && types.every((one) => one === "string" || one === "null")
  }
  if (Array.isArray(values)) return values.every((value) => typeof value === "string")
  if (typeof only === "string") return true
  const members = (keyword: string): boolean[] =>
    itemsAt(place, keyword).map((member) => isString(member, depth + 1))
  const choices = [members("anyOf"), members("oneOf")].filter(({ length }) => length > 0)
  return choices.some((choice) => choice.every(Boolean)) || members("allOf").some(Boolean)
}

/** The schema of JSON in the data of an event, in 3.2. */
function itemWithin(media: Media): Place | undefined {
  if (media.class !== "sse" || media.itemSchema === undefined) return undefined
  const data = propertiesOf(media.itemSchema).get("data")
  if (data === undefined || !isRecord(data.value)) return undefined
  const type = data.value["contentMediaType"]
  return typeof type === "string" && mediaClass(type) === "json"
    ? child(data, "contentSchema")
    : undefined
}

/** The inputs that make a server stream instead of returning a plain response. */
export function fixedInputs(
  stream: StreamPlan | null,
  { list }: Parameters,
  body: Body | undefined,
): RequestPlan["fixed"] {
  const watch = list.some(({ in: location, name }) => location === "query" && name === "watch")
  const members: Record<string, unknown> = {}
  for (const { schema } of body?.media ?? []) {
    const properties = propertiesOf(schema)
    if (properties.has("stream")) members["stream"] = true
    const format = properties.get("stream_format")?.value
    const values = isRecord(format) ? format["enum"] : undefined
    if (Array.isArray(values) && values.includes("sse")) members["stream_format"] = "sse"
  }
  return {
    ...(stream?.media.class === "ndjson" && watch && { query: { watch: "true" } }),
    ...(Object.keys(members).length > 0 && { body: members }),
  }
}
