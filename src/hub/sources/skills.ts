import { createHash } from "node:crypto"
import { readdir, readFile } from "node:fs/promises"
import { basename, extname, join } from "node:path"
import type { SkillsSource } from "../../config/kinds/skills.ts"
import { defineOperation, type AnyOperation } from "../../core/define.ts"
import { isPlainJson } from "../../core/plain-json.ts"
import { skillIssue, type SkillFile } from "../../core/skill.ts"
import { isRecord } from "../../internal/guards.ts"
import { reasonOf } from "../../internal/message-text.ts"
import { distinctNames } from "../../mcp/names.ts"
import { FromSchema } from "../../schema/from-schema.ts"
import type { HubSource, ReportItem } from "../model.ts"
import { pathOf } from "../origin.ts"
import { fill } from "../resolve-references.ts"

/**
 * The skills of a folder, as resources under `skill://`: a query for each `SKILL.md`, and one for the other files of its
 * folder. Reads them when it is opened, and again when one is asked for.
 */
export const skills: HubSource<SkillsSource> = {
  async open({ name, namespace, config }, context) {
    const dir = pathOf(await fill(config.skills, context.resolve, name, "skills"), context.baseDir)
    const items: ReportItem[] = []
    const skip = (origin: string, why: string): void => {
      context.logger.warn("Skipped a skill", { folder: origin, reason: why })
      items.push({ origin, status: "skipped", notes: [why] })
    }
    const read = await readSkills(dir, skip)
    const names = distinctNames(
      read.map(({ path }) => ({ name: path.replaceAll("/", "_"), key: path })),
    )
    const operations = read.flatMap((skill, index) =>
      operationsOf(skill, namespace, names[index] ?? ""),
    )
    for (const { namespace: own, name: operation } of operations) {
      const id = `${own}.${operation}`
      items.push({ id, origin: id, status: "kept", notes: [] })
    }
    return {
      operations: () => operations,
      report: () => ({ items, warnings: [] }),
      onChange: () => () => {},
      files: [dir],
      close: async () => {},
    }
  },
}

const MAX_DEPTH = 10
const MAX_FILES = 10_000
/** What one skill may have, by the extension. */
const MAX_BYTES = 16 * 1024 * 1024

/** A skill as it was read. */
interface Skill {
  /** Of its folder, within the folder of skills: `billing/refunds`. */
  readonly path: string
  readonly uri: string
  readonly frontmatter: Readonly<Record<string, unknown>>
  /** Where its files are, by their addresses. */
  readonly files: ReadonlyMap<string, string>
  readonly resources: readonly SkillFile[]
}

async function readSkills(
  dir: string,
  skip: (origin: string, why: string) => void,
): Promise<readonly Skill[]> {
  const files = (await filesIn(dir)).toSorted()
  const found: Skill[] = []
  for (const file of files) {
    if (basename(file) !== "SKILL.md") continue
    const folder = file.slice(0, -"/SKILL.md".length)
    const own = folder === "" ? files : files.filter((one) => one.startsWith(`${folder}/`))
    try {
      const skill = await readSkill(dir, folder === "" ? "" : folder, own)
      if (typeof skill === "string") skip(folder, skill)
      else found.push(skill)
    } catch (error) {
      skip(folder, reasonOf(error))
    }
  }
  return found
}

/** The files below a folder, as `/`-separated paths that begin with "/"; no links, and nothing that is hidden. */
async function filesIn(dir: string, path = "", depth = 0): Promise<string[]> {
  const entries = await readdir(join(dir, path), { withFileTypes: true })
  const files: string[] = []
  for (const entry of entries) {
    if (entry.name.startsWith(".") || entry.name === "node_modules") continue
    const at = `${path}/${entry.name}`
    if (entry.isFile()) files.push(at)
    else if (entry.isDirectory() && depth < MAX_DEPTH)
      files.push(...(await filesIn(dir, at, depth + 1)))
    if (files.length > MAX_FILES) throw new Error(`The folder has more than ${MAX_FILES} files.`)
  }
  return files
}

