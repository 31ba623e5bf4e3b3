import { skillIssue, type MCPSkill } from "../../core/skill.ts"
import { frozenCopy } from "../../internal/frozen.ts"
import { isRecord } from "../../internal/guards.ts"
import { depthOf } from "../../mcp/canonical.ts"
import type { JsonObject } from "../../mcp/model.ts"
import { parseUriTemplate } from "../../mcp/uri-template.ts"

/** The skills of a server, and who reads them. */
interface SkillReading {
  readonly skills?: readonly unknown[] | undefined
  readonly server: { readonly name: string }
  readonly warn?: ((message: string) => void) | undefined
}

const MAX_DEPTH = 100

/** Valid skills by the address of their `SKILL.md`, and resources that they have and the server did not list. */
export function readSkills(
  definitions: readonly unknown[],
  { skills = [], server, warn }: SkillReading,
): { readonly skills: ReadonlyMap<string, MCPSkill>; readonly missing: readonly JsonObject[] } {
  const valid = new Map<string, MCPSkill>()
  const missing: JsonObject[] = []
  const templates = definitions.flatMap((one) => {
    const text = isRecord(one) ? one["uriTemplate"] : undefined
    const template = typeof text === "string" ? parseUriTemplate(text) : ""
    return typeof template === "string" ? [] : [template]
  })
  const isListed = (uri: string): boolean =>
    definitions.some((one) => isRecord(one) && one["uri"] === uri) ||
    templates.some((template) => template.match(uri) !== undefined)
  for (const value of skills) {
    const { uri = "", frontmatter, resources } = isRecord(value) ? value : {}
    const skill = { frontmatter, resources } as MCPSkill
    const issue =
      depthOf(value, MAX_DEPTH) > MAX_DEPTH
        ? "it is nested too deeply"
        : skillIssue(String(uri), skill)
    if (issue !== undefined) {
      warn?.(`A skill of MCP server "${server.name}" was left out: ${issue}.`)
      continue
    }
    const at = String(uri)
    valid.set(at, frozenCopy(skill) as MCPSkill)
    const { name, description } = skill.frontmatter
    const mimeType = "text/markdown"
    // A SKILL.md has an operation of its own, even if a template of the server covers it.
    missing.push({ uri: at, name, description, mimeType })
    const files = skill.resources === "dynamic" ? [] : skill.resources
    if (files.every((file) => file.uri === at || isListed(file.uri))) continue
    const uriTemplate = `${at.slice(0, -"SKILL.md".length)}{+path}`
    missing.push({ uriTemplate, name: `${String(name)} files` })
  }
  return { skills: valid, missing }
}
