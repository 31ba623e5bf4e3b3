/** Maximum number of words that are read from one field. */
export const MAX_FIELD_WORDS = 256
/** Maximum number of characters that are read, so that a huge text costs no more than a long one. */
export const MAX_TEXT_LENGTH = 16_384
const MAX_WORD_LENGTH = 64

const SEPARATOR = 0
const LOWER = 1
const UPPER = 2
const DIGIT = 3
/** Scripts written without spaces: read as overlapping pairs of characters. */
const DENSE = 4

const DENSE_SCRIPT =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u

const ASCII_CLASSES: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) => {
  const char = String.fromCharCode(code)
  return /[a-z]/.test(char) ? LOWER : /[A-Z]/.test(char) ? UPPER : /[0-9]/.test(char) ? DIGIT : 0
})

/**
 * Reads the words of a text in order, each as its lower-case parts: `createIssue` is one word with
 * the parts `create` and `issue`, `v1beta1` one of a single part. Accents are folded away.
 *
 * `visit` returns `false` to stop. A run of a script without spaces comes as pairs of characters;
 * with `tails`, its last character comes alone as well, so that every character starts some part.
 */
export function readWords(
  text: string,
  tails: boolean,
  visit: (parts: readonly string[]) => boolean,
): void {
  const folded = fold(text.slice(0, MAX_TEXT_LENGTH))
  let at = 0
  while (at < folded.length) {
    const kind = classAt(folded, at)
    const start = at
    if (kind === SEPARATOR) {
      at += widthAt(folded, at)
    } else if (kind === DENSE) {
      while (at < folded.length && classAt(folded, at) === DENSE) at += widthAt(folded, at)
      for (const pair of pairsOf(folded.slice(start, at), tails)) if (!visit([pair])) return
    } else {
      const parts: string[] = []
      at = readParts(folded, start, parts)
      if (!visit(parts)) return
    }
  }
}

/** The parts of every word, in order: how identifiers are indexed and names are compared. */
export function partsOf(text: string): string[] {
  const parts: string[] = []
  readWords(text, true, (word) => {
    parts.push(...word)
    return parts.length < MAX_FIELD_WORDS
  })
  return parts
}

/** Appends the parts of one word to `parts` and returns where the word ends. */
function readParts(text: string, start: number, parts: string[]): number {
  let partStart = start
  let at = start
  let before = SEPARATOR
  let previous = SEPARATOR
  for (;;) {
    const kind = at < text.length ? classAt(text, at) : SEPARATOR
    if (kind === SEPARATOR || kind === DENSE) break
    if (kind === UPPER && (previous === LOWER || previous === DIGIT)) {
      push(parts, text, partStart, at)
      partStart = at
    } else if (kind === LOWER && previous === UPPER && before === UPPER && !isPlural(text, at)) {
      // The last capital of "HTTPServer" begins the next part; those of "URLs" do not.
      push(parts, text, partStart, at - 1)
      partStart = at - 1
    }
    before = previous
    previous = kind
    at += widthAt(text, at)
  }
  push(parts, text, partStart, at)
  return at
}

function isPlural(text: string, at: number): boolean {
  return text[at] === "s" && (at + 1 >= text.length || classAt(text, at + 1) !== LOWER)
}

function push(parts: string[], text: string, start: number, end: number): void {
  parts.push(text.slice(start, Math.min(end, start + MAX_WORD_LENGTH)).toLowerCase())
}

function pairsOf(run: string, tails: boolean): string[] {
  const chars = Array.from(run)
  const count = tails || chars.length === 1 ? chars.length : chars.length - 1
  return Array.from({ length: count }, (_, i) => chars[i]! + (chars[i + 1] ?? ""))
}

/** Compatibility forms unified and Latin, Greek and Cyrillic accents dropped. */
function fold(text: string): string {
  const plain = text.replace(/['’]s\b/g, "")
  if (!/[\u0080-\uffff]/.test(plain)) return plain
  // Composed again at the end: other scripts need their marks (Hangul, kana, Indic vowels).
  return plain
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .normalize("NFC")
}

function widthAt(text: string, at: number): number {
  return text.codePointAt(at)! > 0xffff ? 2 : 1
}

const otherClasses = new Map<number, number>()

function classAt(text: string, at: number): number {
  const code = text.charCodeAt(at)
  if (code < 128) return ASCII_CLASSES[code]!
  const point = text.codePointAt(at)!
  let kind = otherClasses.get(point)
  if (kind === undefined) otherClasses.set(point, (kind = classify(String.fromCodePoint(point))))
  return kind
}

function classify(char: string): number {
  if (DENSE_SCRIPT.test(char)) return DENSE
  if (/[\p{Lu}\p{Lt}]/u.test(char)) return UPPER
  if (/[\p{L}\p{M}]/u.test(char)) return LOWER
  return /\p{N}/u.test(char) ? DIGIT : SEPARATOR
}
