import type { ParameterStyle, Serialization } from "../model.ts"
import { Unwritable, shapeOf, type Shape } from "./text.ts"
import { jsonText } from "./json.ts"

/** How names, values and delimiters are written in one location of a request. */
export interface Writer {
  readonly name: (text: string) => string
  readonly value: (text: string) => string
  readonly delimiter: (delimiter: string) => string
}

/** A written name and a written value. */
export type Pair = readonly [name: string, value: string]

const DEPTH_LIMIT = 100

/**
 * Writes a value as pairs, for query strings, forms and cookies.
 *
 * Path styles are written as `form`. An empty list or object is left out, unless `keepEmpty`.
 */
export function pairsOf(
  name: string,
  value: unknown,
  how: Serialization,
  writer: Writer,
  keepEmpty = false,
): Pair[] {
  const shape = shapeOf(value)
  const pairs =
    how.style === "deepObject"
      ? deepPairs(name, shape, writer, 0)
      : flatPairs(name, shape, how, writer)
  const isEmpty = pairs.length === 0 && shape.kind !== "none"
  return isEmpty && keepEmpty ? [[writer.name(name), ""]] : pairs
}

/** Writes a value as one text, for paths and headers; `undefined` if there is none. */
export function textOf(
  name: string,
  value: unknown,
  how: Serialization,
  writer: Writer,
): string | undefined {
  const shape = shapeOf(value)
  switch (how.style) {
    case "label":
      return labelText(shape, how.explode, writer)
    case "matrix":
      return matrixText(name, shape, how.explode, writer)
    default:
      return simpleText(shape, how, writer)
  }
}

/** Nested values in brackets: `a[b][0][c]`. */
export function deepPairs(name: string, shape: Shape, writer: Writer, depth: number): Pair[] {
  if (depth > DEPTH_LIMIT) {
    throw new Unwritable(`is nested deeper than ${DEPTH_LIMIT} levels, or refers to itself`)
  }
  switch (shape.kind) {
    case "none":
      return []
    case "scalar":
      return [[writer.name(name), writer.value(shape.text)]]
    case "list":
      return shape.items.flatMap((item, index) =>
        deepPairs(`${name}[${index}]`, shapeOf(item), writer, depth + 1),
      )
    case "record":
      return shape.entries.flatMap(([key, item]) =>
        deepPairs(`${name}[${key}]`, shapeOf(item), writer, depth + 1),
      )
  }
}

function flatPairs(name: string, shape: Shape, how: Serialization, writer: Writer): Pair[] {
  const written = writer.name(name)
  const delimiter = writer.delimiter(DELIMITERS[how.style] ?? ",")
  switch (shape.kind) {
    case "none":
      return []
    case "scalar":
      return [[written, writer.value(shape.text)]]
    case "list": {
      const items = shape.items.map((item) => writer.value(textOrJson(item)))
      if (how.explode) return items.map((item) => [written, item])
      return items.length === 0 ? [] : [[written, items.join(delimiter)]]
    }
    case "record": {
      const members = shape.entries.map(([key, item]) => [key, textOrJson(item)] as const)
      if (how.explode) return members.map(([key, text]) => [writer.name(key), writer.value(text)])
      const pieces = members.flat().map((piece) => writer.value(piece))
      return pieces.length === 0 ? [] : [[written, pieces.join(delimiter)]]
    }
  }
}

function simpleText(shape: Shape, how: Serialization, writer: Writer): string | undefined {
  const delimiter = writer.delimiter(DELIMITERS[how.style] ?? ",")
  return piecesOf(shape, how.explode, writer)?.join(delimiter)
}

function labelText(shape: Shape, explode: boolean, writer: Writer): string | undefined {
  const pieces = piecesOf(shape, explode, writer)
  return pieces === undefined ? undefined : `.${pieces.join(explode ? "." : ",")}`
}

function matrixText(
  name: string,
  shape: Shape,
  explode: boolean,
  writer: Writer,
): string | undefined {
  const named = (key: string, text: string): string => (text === "" ? `;${key}` : `;${key}=${text}`)
  const written = writer.name(name)
  if (explode && shape.kind === "record") {
    const members = shape.entries.map(([key, item]) =>
      named(writer.name(key), writer.value(textOrJson(item))),
    )
    return members.length === 0 ? undefined : members.join("")
  }
  const pieces = piecesOf(shape, false, writer)
  if (pieces === undefined) return undefined
  if (explode) return pieces.map((piece) => named(written, piece)).join("")
  return named(written, pieces.join(","))
}

/** The written values of a list, or names and values of an object; `undefined` if there are none. */
function piecesOf(shape: Shape, explode: boolean, writer: Writer): string[] | undefined {
  switch (shape.kind) {
    case "none":
      return undefined
    case "scalar":
      return [writer.value(shape.text)]
    case "list":
      if (shape.items.length === 0) return undefined
      return shape.items.map((item) => writer.value(textOrJson(item)))
    case "record":
      if (shape.entries.length === 0) return undefined
      return shape.entries.flatMap(([key, item]) => {
        const value = writer.value(textOrJson(item))
        return explode ? [`${writer.name(key)}=${value}`] : [writer.name(key), value]
      })
  }
}

/** A value as text if it is a scalar, else as JSON: styles cover only one level. */
export function textOrJson(item: unknown): string {
  const shape = shapeOf(item)
  return shape.kind === "scalar" ? shape.text : jsonText(item)
}

/** Between the parts of a value; a comma in all other styles. */
const DELIMITERS: Partial<Record<ParameterStyle, string>> = {
  spaceDelimited: " ",
  pipeDelimited: "|",
  tabDelimited: "\t",
}
