import { cutText } from "./message-text.ts"

/** How deep a value is printed; what is deeper is only hinted at. */
const MAX_DEPTH = 40

/**
 * A value as JSON on one line, at most so many characters of it, and with fractions of ten digits.
 *
 * `JSON.stringify` would print megabytes to show a line of them, and overflows on deep values.
 */
export function printShort(value: unknown, limit: number): string {
  const printer = new Printer(limit)
  printer.print(value, 0)
  return printer.text
}

/** Prints until there is no room. */
class Printer {
  text = ""
  readonly #limit: number

  constructor(limit: number) {
    this.#limit = limit
  }

  print(value: unknown, depth: number): void {
    if (typeof value === "string") this.#add(quoted(value, this.#limit - this.text.length))
    else if (typeof value === "number") this.#add(rounded(value))
    else if (typeof value !== "object" || value === null) this.#add(String(value))
    else if (depth >= MAX_DEPTH) this.#add("…")
    else if (Array.isArray(value)) this.#all("[", value.entries(), "]", depth)
    else this.#all("{", Object.entries(value), "}", depth)
  }

  #all(
    open: string,
    entries: Iterable<readonly [string | number, unknown]>,
    close: string,
    depth: number,
  ): void {
    this.#add(open)
    let isFirst = true
    for (const [key, value] of entries) {
      if (this.#isFull) return
      if (!isFirst) this.#add(", ")
      isFirst = false
      if (typeof key === "string") this.#add(`${quoted(key, this.#limit)}: `)
      this.print(value, depth + 1)
    }
    this.#add(close)
  }

  get #isFull(): boolean {
    return this.text.length >= this.#limit
  }

  #add(text: string): void {
    if (this.#isFull) return
    const room = this.#limit - this.text.length
    this.text += text.length <= room ? text : cutText(text, room - 1)
  }
}

/** A number without the last digits of a fraction, which are noise: 101.34999999999999 as 101.35. */
function rounded(value: number): string {
  return String(Number.isInteger(value) ? value : Number(value.toPrecision(10)))
}

function quoted(text: string, room: number): string {
  // One more than there is room for, so that what is cut looks cut.
  return JSON.stringify(text.length > room ? text.slice(0, Math.max(0, room) + 1) : text)
}
