// Characters that a person does not see and a model reads.

import { childPointer } from "../schema/json.ts"
import type { MCPHiddenText, MCPToolDefinition } from "./model.ts"

const MAX_PLACES = 100
const MAX_DEPTH = 200

/** The first and last of each range. */
const HIDDEN: readonly (readonly [number, number])[] = [
  // Control characters; tab, line feed and carriage return are taken out below.
  [0x00, 0x1f],
  [0x7f, 0x9f],
  // Soft hyphen, grapheme joiner, fillers and vowels without a shape.
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
  // Tags, and what is near them: a second alphabet that is never shown.
  [0xe0000, 0xe0fff],
]

const UNSEEN = new RegExp(
  `[${HIDDEN.map(([first, last]) => `\\u{${first.toString(16)}}-\\u{${last.toString(16)}}`).join("")}]`,
  "gu",
)
const ZWNJ = 0x200c
const ZWJ = 0x200d
const PICTURE = /^(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator})$/u
const KEYCAP = /^[0-9#*]$/
const JOINING = /^(?:(?!\p{Script=Latin})\p{L}|\p{M})$/u
const IDEOGRAPH = /^\p{Unified_Ideograph}$/u

/** The places of a definition with characters that nobody sees; at most 100. */
export function hiddenTextOf(tool: MCPToolDefinition): readonly MCPHiddenText[] {
  const { name, title, description, annotations, inputSchema, outputSchema } = tool
  const found: MCPHiddenText[] = []
  const parts = { name, title, description, annotations, inputSchema, outputSchema }
  for (const [key, part] of Object.entries(parts)) visit(part, `/${key}`, 0, found)
  return found
}

/** A text without the characters that nobody sees; those that shape a script or a picture stay. */
export function withoutHiddenText(text: string): string {
  return mayHide(text) ? sift(text).kept.join("") : text
}

/** A text in which something visible stands for each character that nobody sees; those that shape a script or a picture stay. */
export function showHiddenText(text: string, show: (character: string) => string): string {
  if (!mayHide(text)) return text
  return text.replaceAll(UNSEEN, (character, offset: number) => {
    const before = beforeOf(text, offset)
    const after = text.codePointAt(offset + character.length)
    const isShape = shapes(
      character,
      before,
      after === undefined ? "" : String.fromCodePoint(after),
    )
    return isSpacing(character.charCodeAt(0)) || isShape ? character : show(character)
  })
}

/** The characters of a text that nobody sees, such as `U+200B`, each once. */
export function hiddenCharacters(text: string): readonly string[] {
  return mayHide(text) ? [...new Set(sift(text).hidden.map(codeName))] : []
}

function visit(value: unknown, path: string, depth: number, found: MCPHiddenText[]): void {
  if (found.length >= MAX_PLACES || depth > MAX_DEPTH) return
  if (typeof value === "string") return note(value, path, found)
  if (typeof value !== "object" || value === null) return
  for (const [key, item] of Object.entries(value)) {
    const place = childPointer(path, key)
    // A name of a property is read, too.
    if (!Array.isArray(value)) note(key, place, found)
    visit(item, place, depth + 1, found)
  }
}

function note(text: string, path: string, found: MCPHiddenText[]): void {
  const characters = hiddenCharacters(text)
  if (characters.length > 0) found.push({ path, characters })
}

/** Quick, and says yes too often: most texts are plain. */
function mayHide(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0x20 ? !isSpacing(unit) : unit >= 0x7f) return true
  }
  return false
}

/** Characters that are seen or shape what is, and the others. */
function sift(text: string): { readonly kept: string[]; readonly hidden: string[] } {
  const characters = [...text]
  const kept: string[] = []
  const hidden: string[] = []
  for (const [index, character] of characters.entries()) {
    // Judged by what was kept: a character that goes holds nothing up.
    const isKept =
      !isUnseen(character) || shapes(character, kept.at(-1) ?? "", characters[index + 1] ?? "")
    ;(isKept ? kept : hidden).push(character)
  }
  return { kept, hidden }
}

function isUnseen(character: string): boolean {
  const code = character.codePointAt(0) ?? 0
  return !isSpacing(code) && HIDDEN.some(([first, last]) => code >= first && code <= last)
}

/** Whether a character that is not seen gives its neighbours their shape. */
function shapes(character: string, before: string, after: string): boolean {
  const code = character.codePointAt(0) ?? 0
  // Families and flags are pictures joined together; a selector may stand between.
  if (code === ZWJ && PICTURE.test(after)) return PICTURE.test(before) || before === "\uFE0F"
  if (code === ZWJ || code === ZWNJ) {
    return [before, after].every((letter) => JOINING.test(letter) && !isUnseen(letter))
  }
  if (code === 0xfe0f || code === 0xfe0e) return PICTURE.test(before) || KEYCAP.test(before)
  return code >= 0xe0100 && code <= 0xe01ef && IDEOGRAPH.test(before)
}

function beforeOf(text: string, offset: number): string {
  if (offset === 0) return ""
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
