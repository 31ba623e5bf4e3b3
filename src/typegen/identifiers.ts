// Names and strings from schemas, as valid TypeScript.

/** Names that the generated module uses itself. */
const RESERVED: ReadonlySet<string> = new Set([
  "CallError",
  "FileLike",
  "Operations",
  "RegisteredOperations",
  "RegisteredRoutes",
  "Routes",
  "Uint8Array",
])

const MAX_NAME = 80

/**
 * Letters that every compiler accepts in a name.
 *
 * Which others are accepted depends on the compiler's Unicode version.
 */
const WORD =
  /(?:[A-Za-z0-9]|(?=[\u00C0-\uFFDC])(?=\p{L})[\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Hebrew}\p{sc=Arabic}\p{sc=Devanagari}\p{sc=Thai}\p{sc=Hangul}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Han}])+/gu

/** A text as the name of a type, in PascalCase: `NullableSimpleUser` for `nullable-simple-user`. */
export function typeName(text: string): string {
  const words = text.normalize("NFC").match(WORD) ?? []
  const name = words.map(capitalized).join("").slice(0, MAX_NAME)
  if (name === "") return "Unnamed"
  // Keywords are lower-case, but not every script has capital letters.
  return /^\p{ID_Start}/u.test(name) && !/^[a-z]/.test(name) ? name : `_${name}`
}

/** Assigns unique names. */
export class Names {
  readonly #taken: Set<string>

  constructor(reserved: readonly string[] = []) {
    this.#taken = new Set([...RESERVED, ...reserved])
  }

  /** Takes the first wish that is free, or the last one with a number. */
  take(...wishes: readonly [string, ...string[]]): string {
    let name = wishes.find((wish) => !this.#taken.has(wish))
    const last = wishes.at(-1) as string
    for (let count = 2; name === undefined; count++) {
      // `Issue2` could be the name of another type.
      const numbered = `${last}_${count}`
      if (!this.#taken.has(numbered)) name = numbered
    }
    this.#taken.add(name)
    return name
  }
}

/** A property key in an object type. */
export function propertyKey(key: string): string {
  return /^[A-Za-z_$][A-Za-z0-9_$]*$/.test(key) ? key : stringLiteral(key)
}

/** A string literal in double quotes; invisible characters are escaped. */
export function stringLiteral(text: string): string {
  return JSON.stringify(text).replaceAll(UNSEEN, escaped).replaceAll(SHAPELESS, escaped)
}

/** A text as the beginning of a template literal type. */
export function templateText(text: string): string {
  return stringLiteral(text).slice(1, -1).replaceAll('\\"', '"').replaceAll(/[`$]/g, "\\$&")
}

/** Invisible characters that change how a line looks, and unusual line terminators. */
export const UNSEEN: RegExp =
  // oxlint-disable-next-line no-control-regex -- control characters are what it matches
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF]/g

/** Further invisible characters. Some belong to emoji, so only literals escape them. */
const SHAPELESS = /[\p{Default_Ignorable_Code_Point}\uFFF9-\uFFFB]/gu

function escaped(char: string): string {
  const code = char.codePointAt(0) ?? 0
  const digits = code.toString(16).padStart(4, "0")
  return code > 0xffff ? `\\u{${digits}}` : `\\u${digits}`
}

function capitalized(word: string): string {
  const [first = ""] = word
  return first.toUpperCase() + word.slice(first.length)
}
