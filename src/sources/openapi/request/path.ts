import { isRecord } from "../../../internal/guards.ts"
import { getOwn } from "../../../schema/json.ts"
import type { AppliedAuth, OperationInput, ParameterModel, RequestPlan } from "../model.ts"
import {
  PATH_RESERVED,
  QUERY_RESERVED,
  encodeKeeping,
  encodeStrict,
  invalidInputError,
  unusableError,
  withValueName,
} from "./text.ts"
import { formText, serializePath, serializeQuery } from "./serialize.ts"
import { jsonText } from "./json.ts"
import { contentKind } from "./media.ts"
import { textOrJson } from "./styles.ts"
import { parseUrl } from "../../../http-client/egress.ts"
import { trimEnd } from "../../../internal/trim-end.ts"

/** A path template filled with values. */
export interface FilledPath {
  /** Encoded, with a slash at its start. */
  readonly path: string
  /** Encoded `name=value` pairs of a query in the template. */
  readonly query: readonly string[]
  /** Names of parameters that are used in the template's query. */
  readonly used: ReadonlySet<string>
}

type Token = { readonly literal: string } | { readonly variable: string }

/**
 * Fills the path template of an operation.
 *
 * The result has the segments of the template and no dot segments, so that no value and no document can reach
 * another resource.
 */
export function fillPath(plan: RequestPlan, input: OperationInput): FilledPath {
  const [path = "", query] = splitQuery(plan.path)
  const used = new Set<string>()
  const filled = tokensOf(path)
    .map((token) =>
      "literal" in token
        ? literalText(plan, token.literal, PATH_RESERVED)
        : pathValue(plan, token.variable, input),
    )
    .join("")
  const written = filled.startsWith("/") ? filled : `/${filled}`
  refuseDotSegments(plan, written)
  const pieces = query === undefined ? [] : query.split("&").filter((piece) => piece !== "")
  return {
    path: written,
    query: pieces.flatMap((piece) => queryPiece(plan, piece, input, used)),
    used,
  }
}

/**
 * Joins a base URL, an encoded path and an encoded query.
 *
 * Throws when the platform's URL parser would interpret the result differently.
 */
export function joinUrl(id: string, base: string, path: string, query: string): string {
  const root = parseBase(id, base)
  const prefix = trimEnd(root.pathname, "/")
  const url = parseUrl(`${root.origin}${prefix}${path}${query === "" ? "" : `?${query}`}`)
  const isAsWritten = url?.origin === root.origin && url.pathname === prefix + path
  if (url === undefined || !isAsWritten || !path.startsWith("/")) {
    throw unusableError(id, `its path does not stay below ${root.origin}${prefix}/`)
  }
  return url.href
}

function parseBase(id: string, base: string): URL {
  const url = parseUrl(base)
  if (url !== undefined && /^https?:$/.test(url.protocol)) return url
  throw unusableError(id, "its server is not an absolute http: or https: URL; check `baseUrl`")
}

function pathValue(plan: RequestPlan, name: string, input: OperationInput): string {
  const parameter = plan.parameters.find((each) => each.in === "path" && each.name === name)
  if (parameter === undefined) {
    throw unusableError(plan.id, `no path parameter is declared for "{${name}}" in "${plan.path}"`)
  }
  const what = `path parameter "${parameter.key}"`
  const value = getOwn(input, parameter.key)
  const text = withValueName(plan.id, what, () => serializePath(parameter, value))
  if (text === undefined) throw invalidInputError(plan.id, `${what} is missing`)
  if (text === "")
    throw invalidInputError(plan.id, `${what} is empty, and a path needs a value there`)
  return text
}

/** One `name=value` of the template's query; `undefined` if a variable in it has no value. */
function queryPiece(
  plan: RequestPlan,
  piece: string,
  input: OperationInput,
  used: Set<string>,
): string[] {
  const texts: string[] = []
  for (const token of tokensOf(piece)) {
    if ("literal" in token) {
      texts.push(literalText(plan, token.literal, `${QUERY_RESERVED}+`))
      continue
    }
    const parameter = templateParameter(plan, token.variable)
    if (parameter === undefined) {
      throw unusableError(plan.id, `no parameter is declared for "{${token.variable}}" in its path`)
    }
    if (parameter.in === "query") used.add(parameter.name)
    const what = `parameter "${parameter.key}"`
    // It is part of the query, even if declared as a path parameter: dots and slashes are plain text.
    const simple: ParameterModel = { ...parameter, style: "simple", allowReserved: false }
    const value = getOwn(input, parameter.key)
    const text = withValueName(plan.id, what, () => serializePath(simple, value))
    if (text === undefined) {
      if (parameter.required) throw invalidInputError(plan.id, `${what} is missing`)
      return []
    }
    texts.push(text)
  }
  return [texts.join("")]
}

function templateParameter(plan: RequestPlan, name: string): ParameterModel | undefined {
  const named = plan.parameters.filter((parameter) => parameter.name === name)
  return named.find(({ in: place }) => place === "path") ?? named.find(({ in: p }) => p === "query")
}

/** Splits at the first `?` outside of a variable; drops the fragment. */
export function splitQuery(template: string): string[] {
  const masked = template.replace(/\{[^{}]+\}/g, (variable) => "x".repeat(variable.length))
  const end = masked.indexOf("#")
  const whole = end === -1 ? template : template.slice(0, end)
  const start = masked.indexOf("?")
  if (start === -1 || start >= whole.length) return [whole]
  return [whole.slice(0, start), whole.slice(start + 1)]
}

function tokensOf(template: string): Token[] {
  // Splitting by a pattern with a group yields literals and variables in turn.
  return template
    .split(/\{([^{}]+)\}/)
    .map((text, index) => (index % 2 === 0 ? { literal: text } : { variable: text }))
}

function literalText(plan: RequestPlan, literal: string, kept: string): string {
  return withValueName(plan.id, `path "${plan.path}"`, () => encodeKeeping(literal, kept))
}

function refuseDotSegments(plan: RequestPlan, path: string): void {
  // With `allowReserved` a caller may write `%2F`, which a server may decode to a slash.
  const isRaw = plan.parameters.some((each) => each.in === "path" && each.allowReserved)
  for (const segment of path.split(isRaw ? /\/|%2f|%5c/i : "/")) {
    const plain = segment.replaceAll(/%2e/gi, ".")
    if (plain !== "." && plain !== "..") continue
    throw invalidInputError(
      plan.id,
      `path "${plan.path}" would get the segment "${plain}", which leads to another resource; ` +
        `no path value may be "." or ".."`,
    )
  }
}

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
