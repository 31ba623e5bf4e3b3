// Invisible characters: people do not see them, but models read them.

import { childPointer } from "../schema/json.ts"
import type { MCPHiddenText, MCPToolDefinition } from "./model.ts"

const MAX_PLACES = 100
const MAX_DEPTH = 200

/** The ranges of invisible characters: first and last code point. */
const HIDDEN: readonly (readonly [number, number])[] = [
  // Control characters; tab, line feed and carriage return are excluded below.
  [0x00, 0x1f],
  [0x7f, 0x9f],
  // Soft hyphen, grapheme joiner, fillers and invisible vowels.
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  // Zero width, direction marks.
  [0x200b, 0x200f],
  // Separators of lines and paragraphs, embedded and overridden directions.
  [0x2028, 0x202e],
  // Joiners, invisible operators, isolated directions, deprecated format characters.
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff9, 0xfffb],
  [0x1d173, 0x1d17a],
  // Tags and neighbours: an alphabet that is never displayed.
  [0xe0000, 0xe0fff],
]

const INVISIBLE = new RegExp(
  `[${HIDDEN.map(([first, last]) => `\\u{${first.toString(16)}}-\\u{${last.toString(16)}}`).join("")}]`,
  "gu",
)
const ZWNJ = 0x200c
const ZWJ = 0x200d
const EMOJI = /^(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator})$/u
const KEYCAP = /^[0-9#*]$/
const JOINING = /^(?:(?!\p{Script=Latin})\p{L}|\p{M})$/u
const IDEOGRAPH = /^\p{Unified_Ideograph}$/u

/** Finds invisible characters in a tool definition; at most 100 places. */
export function hiddenTextOf(tool: MCPToolDefinition): readonly MCPHiddenText[] {
  const { name, title, description, annotations, inputSchema, outputSchema } = tool
  const places: MCPHiddenText[] = []
  const parts = { name, title, description, annotations, inputSchema, outputSchema }
  for (const [key, part] of Object.entries(parts)) visit(part, `/${key}`, 0, places)
  return places
}

/**
 * The first place where invisible characters cannot be removed, because clients send the text back: names of properties,
 * constants, defaults and examples.
 */
export function hiddenDataOf(tool: MCPToolDefinition): MCPHiddenText | undefined {
  const places = hiddenTextOf(tool)
  const first = places.find(
    ({ path }) => !/^\/name$|\/(?:title|description|\$comment|pattern)$/.test(path),
  )
  return first ?? (places.length < MAX_PLACES ? undefined : places[0])
}

/** Removes invisible characters from a text, except those that shape letters or emoji. */
export function withoutHiddenText(text: string): string {
  return showHiddenText(text, () => "")
}

/** Replaces each invisible character by the result of `show`, except those that shape letters or emoji. */
export function showHiddenText(text: string, show: (character: string) => string): string {
  if (!mayHide(text)) return text
  let end = 0
  let kept = ""
  return text.replaceAll(INVISIBLE, (character, offset: number) => {
    // The last character that was kept: a replaced one must not justify the next.
    const before = offset === end ? kept : characterBefore(text, offset)
    end = offset + character.length
    const after = text.codePointAt(end)
    const isKept =
      isSpacing(character.charCodeAt(0)) ||
      shapes(character, before, after === undefined ? "" : String.fromCodePoint(after))
    kept = isKept ? character : before
    return isKept ? character : show(character)
  })
}

/** The invisible characters of a text, such as `U+200B`, each once. */
export function hiddenCharacters(text: string): readonly string[] {
  const names = new Set<string>()
  showHiddenText(text, (character) => {
    names.add(codeName(character))
    return ""
  })
  return [...names]
}

function visit(value: unknown, path: string, depth: number, places: MCPHiddenText[]): void {
  if (places.length >= MAX_PLACES || depth > MAX_DEPTH) return
  if (typeof value === "string") return note(value, path, places)
  if (typeof value !== "object" || value === null) return
  for (const [key, item] of Object.entries(value)) {
    const place = childPointer(path, key)
    // Models read property names, too.
    if (!Array.isArray(value)) note(key, place, places)
    visit(item, place, depth + 1, places)
  }
}

function note(text: string, path: string, places: MCPHiddenText[]): void {
  const characters = hiddenCharacters(text)
  if (characters.length > 0) places.push({ path, characters })
}

/** A quick check with false positives: most texts are plain. */
function mayHide(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0x20 ? !isSpacing(unit) : unit >= 0x7f) return true
  }
  return false
}

/** Whether an invisible character shapes its neighbours. */
function shapes(character: string, before: string, after: string): boolean {
  const code = character.codePointAt(0) ?? 0
  // Families and flags are joined emoji, possibly with a variation selector between.
  if (code === ZWJ && EMOJI.test(after)) return EMOJI.test(before) || before === "\uFE0F"
  if (code === ZWJ || code === ZWNJ) {
    return [before, after].every((letter) => JOINING.test(letter) && letter.search(INVISIBLE) < 0)
  }
  if (code === 0xfe0f || code === 0xfe0e) return EMOJI.test(before) || KEYCAP.test(before)
  return code >= 0xe0100 && code <= 0xe01ef && IDEOGRAPH.test(before)
}

function characterBefore(text: string, offset: number): string {
  const pair = offset > 1 ? (text.codePointAt(offset - 2) ?? 0) : 0
  return pair > 0xffff ? String.fromCodePoint(pair) : text.charAt(offset - 1)
}

function isSpacing(code: number): boolean {
  return code === 0x09 || code === 0x0a || code === 0x0d
}

function codeName(character: string): string {
  const code = character.codePointAt(0) ?? 0
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`
}
