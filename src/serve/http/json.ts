import { parseJson } from "../../http-client/json.ts"
import { HTTPRefusal } from "./context.ts"

/**
 * The value of a text from outside; `undefined` for none at all.
 *
 * A key named `__proto__` is a key like others: it changes no prototype.
 */
export function parseBounded(text: string, maxDepth: number): unknown {
  if (text === "") return undefined
  // Every level takes two brackets: so short a text cannot be too deep, and need not be counted.
  const isShort = text.length <= 2 * maxDepth
  const parsed = parseJson(text, { maxDepth: isShort ? Number.POSITIVE_INFINITY : maxDepth })
  switch (parsed.is) {
    case "value":
      return parsed.value
    case "too-deep":
      throw refused(`The JSON is nested more than ${parsed.limit} levels deep.`)
    case "broken":
      // Only blanks are as good as nothing.
      if (text.trim() === "") return undefined
      throw refused(`The text is ${parsed.reason}.`)
  }
}

function refused(message: string): HTTPRefusal {
  return new HTTPRefusal(400, "VALIDATION_ERROR", message)
}
