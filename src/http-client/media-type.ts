/** A parsed `Content-Type` value. */
export interface MediaType {
  /** Lower-case. */
  readonly type: string
  /** Lower-case. */
  readonly subtype: string
  /** `type/subtype`. */
  readonly essence: string
  /** Lower-case names; the first of several wins. */
  readonly parameters: ReadonlyMap<string, string>
}

/** How the items of a stream are delimited. */
export type StreamKind = "sse" | "ndjson" | "json-seq" | "json-values"

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/
// A quoted value may contain `;`, so splitting there would be wrong.
const PARAMETER = /;[\t ]*([^=;"\s]+)[\t ]*=[\t ]*("(?:[^"\\]|\\.)*"|[^;"]*)/g
const LINES = /^(?:application|text)\/(?:x-)?(?:ndjson|jsonl|jsonlines|json-lines|json-stream)$/
const TEXT =
  /^text\/|[/+](?:xml|yaml)$|^application\/(?:(?:x-)?(?:javascript|ecmascript|yaml|toml|sh|www-form-urlencoded)|graphql|sql|xml-dtd|xml-external-parsed-entity|typescript)$/

/**
 * Parses a `Content-Type` value; `undefined` when it is not one.
 *
 * Looking for a substring instead would take `text/plain; a=application/json` for JSON.
 */
export function parseMediaType(value: string | null | undefined): MediaType | undefined {
  const text = value ?? ""
  const essence = essenceOf(text)
  const [type = "", subtype = "", ...rest] = essence.split("/")
  if (!TOKEN.test(type) || !TOKEN.test(subtype) || rest.length > 0) return undefined
  return { type, subtype, essence, parameters: parametersOf(text) }
}

/** Whether a content type is one JSON value, such as `application/json` or `application/hal+json`. */
export function isJson(contentType: string): boolean {
  const essence = essenceOf(contentType)
  // Despite its name it is one value per line.
  if (essence === "application/stream+json") return false
  return /^(?:application|text)\/(?:x-)?json$|^[^/]+\/[^/]+\+json$/.test(essence)
}

/** Whether a content type is read as text: neither JSON nor binary. */
export function isText(contentType: string): boolean {
  return TEXT.test(essenceOf(contentType)) || streamKindOf(contentType) !== undefined
}

/** How a stream of this content type is read; `undefined` when it is not a stream of items. */
export function streamKindOf(contentType: string): StreamKind | undefined {
  if (contentType === "application/json") return undefined
  const essence = essenceOf(contentType)
  if (essence === "text/event-stream") return "sse"
  // All other stream types have "json" in their name.
  if (!essence.includes("json")) return undefined
  // The usual type with parameters: patterns take long when they are used for the first time.
  if (essence !== "application/json") {
    if (/^application\/(?:x-)?json-seq$|\+json-seq$/.test(essence)) return "json-seq"
    if (LINES.test(essence) || /\+(?:ndjson|jsonl)$/.test(essence)) return "ndjson"
    if (essence === "application/stream+json") return "ndjson"
    if (!isJson(essence)) return undefined
  }
  // Kubernetes: the type of a single object, with a parameter for a stream of them.
  return parametersOf(contentType).get("stream") === "watch" ? "ndjson" : undefined
}

/** A content type without its parameters, lower-case. */
export function essenceOf(value: string): string {
  const end = value.indexOf(";")
  return (end === -1 ? value : value.slice(0, end)).trim().toLowerCase()
}

function parametersOf(value: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>()
  for (const [, name = "", raw = ""] of value.matchAll(PARAMETER)) {
    const key = name.toLowerCase()
    const quoted = raw.startsWith('"')
    const text = quoted ? raw.slice(1, -1).replaceAll(/\\(.)/g, "$1") : raw.trim()
    if (!parameters.has(key)) parameters.set(key, text)
  }
  return parameters
}
