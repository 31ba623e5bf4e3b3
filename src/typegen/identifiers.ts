// Names and texts from elsewhere, as TypeScript can hold them.

/** Names that mean something where types are declared. */
const RESERVED: ReadonlySet<string> = new Set(["CallError", "Operations", "RegisteredOperations"])

const MAX_NAME = 80

/**
 * Letters that every compiler takes in a name.
 *
 * Which others they take depends on the Unicode that they were built with.
 */
const WORD =
  /(?:[A-Za-z0-9]|(?=[\u00C0-\uFFDC])(?=\p{L})[\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Hebrew}\p{sc=Arabic}\p{sc=Devanagari}\p{sc=Thai}\p{sc=Hangul}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Han}])+/gu

/** A text as the name of a type, in PascalCase: `NullableSimpleUser` for `nullable-simple-user`. */
export function typeName(text: string): string {
  const words = text.normalize("NFC").match(WORD) ?? []
  const name = words.map(capitalized).join("").slice(0, MAX_NAME)
  if (name === "") return "Unnamed"
  // Words of the language are in small letters, but not every script has capital ones.
  return /^\p{ID_Start}/u.test(name) && !/^[a-z]/.test(name) ? name : `_${name}`
}

/** Gives out names, each once. */
export class Names {
  readonly #taken: Set<string>

  constructor(reserved: readonly string[] = []) {
    this.#taken = new Set([...RESERVED, ...reserved])
  }

  /** The first of the wishes that is free, or the last of them with a number. */
  take(...wishes: readonly [string, ...string[]]): string {
    let name = wishes.find((wish) => !this.#taken.has(wish))
    const last = wishes.at(-1) as string
    for (let count = 2; name === undefined; count++) {
      // `Issue2` could be somebody's own name.
      const numbered = `${last}_${count}`
      if (!this.#taken.has(numbered)) name = numbered
    }
    this.#taken.add(name)
    return name
  }
}

/** A key as it stands in a type of an object. */
export function propertyKey(key: string): string {
  return /^[A-Za-z_$][A-Za-z0-9_$]*$/.test(key) ? key : stringLiteral(key)
}

/** A text as a literal in double quotes, with nothing in it that is not seen. */
export function stringLiteral(text: string): string {
  return JSON.stringify(text).replaceAll(UNSEEN, escaped).replaceAll(SHAPELESS, escaped)
}

/** A text as the beginning of a template literal type. */
export function templateText(text: string): string {
  return stringLiteral(text).slice(1, -1).replaceAll('\\"', '"').replaceAll(/[`$]/g, "\\$&")
}

/** Characters that change how a line looks without being seen, and ends of lines that few know. */
export const UNSEEN: RegExp =
  // oxlint-disable-next-line no-control-regex -- those are what it is about
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF]/g

/** Further characters without a shape of their own. Some belong to emoji, so that only literals escape them. */
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
