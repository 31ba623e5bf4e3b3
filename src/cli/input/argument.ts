import { cutText } from "../../internal/message-text.ts"
import { UsageError } from "../model.ts"

/** A step into a value: a key, the index of an item, or a new item at the end. */
export type Step = string | number | typeof APPEND

/** `labels[]=bug` adds an item. */
export const APPEND: unique symbol = Symbol("a new item")

/** A parsed argument `key=value`. */
export interface InputArgument {
  /** As typed. */
  readonly key: string
  readonly steps: readonly Step[]
  /** `text` is converted according to the schema, `json` is parsed as JSON. */
  readonly as: "text" | "json"
  /** Source of the value: the argument, a file, or stdin. */
  readonly from: "argument" | "file" | "stdin"
  /** The value, or the name of the file. */
  readonly value: string
}

// Enough for a typed list, and too small to exhaust memory.
const MAX_INDEX = 9999

/** Parses an argument: `a.b=text`, `a[0]=text`, `a[]=text`, `a:=json`, `a=@file`, `a=@-`, `a=@@text`. */
export function parseArgument(text: string): InputArgument {
  const at = operatorAt(text)
  if (at <= 0) throw notAnInput(text)
  const isJson = text[at - 1] === ":" && text[at - 2] !== "\\"
  const key = text.slice(0, isJson ? at - 1 : at)
  if (key === "") throw notAnInput(text)
  const value = text.slice(at + 1)
  const common = { key, steps: parseKey(key), as: isJson ? ("json" as const) : ("text" as const) }
  if (value === "@-") return { ...common, from: "stdin", value: "" }
  if (value.startsWith("@@")) return { ...common, from: "argument", value: value.slice(1) }
  if (!value.startsWith("@")) return { ...common, from: "argument", value }
  if (value === "@") {
    throw new UsageError(
      `"${text}": a file's name is missing after "@". For the text itself: ${key}=@@`,
    )
  }
  return { ...common, from: "file", value: value.slice(1) }
}

/** Parses a key into steps, separated by dots and brackets; a backslash or `["…"]` keeps a dot in a name. */
export function parseKey(key: string): readonly Step[] {
  const steps: Step[] = []
  let name = ""
  let isNamed = true
  const end = (): void => {
    if (isNamed && name === "") throw wrongKey(key, "a name is missing")
    if (isNamed) steps.push(name)
    name = ""
  }
  for (let at = 0; at < key.length; at++) {
    const char = key[at] as string
    if (char === "\\" && at + 1 < key.length) {
      name += key[++at] as string
    } else if (char === ".") {
      end()
      isNamed = true
    } else if (char === "[") {
      end()
      const { step, next } = bracket(key, at)
      steps.push(step)
      at = next
      isNamed = false
    } else {
      if (!isNamed) throw wrongKey(key, `a dot is missing before "${char}"`)
      name += char
    }
  }
  end()
  if (typeof steps[0] !== "string") throw wrongKey(key, "it has to begin with a name")
  return steps
}

function bracket(key: string, start: number): { readonly step: Step; readonly next: number } {
  if (key[start + 1] === '"') return quoted(key, start)
  const end = key.indexOf("]", start)
  if (end < 0) throw wrongKey(key, '"]" is missing')
  const inside = key.slice(start + 1, end)
  if (inside === "") return { step: APPEND, next: end }
  if (!/^\d{1,9}$/.test(inside)) {
    // `filter[name]`, as in query strings.
    return { step: inside, next: end }
  }
  if (Number(inside) > MAX_INDEX) throw wrongKey(key, `an item's number is at most ${MAX_INDEX}`)
  return { step: Number(inside), next: end }
}

function quoted(key: string, start: number): { readonly step: string; readonly next: number } {
  const match = /^\["((?:[^"\\]|\\.)*)"\]/.exec(key.slice(start))
  if (match === null) throw wrongKey(key, '"] is missing')
  return { step: (match[1] as string).replace(/\\(.)/g, "$1"), next: start + match[0].length - 1 }
}

/** The index of the `=` between key and value: the first that is not escaped or quoted. */
function operatorAt(text: string): number {
  let isQuoted = false
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (char === "\\") at++
    else if (char === '"' && (isQuoted || text[at - 1] === "[")) isQuoted = !isQuoted
    else if (char === "=" && !isQuoted) return at
  }
  return -1
}

function notAnInput(text: string): UsageError {
  const shortText = cutText(text, 60)
  const cure = /^\s*[{[]/.test(text)
    ? `Give JSON with --input '${shortText}'.`
    : "Write key=value, key:=json, key=@file or --input file.json."
  return new UsageError(`"${shortText}" is not an input. ${cure}`)
}

function wrongKey(key: string, reason: string): UsageError {
  return new UsageError(
    `"${key}" is not the name of an input: ${reason}. Write a.b, a[0], a[] or a["b.c"].`,
  )
}
