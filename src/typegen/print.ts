// Types as text.

import { printComment } from "./comments.ts"
import { propertyKey, stringLiteral, templateText } from "./identifiers.ts"
import { NEVER, UNDEFINED, UNKNOWN } from "./model.ts"
import type { LiteralNode, NamedType, ObjectNode, TupleNode, TypeNode } from "./model.ts"

export interface PrintOptions {
  readonly nameOf: (type: NamedType) => string
  readonly comments: boolean
  /** Omits `| undefined` of optional properties: for people and models, not for compilers. */
  readonly isBrief?: boolean | undefined
}

/** Maximum line width, where a line can be broken. */
const WIDTH = 90

/** The text of a type in a line with an indentation. */
export function printType(node: TypeNode, indent: string, options: PrintOptions): string {
  switch (node.kind) {
    case "word":
      return node.text
    case "literal":
      return literalText(node)
    case "named":
      return options.nameOf(node.type)
    case "object":
      return objectText(node, indent, options)
    case "array":
      return `${printMember(node.item, indent, options)}[]`
    case "tuple":
      return tupleText(node, indent, options)
    case "union":
      return unionText(node.members, indent, options)
    case "intersection":
      return node.members.map((one) => printMember(one, indent, options)).join(" & ")
    case "error": {
      const details = printType(node.details, indent, options)
      return `CallError<${stringLiteral(node.code)}, ${details}>`
    }
  }
}

/** A type after a colon or an equals sign; a multi-line type starts on its own line. */
export function annotation(text: string): string {
  return text.startsWith("\n") ? text : ` ${text}`
}

/** The text of a type as an operand, in parentheses where needed. */
function printMember(node: TypeNode, indent: string, options: PrintOptions): string {
  const text = printType(node, indent, options)
  return node.kind === "union" || node.kind === "intersection" ? `(${text})` : text
}

function unionText(members: readonly TypeNode[], indent: string, options: PrintOptions): string {
  const hasTexts = members.some((one) => one.kind === "literal" && typeof one.value === "string")
  const texts = members.map((member) =>
    // Plain `string` would absorb the literals next to it, and their completion.
    hasTexts && member.kind === "word" && member.text === "string"
      ? "(string & {})"
      : member.kind === "intersection"
        ? printMember(member, indent, options)
        : printType(member, indent, options),
  )
  const line = texts.join(" | ")
  if (line.length + indent.length <= WIDTH || line.includes("\n")) return line
  return texts.map((text) => `\n${indent}  | ${text}`).join("")
}

function tupleText(
  { items, minItems: least, rest }: TupleNode,
  indent: string,
  options: PrintOptions,
): string {
  const texts = items.map((item, at) =>
    at < least ? printType(item, indent, options) : `${printMember(item, indent, options)}?`,
  )
  if (rest !== undefined) texts.push(`...${printMember(rest, indent, options)}[]`)
  return `[${texts.join(", ")}]`
}

function objectText(node: ObjectNode, indent: string, options: PrintOptions): string {
  const inner = `${indent}  `
  const lines: string[] = []
  let isPlain = true
  for (const { key, type, isOptional, comment } of node.properties) {
    const words = options.comments ? printComment(comment, inner) : ""
    if (words !== "") isPlain = false
    const text = printType(
      isOptional && options.isBrief !== true ? orUndefined(type) : type,
      inner,
      options,
    )
    lines.push(`${words}${inner}${propertyKey(key)}${isOptional ? "?" : ""}:${annotation(text)}\n`)
  }
  for (const { prefix, type } of node.index) {
    const key = prefix === "" ? "string" : `\`${templateText(prefix)}\${string}\``
    lines.push(`${inner}[key: ${key}]:${annotation(printType(type, inner, options))}\n`)
  }
  if (lines.length === 0) return "{}"
  const line = `{ ${lines.map((one) => one.trim()).join("; ")} }`
  if (isPlain && !line.includes("\n") && line.length + indent.length <= WIDTH) return line
  return `{\n${lines.join("")}${indent}}`
}

/** Optional properties accept `undefined`, which is not sent. */
function orUndefined(node: TypeNode): TypeNode {
  if (node === UNKNOWN || node === UNDEFINED) return node
  if (node === NEVER) return UNDEFINED
  const members = node.kind === "union" ? node.members : [node]
  return members.includes(UNDEFINED) ? node : { kind: "union", members: [...members, UNDEFINED] }
}

function literalText({ value }: LiteralNode): string {
  return typeof value === "string" ? stringLiteral(value) : String(value)
}
