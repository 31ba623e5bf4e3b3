// Parses references such as `${env:NAME}` in a text. Resolving them happens elsewhere.

import { isRecord } from "../internal/guards.ts"
import { formatPath } from "./error.ts"

export type ReferenceKind = "env" | "file" | "command"

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
  | { readonly kind: "unknown"; readonly name: string }
  /** `${env:` without a closing brace. */
  | { readonly kind: "open"; readonly name: string }

/** A reference in a configuration, without its value. */
export interface Reference {
  readonly path: string
  readonly kind: ReferenceKind
  /** The variable, the file or the command. */
  readonly name: string
  readonly hasDefault: boolean
}

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
const MAX_DEPTH = 32

/**
 * Splits a text into plain text and references. `$${` escapes `${`; anything that is not a valid
 * reference, such as `${a b}`, is text.
 */
export function parseReferences(text: string): readonly TextPart[] {
  const parts: TextPart[] = []
  let plain = ""
  let at = 0
  while (at < text.length) {
    const start = text.indexOf("${", at)
    if (start === -1) break
    if (start > 0 && text.charAt(start - 1) === "$" && start > at) {
      plain += `${text.slice(at, start - 1)}\${`
      at = start + 2
      continue
    }
    plain += text.slice(at, start)
    const end = closingBrace(text, start + 2)
    const inner = end === -1 ? text.slice(start + 2) : text.slice(start + 2, end)
    const part = end === -1 ? openPart(inner) : partOf(inner)
    if (part === undefined) {
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

/** Lists every reference in a value, so that a command can say which are needed. */
export function referencesIn(value: unknown): readonly Reference[] {
  const references: Reference[] = []
  collect(value, [], references)
  return references
}

function collect(value: unknown, keys: readonly string[], references: Reference[]): void {
  if (keys.length > MAX_DEPTH) return
  if (typeof value === "string") {
    collectText(value, formatPath(keys), references, 0)
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) collect(item, [...keys, String(index)], references)
  } else if (isRecord(value)) {
    for (const [key, item] of Object.entries(value)) collect(item, [...keys, key], references)
  }
}

function collectText(text: string, path: string, references: Reference[], depth: number): void {
  if (depth > MAX_DEPTH || !text.includes("${")) return
  for (const part of parseReferences(text)) {
    if (part.kind !== "env" && part.kind !== "file" && part.kind !== "command") continue
    const { kind, name } = part
    const fallback = kind === "env" ? part.fallback : undefined
    references.push({ path, kind, name, hasDefault: fallback !== undefined })
    collectText(kind === "env" ? (fallback ?? "") : name, path, references, depth + 1)
  }
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
  return kind === undefined ? undefined : { kind: "unknown", name: kind }
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
