import type { AnyOperation } from "../core/define.ts"
import { parsePointer } from "../internal/pointer.ts"
import type { OperationPolicy } from "../core/types.ts"
import type { ValueError } from "../core/validation.ts"
import { composesFault } from "./composes.ts"
import { handlerFault } from "./handler-kind.ts"

/** A copy of what was said beside the spec: a list that is changed later grants nothing. */
export function takePolicy(policy: OperationPolicy): OperationPolicy {
  const { composes, normalize, output, defaults, timeout, imported, asData } = policy
  return {
    ...(composes && { composes: Object.freeze([...composes]) }),
    ...(normalize && { normalize }),
    ...(output && { output }),
    ...(defaults && { defaults }),
    ...(timeout !== undefined && { timeout }),
    ...(imported === true && { imported }),
    ...(asData && { asData }),
  }
}

/** What is wrong with what stands beside the spec. */
export function policyFaults(definition: Partial<AnyOperation>): ValueError[] {
  const faults: ValueError[] = []
  const { handler, type, composes, normalize, output, defaults, timeout, accessControl } =
    definition
  const { imported, asData } = definition
  const wrong = (path: string, message: string | undefined): void => {
    if (message !== undefined) faults.push({ path, message })
  }
  if (handler !== undefined) wrong("/handler", handlerFault(handler, type ?? "query"))
  if (composes !== undefined) wrong("/composes", composesFault(composes))
  if (normalize !== undefined && !["strip", "keep", "off"].includes(normalize)) {
    wrong("/normalize", `must be "strip", "keep" or "off"`)
  }
  if (output !== undefined && !["warn", "strict", "off"].includes(output)) {
    wrong("/output", `must be "warn", "strict" or "off"`)
  }
  if (defaults !== undefined && defaults !== "fill" && defaults !== "leave") {
    wrong("/defaults", `must be "fill" or "leave"`)
  }
  if (timeout !== undefined && !(typeof timeout === "number" && timeout > 0)) {
    wrong("/timeout", "must be a positive number of milliseconds, or Infinity")
  }
  if (imported !== undefined && typeof imported !== "boolean") {
    wrong("/imported", "must be true or false")
  }
  if (asData !== undefined && typeof asData !== "function") {
    wrong("/asData", "must be a function")
  }
  const pointer: unknown = accessControl?.resourceIdPath
  if (typeof pointer === "string" && parsePointer(pointer) === undefined) {
    wrong("/accessControl/resourceIdPath", `must be a JSON pointer such as "/projectId"`)
  }
  return faults
}
