// Skills: folders with instructions for agents, as MCP servers publish them (SEP-2640).

import { isRecord } from "../internal/guards.ts"

/** One file of a skill. */
export interface SkillFile {
  readonly uri: string
  /** `sha256:` and 64 hexadecimal digits. */
  readonly digest: string
  /** In bytes. */
  readonly size: number
}

/** What the `SKILL.md` of a resource's address says, and the files of its folder. */
export interface MCPSkill {
  /** The whole frontmatter; always with `name` and `description`. */
  readonly frontmatter: Readonly<Record<string, unknown>>
  /** All files, `SKILL.md` included; `dynamic` if they have no fixed content. */
  readonly resources: readonly SkillFile[] | "dynamic"
}

const MAX_FILES = 512
const DIGEST = /^sha256:[0-9a-f]{64}$/

/** What is wrong with a skill at an address; `undefined` if nothing is. */
export function skillIssue(uri: string, { frontmatter, resources }: MCPSkill): string | undefined {
  const [file, name = ""] = uri.split("/").toReversed()
  if (file !== "SKILL.md" || name === "") return `its address must end with "/<name>/SKILL.md"`
  const { name: own, description } = isRecord(frontmatter) ? frontmatter : {}
  if (own !== name) return `its name must be that of its folder, "${name}"`
  if (typeof description !== "string" || description === "") return "it has no description"
  if (resources === "dynamic") return undefined
  if (!Array.isArray(resources) || !resources.every(isFile)) return "its files are not listed"
  if (resources.length > MAX_FILES) return `it has more than ${MAX_FILES} files`
  return resources.some((one) => one.uri === uri) ? undefined : "SKILL.md is not among its files"
}

function isFile(value: unknown): value is SkillFile {
  if (!isRecord(value)) return false
  const { uri, digest, size } = value
  if (typeof uri !== "string" || typeof digest !== "string") return false
  return DIGEST.test(digest) && Number.isSafeInteger(size) && Number(size) >= 0
}
