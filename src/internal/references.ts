// References such as `${env:NAME}` in texts: which there are, and their replacement by values from elsewhere.

import { isPlainObject } from "./guards.ts"

/** One piece of a text. */
export type TextPart =
  | { readonly kind: "text"; readonly text: string }
  /** A variable; `fallback` is the text after `:-`. */
  | { readonly kind: "env"; readonly name: string; readonly fallback: string | undefined }
  /** A file or a command; the name may hold references itself. */
  | { readonly kind: "file" | "command"; readonly name: string }
  /** A variable of editors: `${workspaceFolder}`, `${userHome}`. */
  | { readonly kind: "place"; readonly name: string }
  /** An unsupported kind, such as `${vault:x}`. */
  | { readonly kind: "unknown"; readonly name: string; readonly rest: string }
  /** `${env:` without a closing brace. */
  | { readonly kind: "open"; readonly name: string }

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/
const KIND = /^([A-Za-z][A-Za-z0-9_-]*):(?!-)/
const PLACES: ReadonlySet<string> = new Set([
  "workspaceFolder",
  "workspaceRoot",
  "workspaceFolderBasename",
  "userHome",
  "pathSeparator",
  "/",
])

/**
 * Splits a text into plain text and references. `$${` escapes `${`; anything that is not a valid
 * reference, such as `${a b}`, is text. In files of editors nothing is escaped, and what is not closed is text.
 */
export function parseReferences(text: string, ofEditors = false): readonly TextPart[] {
  const parts: TextPart[] = []
  let plain = ""
  let at = 0
  while (at < text.length) {
    const start = text.indexOf("${", at)
    if (start === -1) break
    if (start > at && text.charAt(start - 1) === "$" && !ofEditors) {
      plain += `${text.slice(at, start - 1)}\${`
      at = start + 2
      continue
    }
    plain += text.slice(at, start)
    const end = closingBrace(text, start + 2)
    const inner = end === -1 ? text.slice(start + 2) : text.slice(start + 2, end)
    const part = end === -1 ? openPart(inner) : partOf(inner)
    if (part === undefined || (part.kind === "open" && ofEditors)) {
      plain += "${"
      at = start + 2
      continue
    }
    if (plain !== "") parts.push({ kind: "text", text: plain })
    plain = ""
    parts.push(part)
    at = end === -1 ? text.length : end + 1
  }
  plain += text.slice(at)
  if (plain !== "") parts.push({ kind: "text", text: plain })
  return parts
}

const MAX_NESTING = 8

/** A reference in a text. */
export type Reference = Exclude<TextPart, { readonly kind: "text" }>

/** Where the values of references come from. */
export interface ReferenceValues {
  /** The value of a reference. `resolve` is for a text inside of it, such as the default of a variable. */
  valueOf(part: Reference, resolve: (text: string) => Promise<string>): Promise<string> | string
  /** The error for a text; its message says what is wrong with it. */
  error(message: string): Error
  /** References are those of editors; see `parseReferences`. */
  readonly isOfEditors?: boolean | undefined
}

/** Replaces the references of a text. Values are inserted once, and may contain `${`. */
export async function resolveReferences(
  text: string,
  values: ReferenceValues,
  nesting = 0,
): Promise<string> {
  if (!text.includes("${")) return text
  if (nesting > MAX_NESTING) throw values.error("has references nested too deeply.")
  const inner = (part: string): Promise<string> => resolveReferences(part, values, nesting + 1)
  let out = ""
  for (const part of parseReferences(text, values.isOfEditors)) {
    out += part.kind === "text" ? part.text : await values.valueOf(part, inner)
  }
  return out
}

/** Copies plain data with other texts. Functions and class instances stay as they are. */
export async function fillTexts<TValue>(
  value: TValue,
  fill: (text: string, path: string) => Promise<string> | string,
  path: string,
): Promise<TValue> {
  if (typeof value === "string") return (await fill(value, path)) as TValue
  if (Array.isArray(value)) {
    const items = value.map((item: unknown, index) => fillTexts(item, fill, `${path}[${index}]`))
    return (await Promise.all(items)) as TValue
  }
  if (!isPlainObject(value)) return value
  const entries = await Promise.all(
    Object.entries(value).map(async ([key, item]) => {
      const below = path === "" ? key : `${path}.${key}`
      return [key, await fillTexts(item, fill, below)] as const
    }),
  )
  // From entries, so that "__proto__" is an ordinary key.
  return Object.fromEntries(entries) as TValue
}

/** opencode's `{env:NAME}` as `${env:NAME}`. */
export function withDollars(text: string): string {
  return text.replaceAll(/(?<!\$)\{(env:\w+(?::-[^{}]*)?)\}/g, (_, inner: string) => `\${${inner}}`)
}

/** Parses the text between the braces; `undefined` when it is not a reference. */
function partOf(inner: string): TextPart | undefined {
  if (PLACES.has(inner)) return { kind: "place", name: inner }
  const kind = KIND.exec(inner)?.[1]
  if (kind === "file" || kind === "command") {
    return { kind, name: inner.slice(kind.length + 1).trim() }
  }
  const rest = kind === "env" ? inner.slice(4) : inner
  const dash = rest.indexOf(":-")
  const name = dash === -1 ? rest : rest.slice(0, dash)
  if (VARIABLE.test(name)) {
    return { kind: "env", name, fallback: dash === -1 ? undefined : rest.slice(dash + 2) }
  }
  return kind === undefined
    ? undefined
    : { kind: "unknown", name: kind, rest: inner.slice(kind.length + 1) }
}

function openPart(inner: string): TextPart | undefined {
  const kind = KIND.exec(inner)?.[1]
  const isOurs = kind === "env" || kind === "file" || kind === "command"
  return isOurs ? { kind: "open", name: kind } : undefined
}

/** The brace that ends a reference, past pairs of braces inside it. */
function closingBrace(text: string, start: number): number {
  if (!text.includes("}", start)) return -1
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const character = text.charAt(at)
    if (character === "{") depth++
    if (character !== "}") continue
    if (depth === 0) return at
    depth--
  }
  return -1
}
