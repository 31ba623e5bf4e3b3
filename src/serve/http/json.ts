import { parseJson } from "../../http-client/json.ts"
import { HTTPRefusal } from "./context.ts"

/**
 * Parses untrusted JSON; `undefined` for empty text.
 *
 * `__proto__` is an ordinary key: it changes no prototype.
 */
export function parseBounded(text: string, maxDepth: number): unknown {
  if (text === "") return undefined
  // Each level needs two brackets, so a short text cannot be too deep.
  const isShort = text.length <= 2 * maxDepth
  const parsed = parseJson(text, { maxDepth: isShort ? Number.POSITIVE_INFINITY : maxDepth })
  switch (parsed.is) {
    case "value":
      return parsed.value
    case "too-deep":
      throw refused(`The JSON is nested more than ${parsed.limit} levels deep.`)
    case "broken":
      // White space alone counts as empty.
      if (text.trim() === "") return undefined
      throw refused(`The text is ${parsed.reason}.`)
  }
}

function refused(message: string): HTTPRefusal {
  return new HTTPRefusal(400, "VALIDATION_ERROR", message)
}
