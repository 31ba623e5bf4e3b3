// The grammar of regular expressions, which has many small productions.
import { charSet, complement, DIGITS, NOT_NEWLINE, propertySet, SPACE, WORD } from "./char-set.ts"
import type { CharSet } from "./char-set.ts"

/** A parsed regular expression. `text` is always written so that it is legal under the `u` flag. */
export type RegexNode =
  | { readonly kind: "chars"; readonly set: CharSet; readonly text: string }
  | { readonly kind: "assertion"; readonly text: string }
  | { readonly kind: "backreference"; readonly text: string }
  | { readonly kind: "sequence"; readonly parts: readonly RegexNode[] }
  | { readonly kind: "choice"; readonly options: readonly RegexNode[] }
  | { readonly kind: "group"; readonly open: string; readonly body: RegexNode }
  | { readonly kind: "look"; readonly open: string; readonly body: RegexNode }
  | {
      readonly kind: "repeat"
      readonly body: RegexNode
      readonly min: number
      readonly max: number
      readonly text: string
    }

/** Maximum nesting in one pattern; no hand-written pattern has more. */
const MAX_DEPTH = 200

const SHORTHANDS = new Map<string, CharSet>([
  ["d", DIGITS],
  ["D", complement(DIGITS)],
  ["w", WORD],
  ["W", complement(WORD)],
  ["s", SPACE],
  ["S", complement(SPACE)],
])

const CONTROLS = new Map([
  ["t", 0x09],
  ["n", 0x0a],
  ["v", 0x0b],
  ["f", 0x0c],
  ["r", 0x0d],
])

/**
 * Parses a pattern that JavaScript accepts with or without the `u` flag; throws `SyntaxError` otherwise.
 *
 * Without the flag many slips are legal (`[\w-.]`, `\_`, a lone `}`); they are read as JavaScript reads them.
 */
export function parseRegex(pattern: string): RegexNode {
  return new Parser(pattern).parse()
}

/** Writes a parsed pattern so that it is legal under the `u` flag. */
export function printRegex(node: RegexNode): string {
  switch (node.kind) {
    case "chars":
    case "assertion":
    case "backreference":
      return node.text
    case "sequence":
      return node.parts.map(printRegex).join("")
    case "choice":
      return node.options.map(printRegex).join("|")
    case "group":
    case "look":
      return `${node.open}${printRegex(node.body)})`
    case "repeat": {
      const body = printRegex(node.body)
      // Only without the flag may an assertion be repeated.
      return `${node.body.kind === "look" ? `(?:${body})` : body}${node.text}`
    }
  }
}

class Parser {
  readonly #chars: string[]
  readonly #groups: number
  readonly #named: boolean
  #at = 0
  #depth = 0

