import type { Side, ValibotNode } from "./node.ts"

/** Transformations that leave the value as it is. */
const KEEPING: ReadonlySet<string> = new Set(["brand", "flavor", "readonly", "guard"])

/**
 * The part of a pipe that speaks of one side: a schema, and the actions that follow it.
 *
 * What is given is described up to the first step that changes it; what is given back, from the last
 * schema on. A schema without a pipe is its own only step.
 */
export function stepsOf(schema: ValibotNode, side: Side): readonly [ValibotNode, ...ValibotNode[]] {
  const [first, ...rest] = flatten(schema).filter(({ type }) => !KEEPING.has(type))
  if (side === "input") {
    const end = rest.findIndex(({ kind }) => kind === "schema" || kind === "transformation")
    return [first!, ...(end < 0 ? rest : rest.slice(0, end))]
  }
  const last = rest.findLastIndex(({ kind }) => kind === "schema")
  return last < 0 ? [first!, ...rest] : [rest[last]!, ...rest.slice(last + 1)]
}

function flatten(node: ValibotNode): ValibotNode[] {
  const pipe = node["pipe"]
  if (!Array.isArray(pipe)) return [node]
  return (pipe as ValibotNode[]).flatMap(flatten)
}
