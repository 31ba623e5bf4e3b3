// Texts for the patterns that schemas really have: `^[a-z]{2,5}-\d+$`. What is beyond that is left.

const WORDS = ["a", "A", "1", "abc123", "example-1", "1.0.0", "/example", "main", "#000000"]
// A malicious pattern is slow on long texts, but not on short ones.
const MAX_TESTED = 24
const MAX_TEXT = 200

/** A text that a pattern accepts; `undefined` when none is found. */
export function textLike(pattern: string, least = 0, most: number = MAX_TEXT): string | undefined {
  const expression = compiled(pattern)
  if (expression === undefined) return undefined
  const candidates = ["example", written(pattern, 1), written(pattern, least), ...WORDS]
  return candidates.find(
    (text): text is string =>
      text !== undefined &&
      text.length >= least &&
      text.length <= Math.min(most, MAX_TESTED + least) &&
      expression.test(text),
  )
}

function compiled(pattern: string): RegExp | undefined {
  try {
    return new RegExp(pattern, "u")
  } catch {
    return undefined
  }
}

/** Reads a pattern once from left to right, and writes the first thing that each part allows. */
function written(pattern: string, repeat: number): string | undefined {
  const writer = new Writer(pattern, Math.min(repeat, MAX_TEXT))
  const text = writer.alternatives()
  return writer.isDone && text.length <= MAX_TEXT ? text : undefined
}

class Writer {
  readonly #pattern: string
  /** How often something is written that may be there any number of times. */
  readonly #repeat: number
  #at = 0
  #depth = 0

  constructor(pattern: string, repeat: number) {
    this.#pattern = pattern
    this.#repeat = Math.max(1, repeat)
  }

  get isDone(): boolean {
    return this.#at >= this.#pattern.length
  }

  /** The first of the alternatives that `|` separates; the others are skipped. */
  alternatives(): string {
    if (++this.#depth > 20) this.#at = this.#pattern.length
    const [first = "", ...others] = this.#branches()
    this.#depth--
    return first === "" ? (others[0] ?? "") : first
  }

  #branches(): readonly string[] {
    const branches = [this.#sequence()]
    while (this.#take("|")) branches.push(this.#sequence())
    return branches
  }

  #sequence(): string {
    let text = ""
    while (!this.isDone && this.#peek() !== "|" && this.#peek() !== ")") {
      const atom = this.#atom()
      text += atom.repeat(this.#times())
      if (text.length > MAX_TEXT) this.#at = this.#pattern.length
    }
    return text
  }

  #atom(): string {
    const char = this.#next()
    switch (char) {
      case "^":
      case "$":
        return ""
      case "(":
        return this.#group()
      case "[":
        return this.#set()
      case "\\":
        return this.#escape()
      case ".":
        return "a"
      default:
        return char
    }
  }

  #group(): string {
    if (this.#take("?")) {
      const kind = this.#next()
      // A look around writes nothing.
      if (kind === "=" || kind === "!") return this.#passed()
      if (kind === "<") {
        if (this.#peek() === "=" || this.#peek() === "!") return this.#passed()
        while (!this.isDone && this.#next() !== ">");
      }
    }
    const text = this.alternatives()
    this.#take(")")
    return text
  }

  #passed(): string {
    this.alternatives()
    this.#take(")")
    return ""
  }

  /** The first character of a set; of one that says what is not meant, the first letter or digit that is. */
  #set(): string {
    const isNegated = this.#take("^")
    const members: string[] = []
    while (!this.isDone && this.#peek() !== "]") {
      const char = this.#next()
      members.push(char === "\\" ? this.#escape() : char)
    }
    this.#take("]")
    const useful = members.find((member) => /[a-z0-9]/i.test(member)) ?? members[0] ?? "a"
    return isNegated
      ? (["a", "0", "-", "_", " "].find((one) => !members.includes(one)) ?? "a")
      : useful
  }

  #escape(): string {
    const char = this.#next()
    switch (char) {
      case "d":
        return "1"
      case "w":
      case "S":
      case "D":
        return "a"
      case "s":
        return " "
      case "W":
        return "-"
      case "b":
      case "B":
        return ""
      case "p":
      case "P":
        while (!this.isDone && this.#next() !== "}");
        return "a"
      default:
        return char
    }
  }

  #times(): number {
    const braces = /^\{(\d{1,4})(?:,(\d{0,4}))?\}/.exec(this.#pattern.slice(this.#at))
    let times = 1
    if (braces !== null) {
      this.#at += braces[0].length
      const [, least = "0", most] = braces
      times = Math.max(Number(least), 1)
      // `{0,0}` is rare, but it is written.
      if (most !== undefined && most !== "") times = Math.min(times, Number(most))
    } else if (this.#take("+") || this.#take("*")) times = this.#repeat
    else this.#take("?")
    this.#take("?")
    return times
  }

  #peek(): string | undefined {
    return this.#pattern[this.#at]
  }

  #next(): string {
    return this.#pattern[this.#at++] ?? ""
  }

  #take(char: string): boolean {
    if (this.#peek() !== char) return false
    this.#at++
    return true
  }
}
