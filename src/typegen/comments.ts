// Descriptions of schemas as comments that editors show.

import { textOf } from "../schema/json.ts"
import { stringLiteral, UNSEEN } from "./identifiers.ts"

/** Content of the comment of a type, a property or an operation. */
export interface CommentParts {
  readonly text?: string | undefined
  readonly isDeprecated?: boolean | undefined
  readonly default?: string | undefined
}

/** Maximum length of a description; longer ones are cut. */
const MAX_TEXT = 4000
const MAX_DEFAULT = 200

/** The comment of a schema; `undefined` when it has none. */
export function commentOf(schema: Readonly<Record<string, unknown>>): CommentParts | undefined {
  const { description, title, deprecated } = schema
  const parts = {
    text: textOf(description) ?? textOf(title),
    isDeprecated: deprecated === true,
    default: Object.hasOwn(schema, "default") ? defaultText(schema["default"]) : undefined,
  }
  const isEmpty = parts.text === undefined && !parts.isDeprecated && parts.default === undefined
  return isEmpty ? undefined : parts
}

/** The lines of a comment, indented; ends with a line feed, or is empty. */
export function printComment(parts: CommentParts | undefined, indent: string): string {
  const lines = linesOf(parts)
  if (lines.length === 0) return ""
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`
  const body = lines.map((line) => `${indent} *${line === "" ? "" : ` ${line}`}\n`).join("")
  return `${indent}/**\n${body}${indent} */\n`
}

function linesOf(parts: CommentParts | undefined): string[] {
  const lines = parts?.text === undefined ? [] : textLines(parts.text)
  if (parts?.default !== undefined) lines.push(`@default ${safe(parts.default)}`)
  if (parts?.isDeprecated === true) lines.push("@deprecated")
  return lines
}

function textLines(text: string): string[] {
  const cut = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
  const lines = cut
    .split(/\r\n|[\n\r\u2028\u2029]/)
    // A tag at the start of a line, such as `@deprecated`, would take effect.
    .map((line) =>
      safe(line)
        .trimEnd()
        .replace(/^(\s*)@/, "$1\\@"),
    )
  while (lines[0] === "") lines.shift()
  while (lines.at(-1) === "") lines.pop()
  return lines.filter((line, at) => line !== "" || lines[at - 1] !== "")
}

/** Escapes a text so that it does not end the comment. */
function safe(text: string): string {
  return text
    .replaceAll(UNSEEN, "")
    .replaceAll(/\p{Surrogate}/gu, "")
    .replaceAll("*/", "*\\/")
}

function defaultText(value: unknown): string | undefined {
  const text = typeof value === "string" ? stringLiteral(value) : JSON.stringify(value)
  return text === undefined || text.length > MAX_DEFAULT ? undefined : text
}