/** The text between the first two lines of ---. */
function frontmatterOf(text: string): string | undefined {
  const [first, ...lines] = text.replace(/^\uFEFF/, "").split(/\r?\n/)
  const end = lines.findIndex((line) => line.trimEnd() === "---")
  return first === "---" && end >= 0 ? lines.slice(0, end).join("\n") : undefined
}

async function readSkill(
  dir: string,
  folder: string,
  paths: readonly string[],
): Promise<Skill | string> {
  const path = folder === "" ? basename(dir) : folder.slice(1)
  const root = `skill://${encoded(path)}`
  const files = new Map(
    paths.map((one) => [`${root}${encoded(one.slice(folder.length))}`, join(dir, one)]),
  )
  const uri = `${root}/SKILL.md`
  const text = await readFile(files.get(uri) ?? "", "utf8")
  const yaml = frontmatterOf(text)
  if (yaml === undefined) return "SKILL.md does not begin with frontmatter between lines of ---"
  // Hubs without skills do not load a parser of YAML.
  const { readYaml } = await import("../../sources/openapi/yaml.ts")
  const frontmatter = readYaml(yaml, "The frontmatter").value
  if (!isRecord(frontmatter) || !isPlainJson(frontmatter)) return "its frontmatter is not an object"
  const resources: SkillFile[] = []
  let total = 0
  for (const [address, file] of files) {
    const bytes = await readFile(file)
    total += bytes.length
    if (total > MAX_BYTES) return `its files have more than ${MAX_BYTES} bytes`
    const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`
    resources.push({ uri: address, digest, size: bytes.length })
  }
  const issue = skillIssue(uri, { frontmatter, resources })
  return issue ?? { path, uri, frontmatter, files, resources }
}

function encoded(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/")
}

function operationsOf(skill: Skill, namespace: string, name: string): AnyOperation[] {
  const { uri, frontmatter, files, resources } = skill
  const common = { namespace, type: "query", accessControl: { requiredScopes: [] } } as const
  const own = defineOperation({
    ...common,
    name,
    description: String(frontmatter["description"]),
    inputSchema: FromSchema({ type: "object", properties: {} }),
    outputSchema: FromSchema({ type: "string", contentMediaType: "text/markdown" }),
    mcp: { as: "resource", uri, skill: { frontmatter, resources } },
    handler: async () => await readFile(files.get(uri) ?? "", "utf8"),
  })
  const root = uri.slice(0, -"SKILL.md".length)
  const others = [...files.keys()].filter((one) => one !== uri).map((one) => one.slice(root.length))
  if (others.length === 0) return [own]
  const rest = defineOperation({
    ...common,
    name: `${name}_files`,
    description: `The files of the skill "${String(frontmatter["name"])}".`,
    inputSchema: FromSchema({
      type: "object",
      properties: { path: { type: "string", enum: others } },
      required: ["path"],
    }),
    outputSchema: FromSchema({ type: "object" }),
    mcp: { as: "resource", uri: `${root}{+path}` },
    handler: async (input) => {
      const address = `${root}${(input as { readonly path: string }).path}`
      return { contents: [contentOf(address, await readFile(files.get(address) ?? ""))] }
    },
  })
  return [own, rest]
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  ".md": "text/markdown",
  ".txt": "text/plain",
  ".json": "application/json",
  ".yaml": "application/yaml",
  ".yml": "application/yaml",
  ".html": "text/html",
  ".css": "text/css",
  ".csv": "text/csv",
  ".js": "text/javascript",
  ".py": "text/x-python",
  ".sh": "text/x-shellscript",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".pdf": "application/pdf",
}

/** A file as the content of a resource: text where it is UTF-8. */
function contentOf(uri: string, bytes: Buffer): object {
  const known = MEDIA_TYPES[extname(uri).toLowerCase()]
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
    return { uri, mimeType: known ?? "text/plain", text }
  } catch {
    return { uri, mimeType: known ?? "application/octet-stream", blob: bytes.toString("base64") }
  }
}
