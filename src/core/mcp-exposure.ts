import type { Compiled } from "../schema/compiled.ts"
import { listOf } from "../schema/json.ts"
import { isPlainJson } from "./plain-json.ts"
import { parameterIssues } from "./rest-route.ts"
import type { OperationSpec } from "./types.ts"
import { skillIssue } from "./skill.ts"
import { readUriTemplate } from "./uri-template.ts"
import type { ValueError } from "./validation.ts"

const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:/

/** Validates how MCP servers show an operation, in a definition whose fields have the right form. */
export function exposureIssues(
  { mcp, type }: Pick<OperationSpec, "mcp" | "type">,
  input: Compiled,
): ValueError[] {
  if (mcp === undefined) return []
  if (!isPlainJson(mcp)) return [{ path: "/mcp", message: "must be JSON data: clients receive it" }]
  const { as = "tool", uri, complete = {}, skill } = mcp
  const issues: ValueError[] = []
  const add = (field: string, message: string): void => {
    issues.push({ path: `/mcp/${field}`, message })
  }
  if (as === "resource" && type !== "query")
    add("as", `must not be "resource" for a ${type}: reading changes nothing`)
  if (as === "prompt" && type === "subscription")
    add("as", `must not be "prompt" for a subscription`)
  if (as === "resource" && uri === undefined)
    add("uri", `is required for a resource, such as "note://{id}"`)
  if (as !== "resource" && uri !== undefined) add("uri", `is for a resource: add as: "resource"`)
  const wrong = skill === undefined ? undefined : skillIssue(uri ?? "", skill)
  if (wrong !== undefined) add("skill", `is no skill: ${wrong}`)
  for (const message of parameterIssues(Object.keys(complete), input)) add("complete", message)
  if (as !== "resource" || uri === undefined) return issues
  const template = readUriTemplate(uri)
  if (typeof template === "string") add("uri", `is not a URI template: ${template}`)
  else if (!SCHEME.test(uri)) add("uri", `must begin with a scheme, such as "note://{id}"`)
  else {
    const names = template.variables.map(({ name }) => name)
    for (const message of parameterIssues(names, input)) add("uri", message)
    for (const name of listOf(input.schema["required"])) {
      if (!names.includes(String(name))) add("uri", `lacks the required input {${String(name)}}`)
    }
  }
  return issues
}
