import { isPlainRecord } from "../../schema/json.ts"
import type { OpenAPIDocument, Place } from "../document.ts"
import type { RequestPlan } from "../model.ts"
import { type Body, propertiesOf } from "./body.ts"
import type { RawOperation } from "./list.ts"
import { child, isStream, mediaClass } from "./media.ts"
import type { Media } from "./media.ts"
import type { Parameters } from "./parameters.ts"
import type { Response } from "./responses.ts"

/** How the items of a stream are given. */
export interface StreamPlan {
  readonly media: Media
  /** The whole event where its schema describes one, else its data; text where nothing is said. */
  readonly yields: "event" | "data" | "text"
}

/** The stream among the answers of an operation. */
export function streamPlan(
  document: OpenAPIDocument,
  { file, pointer }: RawOperation,
  success: readonly Response[],
): StreamPlan {
  const declared = success.flatMap(({ media }) => media).find((one) => isStream(one.class))
  const media: Media = declared ?? {
    // A success without a schema: Swagger 2.0 says in `produces` that it streams.
    type: "application/x-ndjson",
    class: "ndjson",
    place: { value: {}, file, pointer },
  }
  const item = itemWithin(document, media)
  if (item !== undefined) return { media: { ...media, itemSchema: item }, yields: "data" }
  return { media, yields: yieldsOf(document, media) }
}

/** 3.2: where the data of an event is JSON, and the document says what of, that is what is given. */
function itemWithin(document: OpenAPIDocument, media: Media): Place | undefined {
  if (media.class !== "sse" || media.itemSchema === undefined) return undefined
  const data = propertiesOf(document, media.itemSchema).get("data")
  if (data === undefined || !isPlainRecord(data.value)) return undefined
  const type = data.value["contentMediaType"]
  return typeof type === "string" && mediaClass(type) === "json"
    ? child(data, "contentSchema")
    : undefined
}

/** What tells a server that also answers at once to stream. */
export function fixedInputs(
  document: OpenAPIDocument,
  stream: StreamPlan | null,
  { list }: Parameters,
  body: Body | undefined,
): RequestPlan["fixed"] {
  const watch = list.some(({ in: location, name }) => location === "query" && name === "watch")
  const members: Record<string, unknown> = {}
  for (const { schema } of body?.media ?? []) {
    const properties = propertiesOf(document, schema)
    if (properties.has("stream")) members["stream"] = true
    const format = properties.get("stream_format")?.value
    const values = isPlainRecord(format) ? format["enum"] : undefined
    if (Array.isArray(values) && values.includes("sse")) members["stream_format"] = "sse"
  }
  return {
    ...(stream?.media.class === "ndjson" && watch && { query: { watch: "true" } }),
    ...(Object.keys(members).length > 0 && { body: members }),
  }
}

/** 3.2: a schema of items with `data` describes the event around the data. */
function yieldsOf(document: OpenAPIDocument, media: Media): StreamPlan["yields"] {
  if (media.class !== "sse") return "data"
  if (media.itemSchema !== undefined) {
    return propertiesOf(document, media.itemSchema).has("data") ? "event" : "data"
  }
  return media.schema === undefined ? "text" : "data"
}
