// URI templates (RFC 6570), such as `file:///{path}`: their values to URIs, and back.

import { percentDecoded } from "../internal/percent.ts"
import { CallError } from "../core/errors.ts"
import {
  readUriTemplate,
  type Expression,
  type Operator,
  type TemplateVariable,
  type Variable,
} from "../core/uri-template.ts"
import { getOwn, setOwn } from "../schema/json.ts"

/** The value of a variable: a string, or several. */
export type TemplateValue = string | readonly string[]

/** A parsed template. */
export interface UriTemplate {
  readonly variables: readonly TemplateVariable[]
  /** Throws `VALIDATION_ERROR` when the URI would be too long. */
  expand(values: Readonly<Record<string, TemplateValue | undefined>>): string
  /**
   * The values that expand to a URI; `undefined` if it is not one of the template, or there are several ways to read it.
   * The time grows with the length of the URI only.
   */
  match(uri: string): Readonly<Record<string, TemplateValue>> | undefined
}

const NOT_RESERVED = /%[0-9A-Fa-f]{2}|[^\w.~:/?#[\]@!$&'()*+,;=-]/gu
const NOT_UNRESERVED = /[^\w.~-]/gu
/** Maximum number of values in one expression of a URI. */
const MAX_VALUES = 1000
/** Maximum length of a URI: a template can use a variable many times. */
const MAX_URI = 65_536

/** Parses a template; returns a text that says why when it is invalid. */
export function parseUriTemplate(text: string): UriTemplate | string {
  const form = readUriTemplate(text)
  if (typeof form === "string") return form
  const { variables } = form
  const parts = form.parts.map((part) => (typeof part === "string" ? encode(part, true) : part))
  const join = (
    values: Readonly<Record<string, TemplateValue | undefined>>,
  ): string | undefined => {
    let uri = ""
    for (const part of parts) {
      uri += typeof part === "string" ? part : expand(part, values)
      if (uri.length > MAX_URI) return undefined
    }
    return uri
  }
  return {
    variables,
    expand(values) {
      const uri = join(values)
      if (uri === undefined) throw tooLong()
      return uri
    },
    match(uri: string) {
      const values = uri.length > MAX_URI ? undefined : read(parts, uri)
      return values !== undefined && sameUri(join(values), uri) ? values : undefined
    },
  }
}

function expand(
  { operator, variables }: Expression,
  values: Readonly<Record<string, TemplateValue | undefined>>,
): string {
  const pieces = variables.flatMap((variable) => {
    const value = Object.hasOwn(values, variable.name) ? values[variable.name] : undefined
    const isNothing = value === undefined || (Array.isArray(value) && value.length === 0)
    if (isNothing) return []
    if (lengthOf(value) > MAX_URI) throw tooLong()
    return expandOne(operator, variable, value)
  })
  return pieces.length === 0 ? "" : operator.first + pieces.join(operator.separator)
}

function expandOne(
  { named, isReserved }: Operator,
  { name, isExploded, prefix }: Variable,
  value: TemplateValue,
): readonly string[] {
  const label = (text: string): string => {
    if (named === false) return text
    return text === "" ? `${name}${named}` : `${name}=${text}`
  }
  if (typeof value === "string") {
    const cut = prefix === undefined ? value : [...value].slice(0, prefix).join("")
    return [label(encode(cut, isReserved))]
  }
  const items = value.map((item) => encode(item, isReserved))
  return isExploded ? items.map(label) : [label(items.join(","))]
}

type Values = Record<string, TemplateValue>

/** Reads the values of a URI. They may be wrong, so that callers must expand them again and compare. */
function read(parts: readonly (string | Expression)[], uri: string): Values | undefined {
  const values: Values = {}
  let at = 0
  for (const [index, part] of parts.entries()) {
    if (typeof part === "string") {
      if (!sameUri(uri.slice(at, at + part.length), part)) return undefined
      at += part.length
      continue
    }
    const end = endOf(parts, index, uri, at)
    if (end < at || !readOne(part, uri.slice(at, end), values)) return undefined
    at = end
  }
  return at === uri.length ? values : undefined
}

/** Where the value of an expression ends: where the next part begins. */
function endOf(
  parts: readonly (string | Expression)[],
  index: number,
  uri: string,
  at: number,
): number {
  const rest = parts.slice(index + 1).filter((part) => part !== "")
  const [next] = rest
  if (next === undefined) return uri.length
  if (typeof next !== "string") {
    // What follows has no value, or begins with its own character.
    const { first } = next.operator
    const found = first === "" ? -1 : uri.indexOf(first, at)
    return found === -1 ? uri.length : found
  }
  return rest.length === 1 ? uri.length - next.length : uri.indexOf(next, at)
}

/** Reads the values of one expression; `false` if its text has another form. */
function readOne({ operator, variables }: Expression, text: string, values: Values): boolean {
  const { first, separator, named, isReserved } = operator
  if (text === "") {
    // An empty value, unless the operator would have written its first character.
    if (first === "") for (const { name } of variables) setOwn(values, name, "")
    return true
  }
  if (!text.startsWith(first)) return false
  const decode = (value: string): string => (isReserved ? value : percentDecoded(value))
  const body = text.slice(first.length)
  const [only] = variables
  if (named === false && variables.length === 1 && only !== undefined) {
    const items = only.isExploded ? body.split(separator) : [body]
    setOwn(values, only.name, items.length === 1 ? decode(body) : items.map(decode))
    return true
  }
  const pieces = body.split(separator, MAX_VALUES)
  for (const [index, piece] of pieces.entries()) {
    const equals = piece.indexOf("=")
    const name =
      named === false ? variables[index]?.name : piece.slice(0, equals < 0 ? undefined : equals)
    const variable = variables.find((one) => one.name === name)
    if (variable === undefined) return false
    const value = decode(named === false ? piece : equals < 0 ? "" : piece.slice(equals + 1))
    const before = variable.isExploded ? getOwn(values, variable.name) : undefined
    setOwn(values, variable.name, before === undefined ? value : [before, value].flat())
  }
  return true
}

/** The same with `%2f` for `%2F`: servers do not distinguish them. */
function sameUri(left: string | undefined, right: string): boolean {
  if (left?.length !== right.length) return false
  return left === right || upperTriplets(left) === upperTriplets(right)
}

function upperTriplets(text: string): string {
  return text.replace(/%[0-9A-Fa-f]{2}/g, (triplet) => triplet.toUpperCase())
}

/** Percent-encodes a text; with `isReserved`, reserved characters and existing triplets are kept. */
function encode(text: string, isReserved: boolean): string {
  return text.replace(isReserved ? NOT_RESERVED : NOT_UNRESERVED, (match) => {
    if (match.length === 3 && match.startsWith("%")) return match
    const bytes = [...new TextEncoder().encode(match)]
    return bytes.map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("")
  })
}

function lengthOf(value: TemplateValue): number {
  if (typeof value === "string") return value.length
  return value.reduce((length, item) => length + item.length + 1, 0)
}

function tooLong(): CallError {
  return new CallError(
    "VALIDATION_ERROR",
    `The address of the resource would have more than ${MAX_URI} characters. Use shorter values.`,
    { retryable: false, mayHaveExecuted: false },
  )
}
