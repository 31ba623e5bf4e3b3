import type { AnyOperation } from "../core/define.ts"
import { isRecord } from "../internal/guards.ts"
import { parsePointer } from "../internal/pointer.ts"
import type { OperationPolicy } from "../core/operation-settings.ts"
import type { ValueError } from "../core/validation.ts"
import { composesIssue } from "./composes.ts"
import { handlerIssue } from "./handler-kind.ts"
import { middlewareIssue } from "../core/middleware.ts"
import { resilienceIssue, type Resilience } from "../core/resilience.ts"
import { frozenCopy } from "../internal/frozen.ts"

/** The members of a policy, for places that do not look into it. */
export const POLICY_MEMBERS: Readonly<Record<keyof OperationPolicy, "any">> = {
  composes: "any",
  normalize: "any",
  input: "any",
  output: "any",
  defaults: "any",
  timeout: "any",
  imported: "any",
  claims: "any",
  via: "any",
  asData: "any",
  sendsKey: "any",
  use: "any",
  resilience: "any",
}

/** A copy of the policy of a definition, so that later changes of its lists grant nothing. */
export function readPolicy(policy: OperationPolicy): OperationPolicy {
  const { composes, normalize, output, defaults, timeout, imported, asData } = policy
  const { use, resilience, sendsKey, via, input, claims } = policy
  return {
    ...(composes && { composes: Object.freeze([...composes]) }),
    ...(normalize && { normalize }),
    ...(input && { input }),
    ...(output && { output }),
    ...(defaults && { defaults }),
    ...(timeout !== undefined && { timeout }),
    ...(imported === true && { imported }),
    ...(claims === true && { claims }),
    ...(via && { via }),
    ...(asData && { asData }),
    ...(sendsKey === true && { sendsKey }),
    ...(use && { use: Object.freeze([...use]) }),
    ...(resilience && { resilience: frozenCopy(resilience) as Resilience | "standard" }),
  }
}

/** Other libraries call the schemas of an operation `input` and `output`. */
function schemaHint(value: unknown, member: string): string {
  return isRecord(value) || typeof value === "function" ? `; a schema belongs in ${member}` : ""
}

/** The validation errors of the handler and the policy of a definition. */
export function policyIssues(definition: Partial<AnyOperation>): ValueError[] {
  const issues: ValueError[] = []
  const { handler, type, composes, normalize, output, defaults, timeout, accessControl } =
    definition
  const { imported, claims, asData, sendsKey, use, resilience, input } = definition
  const add = (path: string, message: string | undefined): void => {
    if (message !== undefined) issues.push({ path, message })
  }
  if (handler !== undefined) add("/handler", handlerIssue(handler, type ?? "query"))
  if (composes !== undefined) add("/composes", composesIssue(composes))
  if (normalize !== undefined && !["strip", "keep", "off"].includes(normalize)) {
    add("/normalize", `must be "strip", "keep" or "off"`)
  }
  if (output !== undefined && !["warn", "strict", "off"].includes(output)) {
    add("/output", `must be "warn", "strict" or "off"${schemaHint(output, "outputSchema")}`)
  }
  if (input !== undefined && input !== "warn" && input !== "strict") {
    add("/input", `must be "warn" or "strict"${schemaHint(input, "inputSchema")}`)
  }
  if (defaults !== undefined && defaults !== "fill" && defaults !== "leave") {
    add("/defaults", `must be "fill" or "leave"`)
  }
  if (timeout !== undefined && !(typeof timeout === "number" && timeout > 0)) {
    add("/timeout", "must be a positive number of milliseconds, or Infinity")
  }
  for (const [name, value] of Object.entries({ imported, claims, sendsKey })) {
    if (value !== undefined && typeof value !== "boolean") add(`/${name}`, "must be true or false")
  }
  if (asData !== undefined && typeof asData !== "function") {
    add("/asData", "must be a function")
  }
  if (use !== undefined && !Array.isArray(use)) {
    add("/use", "must be an array of middleware")
  } else use?.forEach((one, index) => add(`/use/${index}`, middlewareIssue(one)))
  if (resilience !== undefined) {
    const issue = resilienceIssue(resilience, definition)
    if (issue !== undefined) add(`/resilience${issue.path}`, issue.message)
  }
  const pointer: unknown = accessControl?.resourceIdPath
  if (typeof pointer === "string" && parsePointer(pointer) === undefined) {
    add("/accessControl/resourceIdPath", `must be a JSON pointer such as "/projectId"`)
  }
  return issues
}