  constructor(pattern: string) {
    this.#chars = [...pattern]
    const bare = pattern.replace(/\\[^]|\[(?:\\[^]|[^\\\]])*\]/g, "")
    this.#groups = (bare.match(/\((?!\?)|\(\?<(?![=!])/g) ?? []).length
    this.#named = /\(\?<(?![=!])/.test(bare)
  }

  parse(): RegexNode {
    const node = this.#choice()
    if (this.#at < this.#chars.length) throw new SyntaxError("unmatched )")
    return node
  }

  #choice(): RegexNode {
    if (++this.#depth > MAX_DEPTH) throw new SyntaxError("too many nested groups")
    const options = [this.#sequence()]
    while (this.#take("|")) options.push(this.#sequence())
    this.#depth--
    return options.length === 1 ? (options[0] as RegexNode) : { kind: "choice", options }
  }

  #sequence(): RegexNode {
    const parts: RegexNode[] = []
    while (this.#at < this.#chars.length && !"|)".includes(this.#peek())) {
      const atom = this.#atom()
      parts.push(this.#quantified(atom))
    }
    return parts.length === 1 ? (parts[0] as RegexNode) : { kind: "sequence", parts }
  }

  #quantified(body: RegexNode): RegexNode {
    const match = this.#match(/^(?:[*+?]|\{\d+(?:,\d*)?\})\??/)
    if (match === undefined) return body
    const text = match[0]
    if (text.startsWith("*")) return { kind: "repeat", body, min: 0, max: Infinity, text }
    if (text.startsWith("+")) return { kind: "repeat", body, min: 1, max: Infinity, text }
    if (text.startsWith("?")) return { kind: "repeat", body, min: 0, max: 1, text }
    const [min = "0", max] = text.slice(1, text.indexOf("}")).split(",")
    const upper = max === undefined ? Number(min) : max === "" ? Infinity : Number(max)
    return { kind: "repeat", body, min: Number(min), max: upper, text }
  }

  #atom(): RegexNode {
    const char = this.#next()
    switch (char) {
      case "^":
      case "$":
        return { kind: "assertion", text: char }
      case ".":
        return { kind: "chars", set: NOT_NEWLINE, text: char }
      case "(":
        return this.#group()
      case "[":
        return this.#class()
      case "\\":
        return this.#escape()
      case "*":
      case "+":
      case "?":
        throw new SyntaxError("nothing to repeat")
      default:
        return literal(char.codePointAt(0) as number)
    }
  }

  #group(): RegexNode {
    const match = this.#match(/^\?(?:[:=!]|<[=!]|<[^>]+>|[a-z]*(?:-[a-z]*)?:)/)
    const open = `(${match?.[0] ?? ""}`
    const body = this.#choice()
    if (!this.#take(")")) throw new SyntaxError("unterminated group")
    return { kind: /^\(\?<?[=!]$/.test(open) ? "look" : "group", open, body }
  }

  #escape(): RegexNode {
    const match = this.#match(/^(?:[bB]|k<[^>]+>|[1-9]\d*|[pP]\{[^}]+\})/)
    if (match === undefined) {
      const { set, text, code } = this.#charEscape(false)
      return code === undefined ? { kind: "chars", set, text } : literal(code)
    }
    const text = `\\${match[0]}`
    if (match[0] === "b" || match[0] === "B") return { kind: "assertion", text }
    if (match[0].startsWith("k") && this.#named) return { kind: "backreference", text }
    if (Number(match[0]) <= this.#groups) return { kind: "backreference", text }
    if (/^p/i.test(match[0])) return { kind: "chars", set: propertySet(text), text }
    this.#at -= match[0].length
    const { code } = this.#charEscape(false)
    return literal(code as number)
  }

  /** An escape for characters, after its backslash; `code` when it stands for exactly one. */
  #charEscape(inClass: boolean): { set: CharSet; text: string; code?: number } {
    const one = (code: number): { set: CharSet; text: string; code: number } => ({
      set: [[code, code]],
      text: "",
      code,
    })
    const hex = this.#match(/^(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))/)
    if (hex !== undefined) return one(Number.parseInt(hex[1] ?? hex[2] ?? hex[3] ?? "", 16))
    const octal = this.#match(/^(?:[0-3][0-7]{0,2}|[4-7][0-7]?)/)
    if (octal !== undefined) return one(Number.parseInt(octal[0], 8))
    const control = this.#match(/^c([A-Za-z])/)
    if (control !== undefined) return one((control[1] as string).charCodeAt(0) % 32)
    const property = inClass ? this.#match(/^[pP]\{[^}]+\}/) : undefined
    if (property !== undefined) {
      return { set: propertySet(`\\${property[0]}`), text: `\\${property[0]}` }
    }
    // A backslash before a "c" that starts no control escape stands for itself.
    if (this.#peek() === "c") return one(0x5c)
    const char = this.#next()
    if (char === "") throw new SyntaxError("\\ at the end")
    const shorthand = SHORTHANDS.get(char)
    if (shorthand !== undefined) return { set: shorthand, text: `\\${char}` }
    if (inClass && char === "b") return one(0x08)
    return one(CONTROLS.get(char) ?? (char.codePointAt(0) as number))
  }

  #class(): RegexNode {
    const negated = this.#take("^")
    const ranges: Array<readonly [number, number]> = []
    let text = negated ? "[^" : "["
    while (!this.#take("]")) {
      const from = this.#classAtom()
      const dash = this.#peek() === "-" && !"]".includes(this.#peek(1))
      if (!dash) {
        ranges.push(...from.set)
        text += from.code === undefined ? from.text : printInClass(from.code)
        continue
      }
      this.#at++
      const to = this.#classAtom()
      if (from.code !== undefined && to.code !== undefined) {
        if (from.code > to.code) throw new SyntaxError("range out of order")
        ranges.push([from.code, to.code])
        text += `${printInClass(from.code)}-${printInClass(to.code)}`
        continue
      }
      // A dash beside a shorthand, as in [\w-.], is a dash.
      ranges.push(...from.set, [0x2d, 0x2d], ...to.set)
      for (const side of [from, { code: 0x2d, text: "" }, to]) {
        text += side.code === undefined ? side.text : printInClass(side.code)
      }
    }
    const set = charSet(ranges)
    return { kind: "chars", set: negated ? complement(set) : set, text: `${text}]` }
  }

  #classAtom(): { set: CharSet; text: string; code?: number } {
    const char = this.#next()
    if (char === "") throw new SyntaxError("unterminated character class")
    if (char === "\\") return this.#charEscape(true)
    const code = char.codePointAt(0) as number
    return { set: [[code, code]], text: "", code }
  }

  #match(regexp: RegExp): RegExpExecArray | undefined {
    // Every production that is matched this way is ASCII and short, except names, which are rare.
    const match = regexp.exec(this.#chars.slice(this.#at, this.#at + 64).join(""))
    if (match === null) return undefined
    this.#at += [...match[0]].length
    return match
  }

  #peek(ahead = 0): string {
    return this.#chars[this.#at + ahead] ?? ""
  }

  #next(): string {
    const char = this.#peek()
    if (char !== "") this.#at++
    return char
  }

  #take(char: string): boolean {
    if (this.#peek() !== char) return false
    this.#at++
    return true
  }
}

function literal(code: number): RegexNode {
  return { kind: "chars", set: [[code, code]], text: printChar(code, "^$\\.*+?()[]{}|/") }
}

function printInClass(code: number): string {
  return printChar(code, "^\\[]-")
}

function printChar(code: number, escaped: string): string {
  if (code < 0x20 || code === 0x7f || (code >= 0x80 && code <= 0xa0) || isSurrogate(code)) {
    return `\\u${code.toString(16).padStart(4, "0")}`
  }
  const char = String.fromCodePoint(code)
  return escaped.includes(char) ? `\\${char}` : char
}

function isSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdfff
}
