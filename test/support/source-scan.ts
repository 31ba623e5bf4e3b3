/** What a source file imports: one entry per import, export-from or `import()`. */
export interface ImportReference {
  /** The text between the quotes; `undefined` for `import(expression)`. */
  readonly specifier: string | undefined
  readonly kind: "static" | "dynamic"
  /**
   * Erased on build: `import type`, `export type … from`, `typeof import()`.
   *
   * `import { type A }` is not: under `verbatimModuleSyntax` the module is still loaded.
   */
  readonly typeOnly: boolean
  readonly line: number
}

/** An identifier of the platform used in code. */
export interface GlobalUse {
  readonly name: string
  readonly line: number
}

/**
 * The text with comments, string contents, template text and regular expressions blanked out.
 *
 * Length, offsets and line breaks stay, and so do the quotes, so that a match in the masked text can be
 * read back from the original.
 */
export function maskSource(
  source: string,
  onRegExp: (literal: string) => void = () => undefined,
): string {
  const out = source.split("")
  const blank = (from: number, to: number): void => {
    for (let at = from; at < to; at++) if (out[at] !== "\n") out[at] = " "
  }
  // One number per open `${`: how many braces are open inside it.
  const templateDepths: number[] = []
  // The last character of code seen, and where it is: decides whether a slash divides.
  let last = -1
  let at = source.startsWith("#!") ? endOfLine(source, 0) : 0
  blank(0, at)

  while (at < source.length) {
    const char = source.charAt(at)
    let end = at + 1
    if (source.startsWith("//", at)) {
      end = endOfLine(source, at)
      blank(at, end)
    } else if (source.startsWith("/*", at)) {
      const close = source.indexOf("*/", at + 2)
      end = close === -1 ? source.length : close + 2
      blank(at, end)
    } else if (char === '"' || char === "'") {
      end = endOfString(source, at)
      blank(at + 1, end - 1)
      last = end - 1
    } else if (char === "`" || (char === "}" && templateDepths.at(-1) === 0)) {
      if (char === "}") templateDepths.pop()
      end = endOfTemplateText(source, at)
      const opensExpression = source.charAt(end - 1) === "{"
      if (opensExpression) templateDepths.push(0)
      blank(at + 1, opensExpression ? end - 2 : end - 1)
      last = end - 1
    } else if (char === "/" && startsRegExp(source, last)) {
      end = endOfRegExp(source, at)
      onRegExp(source.slice(at, end))
      if (end > at + 1) blank(at + 1, end - 1)
      last = end - 1
    } else if (char.trim() !== "") {
      const depth = templateDepths.length - 1
      if (depth >= 0 && char === "{") templateDepths[depth]! += 1
      if (depth >= 0 && char === "}") templateDepths[depth]! -= 1
      last = at
    }
    at = end
  }
  return out.join("")
}

/** Every import of a file, in the order of the text. */
export function findImports(source: string): ImportReference[] {
  const masked = maskSource(source)
  const found: (ImportReference & { at: number })[] = []
  const add = (
    match: RegExpExecArray,
    quoted: boolean,
    kind: ImportReference["kind"],
    typeOnly: boolean,
  ): void => {
    const start = match.index + match[0].length
    const specifier = quoted
      ? source.slice(start, masked.indexOf(source.charAt(start - 1), start))
      : undefined
    found.push({ specifier, kind, typeOnly, line: lineAt(source, match.index), at: match.index })
  }

  for (const match of masked.matchAll(FROM)) add(match, true, "static", match[2] !== undefined)
  for (const match of masked.matchAll(SIDE_EFFECT)) add(match, true, "static", false)
  for (const match of masked.matchAll(DYNAMIC)) {
    add(match, match[2] !== undefined, "dynamic", match[1] !== undefined)
  }
  return found.toSorted((a, b) => a.at - b.at).map(({ at: _, ...reference }) => reference)
}

