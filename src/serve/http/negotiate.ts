import { HTTPRefusal } from "./context.ts"

const EVENTS = "text/event-stream"
const LINES = "application/x-ndjson"
const JSON_TYPES: readonly string[] = ["application/json", "application/*"]

/** Whether a client accepts server-sent events: by name, by a range, or without an `Accept` header. */
function acceptsEvents(accept: string | undefined): boolean {
  // The usual case, without parsing.
  if (accept === undefined || accept === "*/*") return true
  if (accept === "application/json") return false
  for (const range of [EVENTS, "text/*", "*/*"]) {
    const quality = qualityOf(accept, [range])
    if (quality !== undefined) return quality > 0
  }
  return accept.trim() === ""
}

/** Throws when the client of a subscription does not accept server-sent events. */
export function checkAcceptsEvents(accept: string | undefined, id: string): void {
  if (acceptsEvents(accept)) return
  throw new HTTPRefusal(
    406,
    "INVALID_OPERATION_TYPE",
    `"${id}" is a subscription. Send "Accept: text/event-stream" to read it as server-sent events.`,
    { operationId: id, details: { operationId: id, type: "subscription" } },
  )
}

/** Whether a client prefers server-sent events to JSON. */
export function prefersEvents(accept: string | undefined): boolean {
  const events = qualityOf(accept, [EVENTS]) ?? 0
  return events > 0 && events >= (qualityOf(accept, JSON_TYPES) ?? 0)
}

/** Whether a client asks for a web page, and not rather for JSON: browsers do when a person opens an address. */
export function prefersPage(accept: string | undefined): boolean {
  const page = qualityOf(accept, ["text/html"]) ?? 0
  return page > 0 && page >= (qualityOf(accept, JSON_TYPES) ?? 0)
}

/** Whether a client accepts nothing but server-sent events. */
export function wantsOnlyEvents(accept: string | undefined): boolean {
  if (accept === undefined || (qualityOf(accept, [EVENTS]) ?? 0) === 0) return false
  return (qualityOf(accept, [...JSON_TYPES, "*/*"]) ?? 0) === 0
}

/** Whether a client prefers one JSON value per line to JSON. */
export function prefersLines(accept: string | undefined): boolean {
  const lines = qualityOf(accept, [LINES]) ?? 0
  return lines > 0 && lines >= (qualityOf(accept, JSON_TYPES) ?? 0)
}

/**
 * How a client asks for a result: `data` without an envelope, or in an envelope unless it is a `file`.
 *
 * `Prefer: return=data`, `Prefer: return=file`.
 */
export function preferredReturn(prefer: string | undefined): "data" | "file" | undefined {
  if (prefer === undefined) return undefined
  for (const one of prefer.split(",")) {
    const text = (one.split(";", 1)[0] ?? "").replaceAll(/[\s"]/g, "").toLowerCase()
    if (text === "return=data") return "data"
    if (text === "return=file") return "file"
  }
  return undefined
}

/** The highest weight of these media ranges; `undefined` when none of them is listed. */
function qualityOf(accept: string | undefined, types: readonly string[]): number | undefined {
  let best: number | undefined
  for (const range of (accept ?? "").split(",")) {
    const [essence = "", ...parameters] = range.split(";")
    if (!types.includes(essence.trim().toLowerCase())) continue
    const weight = parameters
      .map((one) => one.trim().toLowerCase())
      .find((one) => one.startsWith("q="))
    const quality = weight === undefined ? 1 : Number(weight.slice(2))
    if (best === undefined || quality > best) best = quality
  }
  return best
}
