import { existsSync, readFileSync } from "node:fs"
import { dirname, resolve } from "node:path"

/** One problem of a page. */
export interface DocIssue {
  readonly line: number
  readonly message: string
}

export interface DocCheck {
  readonly issues: readonly DocIssue[]
  /** The page with its blocks brought up to date; the same text when there was nothing to do. */
  readonly updated: string
}

/**
 * Compares a page with the files that it shows.
 *
 * A block fenced with `ts file=examples/x.ts` holds that file, with `ts file=examples/x.ts#name` the
 * region of that name, and with `text out=examples/x.out` what the program prints. Paths in fences start
 * at `root`; relative links start at the page and must lead to a file, and their `#anchor` to a heading.
 */
export function checkDocument(root: string, path: string, text: string): DocCheck {
  const issues: DocIssue[] = []
  const updated: string[] = []
  const lines = text.split("\n")

  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ""
    updated.push(line)
    const fence = FENCE.exec(line)
    if (fence === null) {
      for (const message of brokenLinks(root, path, text, line))
        issues.push({ line: at + 1, message })
      continue
    }

    const [, indent = "", marks = "", info = ""] = fence
    const end = lines.findIndex((other, index) => index > at && closes(other, marks))
    if (end === -1) {
      issues.push({ line: at + 1, message: "opens a code block that is never closed" })
      updated.push(...lines.slice(at + 1))
      break
    }
    const shown = lines.slice(at + 1, end)
    const source = sourceOf(root, info)
    if (source === undefined) {
      updated.push(...shown)
    } else if ("problem" in source) {
      issues.push({ line: at + 1, message: source.problem })
      updated.push(...shown)
    } else {
      const wanted = source.lines.map((content) => (content === "" ? "" : indent + content))
      if (wanted.join("\n") !== shown.join("\n")) {
        issues.push({ line: at + 1, message: `differs from ${source.name}` })
      }
      updated.push(...wanted)
    }
    updated.push(lines[end] ?? "")
    at = end
  }
  return { issues, updated: updated.join("\n") }
}

/** The text between `// #region name` and its `// #endregion`, without the indent they share. */
export function extractRegion(text: string, name: string): string | undefined {
  const lines = text.split("\n")
  const start = lines.findIndex((line) => REGION.exec(line)?.[1] === name)
  if (start === -1) return undefined
  let depth = 1
  for (let end = start + 1; end < lines.length; end++) {
    const line = lines[end] ?? ""
    if (REGION.test(line)) depth += 1
    if (END_REGION.test(line)) depth -= 1
    if (depth === 0) return dedent(withoutMarks(lines.slice(start + 1, end))).join("\n")
  }
  return undefined
}

/** The targets of a line's links that are files of this repository, or headings of the page, without `?query`. */
export function relativeLinks(line: string): string[] {
  const text = line.replaceAll(/(`+)[^`]*?\1/g, "")
  const targets = [...text.matchAll(INLINE_LINK), ...text.matchAll(LINK_DEFINITION)]
  return targets
    .map(([, target = ""]) => target.replace(/\?[^#]*/, ""))
    .filter((target) => target !== "" && !/^([a-z][a-z0-9+.-]*:|\/\/)/i.test(target))
    .map((target) => decodeURI(target))
}

/** The anchors of a page's headings, in the form that GitHub gives them. */
export function headingAnchors(text: string): Set<string> {
  const anchors = new Set<string>()
  let fence: string | undefined
  for (const line of text.split("\n")) {
    const [, , marks] = FENCE.exec(line) ?? []
    if (fence === undefined) fence = marks
    else if (closes(line, fence)) fence = undefined
    const [, title] = HEADING.exec(line) ?? []
    if (fence !== undefined || title === undefined) continue
    const slug = title
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-")
    let anchor = slug
    for (let count = 1; anchors.has(anchor); count++) anchor = `${slug}-${count}`
    anchors.add(anchor)
  }
  return anchors
}

const FENCE = /^(\s*)(`{3,}|~{3,})\s*([^`]*)$/
const INFO = /(?:^|\s)(file|out)=([^\s#]+)(?:\s*#(\S+))?/
const REGION = /^\s*\/\/ #region (\S+)\s*$/
const END_REGION = /^\s*\/\/ #endregion\b/
const HEADING = /^#{1,6} +(.*?)\s*$/
const INLINE_LINK = /\]\(\s*<?([^)\s>]*)>?[^)]*\)/g
const LINK_DEFINITION = /^\s{0,3}\[[^\]]+\]:\s*<?([^\s>]+)/g

type Source = { readonly name: string; readonly lines: readonly string[] } | { problem: string }

/** What a block must hold; `undefined` for a block that shows no file. */
function sourceOf(root: string, info: string): Source | undefined {
  const match = INFO.exec(info)
  if (match === null) return undefined
  const [, kind, file = "", region] = match
  const path = resolve(root, file)
  if (!existsSync(path)) return { problem: `shows "${file}", which does not exist` }
  const text = readFileSync(path, "utf8")
  if (kind === "out") return { name: file, lines: trimBlank(text.split("\n")) }
  if (region === undefined) {
    return { name: file, lines: trimBlank(withoutMarks(text.split("\n"))) }
  }
  const part = extractRegion(text, region)
  if (part === undefined) {
    return { problem: `shows the region "${region}" of ${file}, which has none of that name` }
  }
  return { name: `${file}#${region}`, lines: part.split("\n") }
}

/** What is wrong with the links of one line of the page `path`, whose text is `text`. */
function brokenLinks(root: string, path: string, text: string, line: string): string[] {
  return relativeLinks(line).flatMap((link) => {
    const [file = "", anchor] = link.split("#", 2)
    const target = resolve(root, file === "" ? path : dirname(path), file)
    if (file !== "" && !existsSync(target)) return [`links to "${file}", which does not exist`]
    if (anchor === undefined || (file !== "" && !file.endsWith(".md"))) return []
    const page = file === "" ? text : readFileSync(target, "utf8")
    return headingAnchors(page).has(anchor)
      ? []
      : [`links to "${link}", but there is no such heading`]
  })
}

function closes(line: string, marks: string): boolean {
  const trimmed = line.trim()
  return trimmed.startsWith(marks) && trimmed.replaceAll(marks.charAt(0), "") === ""
}

function withoutMarks(lines: readonly string[]): string[] {
  return lines.filter((line) => !REGION.test(line) && !END_REGION.test(line))
}

function dedent(lines: readonly string[]): string[] {
  const kept = trimBlank(lines)
  const indents = kept.filter((line) => line.trim() !== "").map((line) => line.search(/\S/))
  const shared = Math.min(...indents)
  return kept.map((line) => line.slice(shared))
}

function trimBlank(lines: readonly string[]): string[] {
  const first = lines.findIndex((line) => line.trim() !== "")
  const last = lines.findLastIndex((line) => line.trim() !== "")
  return first === -1 ? [] : lines.slice(first, last + 1)
}