/** Where code uses one of the named globals, directly or through `globalThis`. */
export function findGlobals(source: string, names: readonly string[]): GlobalUse[] {
  const masked = maskSource(source)
  const name = `(${names.join("|")})(?![\\w$])`
  const uses: (GlobalUse & { at: number })[] = []
  const add = (global: string | undefined, at: number): void => {
    if (global !== undefined) uses.push({ name: global, line: lineAt(source, at), at })
  }

  for (const match of masked.matchAll(new RegExp(`(?<![\\w$#]|(?<!\\.\\.)\\.)${name}`, "g"))) {
    if (!isPropertyName(masked, match.index, match[0].length)) add(match[1], match.index)
  }
  for (const match of masked.matchAll(new RegExp(`\\bglobalThis\\s*\\??\\.\\s*${name}`, "g"))) {
    add(match[1], match.index)
  }
  for (const match of masked.matchAll(/\bglobalThis\s*(?:\?\.\s*)?\[\s*["'`]/g)) {
    const rest = source.slice(match.index + match[0].length)
    add(new RegExp(`^${name}`).exec(rest)?.[1], match.index)
  }
  return uses.toSorted((a, b) => a.at - b.at).map(({ at: _, ...use }) => use)
}

const CLAUSE = String.raw`(?:[\w$]+\s*,?\s*)?(?:\*(?:\s*as\s+[\w$]+)?|\{[^{}]*\})?`
// `import type from "x"` binds a default import that is called "type".
const TYPE = String.raw`(type\b(?!\s*,|\s+from\s*["']))?`
const FROM = new RegExp(
  String.raw`(?<![\w$.])(import|export)\b\s*${TYPE}\s*${CLAUSE}\s*(?<![\w$])from\s*["']`,
  "g",
)
const SIDE_EFFECT = /(?<![\w$.])import\s*["']/g
const DYNAMIC = /(?:(?<![\w$.])(typeof)\s+)?(?<![\w$.])import\s*\(\s*(["'`](?!\s*\$\{))?/g

// After these words a slash starts a regular expression; after any other word it divides.
const BEFORE_EXPRESSION =
  /(?<![\w$.])(?:return|typeof|case|in|of|delete|void|throw|new|else|do|await|yield|instanceof)$/

function startsRegExp(source: string, last: number): boolean {
  if (last < 0) return true
  const char = source.charAt(last)
  if (/[\w$]/.test(char))
    return BEFORE_EXPRESSION.test(source.slice(Math.max(0, last - 12), last + 1))
  return !/[)\]"'`]/.test(char)
}

function endOfLine(source: string, at: number): number {
  const end = source.indexOf("\n", at)
  return end === -1 ? source.length : end
}

function endOfString(source: string, at: number): number {
  const quote = source.charAt(at)
  for (let end = at + 1; end < source.length; end++) {
    const char = source.charAt(end)
    if (char === "\\") end++
    else if (char === quote) return end + 1
  }
  return source.length
}

/** Behind the closing backtick, or behind the `${` that opens an expression. */
function endOfTemplateText(source: string, at: number): number {
  for (let end = at + 1; end < source.length; end++) {
    const char = source.charAt(end)
    if (char === "\\") end++
    else if (char === "`") return end + 1
    else if (source.startsWith("${", end)) return end + 2
  }
  return source.length
}

/** Behind the closing slash; behind the first one when the line ends before, for then it divides. */
function endOfRegExp(source: string, at: number): number {
  let inClass = false
  for (let end = at + 1; end < source.length; end++) {
    const char = source.charAt(end)
    if (char === "\n") break
    else if (char === "\\") end++
    else if (char === "[") inClass = true
    else if (char === "]") inClass = false
    else if (char === "/" && !inClass) return end + 1
  }
  return at + 1
}

/** `{ process: 1 }`, `process?: string` and `process(input) {` name a member; they use nothing. */
function isPropertyName(masked: string, at: number, length: number): boolean {
  const before = masked.slice(0, at)
  const [after = ""] = masked.slice(at + length).split("\n", 1)
  const startsMember = /(?:[{,;(*]|\breadonly|\basync|\n|^)\s*$/.test(before)
  return startsMember && /^\s*\??:|^\([^()]*\)[^()]*\{$/.test(after)
}

function lineAt(source: string, at: number): number {
  return source.slice(0, at).split("\n").length
}
