// A parser for JSON with comments that records the place of each part. Its errors quote nothing of the text.

import { locateIn, type LocatedData, type LocatedNode, placeAt, ParseError } from "./located.ts"

const MAX_DEPTH = 200
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WORDS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ["true", true],
  ["false", false],
  ["null", null],
])

/** Parses JSON with comments and trailing commas. Throws a `ParseError`. */
export function readJsonc(text: string): LocatedData {
  const root: LocatedNode = { at: 0, children: new Map() }
  const value = new Reader(text).document(root)
  return { value, where: locateIn(text, root) }
}

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  document(root: LocatedNode): unknown {
    if (this.#text.startsWith("\uFEFF")) this.#at = 1
    this.#blank()
    if (this.#at >= this.#text.length) throw new ParseError("is empty", undefined)
    const value = this.#value(root, 0)
    this.#blank()
    if (this.#at < this.#text.length) this.#fail("has something after its end")
    return value
  }

  #value(node: LocatedNode, depth: number): unknown {
    if (depth > MAX_DEPTH) this.#fail(`is nested deeper than ${MAX_DEPTH} levels`)
    switch (this.#peek()) {
      case "{":
        return this.#object(node, depth)
      case "[":
        return this.#list(node, depth)
      case '"':
        return this.#string()
    }
    const word = this.#word()
    return word === undefined ? this.#number() : WORDS.get(word)
  }

  #object(node: LocatedNode, depth: number): unknown {
    // `fromEntries` keeps a member called `__proto__`; an assignment would change the prototype.
    const members = new Map<string, unknown>()
    this.#at++
    for (;;) {
      this.#blank()
      if (this.#take("}")) return Object.fromEntries(members)
      if (this.#peek() !== '"') this.#fail(`needs a name in quotation marks, or "}", here`)
      const at = this.#at
      const key = this.#string()
      if (members.has(key)) {
        this.#at = at
        this.#fail("has a name twice in one object: the second one is here")
      }
      this.#blank()
      if (!this.#take(":")) this.#fail(`needs ":" after a name, here`)
      this.#blank()
      const child: LocatedNode = { at, children: new Map() }
      node.children.set(key, child)
      members.set(key, this.#value(child, depth + 1))
      this.#blank()
      if (!this.#take(",") && this.#peek() !== "}") this.#fail(`needs "," or "}" here`)
    }
  }

  #list(node: LocatedNode, depth: number): unknown {
    const out: unknown[] = []
    this.#at++
    for (;;) {
      this.#blank()
      if (this.#take("]")) return out
      const child: LocatedNode = { at: this.#at, children: new Map() }
      node.children.set(String(out.length), child)
      out.push(this.#value(child, depth + 1))
      this.#blank()
      if (!this.#take(",") && this.#peek() !== "]") this.#fail(`needs "," or "]" here`)
    }
  }

  #string(): string {
    const start = this.#at
    let end = start + 1
    while (end < this.#text.length && !/["\n]/.test(this.#text.charAt(end))) {
      end += this.#text.charAt(end) === "\\" ? 2 : 1
    }
    if (this.#text.charAt(end) !== '"') this.#fail("has a text that does not end on its line")
    try {
      const value = JSON.parse(this.#text.slice(start, end + 1)) as string
      this.#at = end + 1
      return value
    } catch {
      return this.#fail("has a text with a wrong backslash, or a character that must be escaped")
    }
  }

  #number(): number {
    const digits = this.#match(NUMBER)
    if (digits === undefined) this.#fail("needs a value here: a text needs quotation marks")
    return Number(digits)
  }

  #word(): string | undefined {
    for (const word of WORDS.keys()) {
      if (!this.#text.startsWith(word, this.#at)) continue
      if (/\w/.test(this.#text.charAt(this.#at + word.length))) continue
      this.#at += word.length
      return word
    }
    return undefined
  }

  /** Skips white space and comments. */
  #blank(): void {
    for (;;) {
      while (/\s/.test(this.#peek())) this.#at++
      if (this.#text.startsWith("//", this.#at)) {
        const end = this.#text.indexOf("\n", this.#at)
        this.#at = end === -1 ? this.#text.length : end
      } else if (this.#text.startsWith("/*", this.#at)) {
        const end = this.#text.indexOf("*/", this.#at + 2)
        if (end === -1) this.#fail("has a comment that does not end")
        this.#at = end + 2
      } else {
        return
      }
    }
  }

  #peek(): string {
    return this.#text.charAt(this.#at)
  }

  #take(character: string): boolean {
    if (this.#peek() !== character) return false
    this.#at++
    return true
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const matched = pattern.exec(this.#text)?.[0]
    if (matched !== undefined) this.#at += matched.length
    return matched
  }

  #fail(message: string): never {
    throw new ParseError(message, placeAt(this.#text, this.#at))
  }
}
