const EVENTS = "text/event-stream"
const JSON_TYPES: readonly string[] = ["application/json", "application/*"]

/** Whether a client says that it takes server-sent events. */
export function acceptsEvents(accept: string | undefined): boolean {
  // What most clients say, and needs no reading.
  if (accept === undefined || accept === "*/*" || accept === "application/json") return false
  return qualityOf(accept, [EVENTS]) > 0
}

/** Whether a client would rather have server-sent events than JSON. */
export function prefersEvents(accept: string | undefined): boolean {
  const events = qualityOf(accept, [EVENTS])
  return events > 0 && events >= qualityOf(accept, JSON_TYPES)
}

/** Whether a client takes nothing but server-sent events. */
export function wantsOnlyEvents(accept: string | undefined): boolean {
  return acceptsEvents(accept) && qualityOf(accept, [...JSON_TYPES, "*/*"]) === 0
}

/** Whether a client asks for the bare data: `Prefer: return=data`. */
export function prefersData(prefer: string | undefined): boolean {
  if (prefer === undefined) return false
  return prefer
    .split(",")
    .some(
      (one) =>
        (one.split(";", 1)[0] ?? "").replaceAll(/[\s"]/g, "").toLowerCase() === "return=data",
    )
}

/** How much one of these media types is wanted; those that are not named are not. */
function qualityOf(accept: string | undefined, types: readonly string[]): number {
  let best = 0
  for (const range of (accept ?? "").split(",")) {
    const [essence = "", ...parameters] = range.split(";")
    if (!types.includes(essence.trim().toLowerCase())) continue
    const weight = parameters
      .map((one) => one.trim().toLowerCase())
      .find((one) => one.startsWith("q="))
    const quality = weight === undefined ? 1 : Number(weight.slice(2))
    if (quality > best) best = quality
  }
  return best
}
