/** The maximum length of a line, which contains a number, a status or an error. */
const MAX_LINE_LENGTH = 65_536
const MAX_WORD_LENGTH = 16
const MAX_DEPTH = 16
const CR = 13
const LF = 10

/** The types of values that follow the first word of a subscription message: texts, numbers, or null. */
const MESSAGES: Readonly<Record<string, RegExp>> = {
  message: /^\$\$\$$/,
  pmessage: /^\$\$\$\$$/,
  subscribe: /^\$\$:$/,
  psubscribe: /^\$\$:$/,
  unsubscribe: /^\$[$_]:$/,
  punsubscribe: /^\$[$_]:$/,
}

/**
 * Validates data of a server before `ioredis` reads it, in both versions of the protocol.
 *
 * `ioredis` does not expect damaged data: it throws an error that cannot be caught.
 */
export class RespCheck {
  readonly #isListening: boolean
  /** Open lists, with the number of values that each still misses. */
  readonly #open: number[] = []
  #line = ""
  /** Remaining bytes of a text, including the line break after it. */
  #left = 0
  #isText = false
  /** The types of the values of the current list, and its first text. */
  #types = ""
  #word = ""
  #isBroken = false

  /** A subscribed connection receives no numbers and no empty answers. */
  constructor(isListening: boolean) {
    this.#isListening = isListening
  }

  /** Checks further bytes; returns whether all data so far is valid. */
  accept(bytes: Uint8Array): boolean {
    for (let at = 0; at < bytes.length && !this.#isBroken;) {
      at = this.#isText ? this.#readText(bytes, at) : this.#readLine(bytes, at)
    }
    return !this.#isBroken
  }

  #readText(bytes: Uint8Array, start: number): number {
    const end = Math.min(bytes.length, start + this.#left)
    for (let at = start; at < end; at++, this.#left--) {
      if (this.#left > 2) {
        // Only the first word of a list is read.
        if (this.#types !== "$" || this.#word.length >= MAX_WORD_LENGTH) {
          const skipped = Math.min(end - at, this.#left - 2) - 1
          at += skipped
          this.#left -= skipped
        } else this.#word += String.fromCharCode(bytes[at] as number)
      } else if (bytes[at] !== (this.#left === 2 ? CR : LF)) this.#isBroken = true
    }
    if (this.#left === 0) {
      this.#isText = false
      this.#ended()
    }
    return end
  }

  #readLine(bytes: Uint8Array, start: number): number {
    for (let at = start; at < bytes.length; at++) {
      this.#line += String.fromCharCode(bytes[at] as number)
      if (bytes[at] === LF) {
        this.#take(this.#line)
        this.#line = ""
        return at + 1
      }
      if (this.#line.length > MAX_LINE_LENGTH) this.#isBroken = true
      if (this.#isBroken) return at
    }
    return bytes.length
  }

  #take(line: string): void {
    const type = line[0] ?? ""
    const rest = line.slice(1, -2)
    if (!line.endsWith("\r\n") || rest.includes("\r")) this.#isBroken = true
    else if ("+-,(#".includes(type)) this.#value(type)
    else if (type === ":") this.#value(type, /^[+-]?\d{1,19}$/.test(rest))
    else if (type === "_") this.#value(type, rest === "")
    else if (!/^(-1|\d{1,10})$/.test(rest)) this.#isBroken = true
    else if (rest === "-1") this.#value("_", "$*".includes(type))
    else if ("$!=".includes(type)) {
      this.#note("$")
      this.#left = Number(rest) + 2
      this.#isText = true
    } else this.#begin(type, Number(rest))
  }

  #value(type: string, isSound = true): void {
    // A subscribed connection sends no command with such an answer.
    const isOdd = this.#isListening && this.#open.length === 0 && ":_#,(".includes(type)
    if (!isSound || isOdd) this.#isBroken = true
    this.#note(type)
    this.#ended()
  }

  #begin(type: string, count: number): void {
    const values = type === "%" ? 2 * count : count
    const isOuter = this.#open.length === 0
    const isEmpty = values === 0 && isOuter && this.#isListening
    if (!"*>%~".includes(type) || isEmpty || this.#open.length >= MAX_DEPTH) {
      this.#isBroken = true
      return
    }
    if (isOuter) {
      this.#types = ""
      this.#word = ""
    } else this.#note("*")
    this.#open.push(values)
    if (values === 0) this.#close()
  }

  #note(type: string): void {
    if (this.#open.length === 1 && this.#types.length <= 4) this.#types += type
    else if (this.#open.length === 0) this.#types = ""
  }

  /** Handles the end of a value, and of the lists that end with it. */
  #ended(): void {
    const depth = this.#open.length - 1
    if (depth < 0) return
    const left = (this.#open[depth] as number) - 1
    this.#open[depth] = left
    if (left === 0) this.#close()
  }

  #close(): void {
    this.#open.pop()
    if (this.#open.length > 0) this.#ended()
    else if (this.#isListening && !this.#isMessage()) this.#isBroken = true
  }

  #isMessage(): boolean {
    if (!/^[$+%]/.test(this.#types)) return false
    const expected = Object.hasOwn(MESSAGES, this.#word) ? MESSAGES[this.#word] : undefined
    return expected === undefined || expected.test(this.#types)
  }
}
