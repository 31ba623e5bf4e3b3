import { isRecord } from "../../../internal/guards.ts"
import { getOwn } from "../../../schema/json.ts"
import type { OperationInput, ParameterModel, RequestPlan } from "../model.ts"
import type { AppliedAuth } from "./applied-auth.ts"
import { withValueName } from "./errors.ts"
import { formText } from "./form.ts"
import { jsonText } from "./json.ts"
import { contentKind } from "./media.ts"
import type { FilledPath } from "./path.ts"
import { serializeQuery } from "./serialize.ts"
import { textOrJson } from "./styles.ts"
import { encodeKeeping, encodeStrict, QUERY_RESERVED } from "./text.ts"

/**
 * Writes the query: the template's own, then parameters in order, then fixed values, then credentials.
 *
 * Inputs cannot override fixed values and credentials.
 */
export function writeQuery(
  plan: RequestPlan,
  input: OperationInput,
  filled: FilledPath,
  auth: AppliedAuth | undefined,
): string {
  const fixed = Object.entries(plan.fixed?.query ?? {}).map(joined)
  const credentials = (auth?.query ?? []).map(joined)
  const taken = new Set([...fixed, ...credentials].map(nameOf))
  const declared = plan.parameters.flatMap((parameter) => {
    const value = getOwn(input, parameter.key)
    if (parameter.in === "querystring") return wholeQuery(plan, parameter, value)
    if (parameter.in !== "query" || filled.used.has(parameter.name)) return []
    return withValueName(plan.id, `query parameter "${parameter.key}"`, () =>
      serializeQuery(parameter, value).map((pair) => pair.join("=")),
    )
  })
  // A query in a path key often repeats a declared parameter with a single value.
  const own = new Set(filled.query)
  const parts = [...filled.query, ...declared.filter((piece) => !own.has(piece))]
  return [...parts.filter((piece) => !taken.has(nameOf(piece))), ...fixed, ...credentials].join("&")
}

/** The pairs of a parameter that is the whole query. */
function wholeQuery(plan: RequestPlan, parameter: ParameterModel, value: unknown): string[] {
  if (value === undefined || value === null) return []
  const text = withValueName(plan.id, `query "${parameter.key}"`, () => {
    const type = parameter.content ?? "application/x-www-form-urlencoded"
    if (contentKind(type) === "json") return encodeStrict(jsonText(value))
    if (contentKind(type) === "form") {
      // Text is an already encoded query; only characters that would end it are encoded.
      if (typeof value === "string") return encodeKeeping(value.replace(/^\?/, ""), RAW_QUERY)
      if (isRecord(value)) return formText(new Map(), value)
    }
    return encodeStrict(textOrJson(value))
  })
  return text.split("&").filter((piece) => piece !== "")
}

const RAW_QUERY = `${QUERY_RESERVED}&+`

function joined([name, value]: readonly [string, string]): string {
  return `${encodeStrict(name)}=${encodeStrict(value)}`
}

function nameOf(piece: string): string {
  const [name = ""] = piece.split("=", 1)
  try {
    return decodeURIComponent(name.replaceAll("+", " "))
  } catch {
    return name
  }
}
