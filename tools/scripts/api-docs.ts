/**
 * Writes `docs/api.md` from the entries and the doc comments of what they export: `tsx tools/scripts/api-docs.ts`.
 * `test/docs.test.ts` compares the page with what this would write.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { sourceEntries } from "../../test/support/manifest.ts"

const ROOT = resolve(import.meta.dirname, "../..")
const PACKAGE = "@alkdev/operations"

/** A name that an entry exports. */
interface Export {
  readonly name: string
  readonly isType: boolean
  /** The parameters of a function. */
  readonly parameters: string | undefined
  /** The first paragraph of its doc comment. */
  readonly about: string
  /** Public methods and properties of a class. */
  readonly members: readonly Member[]
}

interface Member {
  readonly signature: string
  readonly about: string
}

/** The text of the page: what is above the first entry stays as it is. */
export function apiPage(): string {
  const page = join(ROOT, "docs/api.md")
  const [opening = ""] = readFileSync(page, "utf8").split(/^## /m)
  const sections = [...sourceEntries].map(([path, file]) => section(path, file))
  return `${opening.trimEnd()}\n\n${sections.join("\n")}`
}

function section(path: string, file: string): string {
  const name = path.replace(/^\./, PACKAGE)
  const found = exportsOf(join(ROOT, file))
  const values = found.filter(({ isType }) => !isType)
  const types = found.filter(({ isType }) => isType).map((one) => `\`${one.name}\``)
  const rows = values.map(({ name: value, parameters, about }) => [
    `\`${value}${parameters ?? ""}\``,
    about,
  ])
  const classes = values
    .filter(({ members }) => members.length > 0)
    .map(({ name: owner, members }) => {
      const own = members.map(({ signature, about }) => [`\`${signature}\``, about])
      return `\nMembers of \`${owner}\`:\n\n${table(own)}`
    })
  return [
    `## \`${name}\`\n\n${describedInReadme(name)}\n`,
    values.length > 0 ? `\n${table(rows)}` : "",
    ...classes,
    types.length > 0 ? `\nTypes: ${types.join(", ")}.\n` : "",
  ].join("")
}

function describedInReadme(entry: string): string {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8")
  const row = readme.split("\n").find((line) => line.startsWith(`| \`${entry}\` `))
  const [, , about = ""] = row?.split("|").map((cell) => cell.trim()) ?? []
  if (about === "") throw new Error(`The table of entries in README.md has no row for ${entry}.`)
  return `${about.charAt(0).toUpperCase()}${about.slice(1)}.`
}

function table(rows: readonly (readonly string[])[]): string {
  const lines = rows.map(
    (cells) => `| ${cells.map((text) => text.replaceAll("|", "\\|")).join(" | ")} |`,
  )
  return ["| name | what it is |", "| --- | --- |", ...lines].join("\n") + "\n"
}

/** The names that a module exports, with those that it takes from other modules. */
function exportsOf(file: string): Export[] {
  const source = readFileSync(file, "utf8")
  const again = [...source.matchAll(/^export (type )?\{([^}]*)\} from "([^"]+)"/gm)]
  return again.flatMap(([, type, names = "", from = ""]) =>
    names
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== "")
      .map((name) => {
        const [original = "", alias = original] = name.replace(/^type /, "").split(" as ")
        const isType = type !== undefined || name.startsWith("type ")
        const isOwn = from.startsWith(".") && !isType
        const found = isOwn
          ? described(resolve(dirname(file), from), original.trim())
          : { parameters: undefined, about: `As in \`${from}\`.`, members: [] }
        return { ...found, name: alias.trim(), isType }
      }),
  )
}

/** What a module says about one of its names. */
function described(file: string, name: string): Pick<Export, "parameters" | "about" | "members"> {
  const source = readFileSync(file, "utf8")
  const declaration = new RegExp(
    String.raw`(?:/\*\*((?:(?!\*/)[\s\S])*)\*/\s*)?^export (?:declare )?(?:abstract )?(?:async )?(function|class|const)\*? ${name}\b`,
    "m",
  ).exec(source)
  if (declaration === null) {
    const again = exportsOf(file).find((one) => one.name === name)
    if (again === undefined) throw new Error(`${file} does not declare ${name}.`)
    return again
  }
  const [text, comment = "", keyword] = declaration
  const after = source.slice(declaration.index + text.length)
  return {
    parameters: keyword === "function" ? parametersOf(after) : undefined,
    about: firstParagraph(comment) || (name.endsWith("Schema") ? schemaOf(name) : ""),
    members: keyword === "class" && comment !== "" ? membersOf(after) : [],
  }
}

function schemaOf(name: string): string {
  return `The JSON Schema of \`${name.replace(/Schema$/, "")}\`.`
}

function firstParagraph(comment: string): string {
  const lines = comment.split("\n").map((line) =>
    line
      .trim()
      .replace(/^\*\s?/, "")
      .trim(),
  )
  const text = lines.join("\n").trim().split("\n\n")[0] ?? ""
  return text.replaceAll(/\s+/g, " ")
}

/** The names of parameters, from where they, or type parameters, begin. */
function parametersOf(declaration: string): string {
  const source = declaration.replaceAll(/\/\/.*/g, "")
  const open = afterTypeParameters(source)
  let depth = 0
  let name = ""
  const names: string[] = []
  for (let at = open; at < source.length; at++) {
    const char = source.charAt(at)
    if ("([{<".includes(char)) depth++
    if (")]}".includes(char) || (char === ">" && source.charAt(at - 1) !== "=")) depth--
    if (depth === 0 || (depth === 1 && char === ",")) {
      if (name.trim() !== "") names.push(parameter(name))
      name = ""
      if (depth === 0) break
    } else if (at > open) name += char
  }
  return `(${names.filter((text) => text !== "this").join(", ")})`
}

function afterTypeParameters(source: string): number {
  if (!source.startsWith("<")) return source.indexOf("(")
  let depth = 0
  for (let at = 0; at < source.length; at++) {
    if (source.charAt(at) === "<") depth++
    if (source.charAt(at) === ">" && source.charAt(at - 1) !== "=" && --depth === 0) return at + 1
  }
  return source.length
}

function parameter(text: string): string {
  const [, rest = "", name = "options", optional = ""] = /^\s*(\.\.\.)?(\w+)?(\?)?/.exec(text) ?? []
  const isOptional = optional !== "" || /[^=!<>]=[^=>]/.test(text)
  return `${rest}${name}${isOptional ? "?" : ""}`
}

/** The documented members of a class, from where its body or type parameters begin. */
function membersOf(source: string): Member[] {
  const body = source.slice(0, /^\}/m.exec(source)?.index)
  const documented =
    /^ {2}\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*^ {2}(?:static )?(?:async )?(?:readonly )?(get )?(\w+)(?=([(<:?]))/gm
  return [...body.matchAll(documented)]
    .filter(([, comment = ""]) => !comment.includes("@internal"))
    .map(([text, comment = "", getter, name = "", next = ""], index, all) => {
      const isMethod = getter === undefined && (next === "(" || next === "<")
      const from = (all[index]?.index ?? 0) + text.length
      return {
        signature: isMethod ? `${name}${parametersOf(body.slice(from))}` : name,
        about: firstParagraph(comment),
      }
    })
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  writeFileSync(join(ROOT, "docs/api.md"), apiPage())
}
