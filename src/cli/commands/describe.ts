import type { OperationSpec } from "../../core/types.ts"
import type { Command } from "../model.ts"
import { print, printJson } from "../output.ts"
import { printFailures } from "../target/failures.ts"
import { openTarget } from "../target/index.ts"

export const command: Command = {
  name: "describe",
  summary: "Show what an operation takes and gives",
  usage: "<operation>",
  details:
    "An id, or the end of one that no other has: issues.create for github.issues.create.\n" +
    "With --json: the whole specification, with its JSON Schemas.",
  examples: [
    ["describe task.create", "What it takes"],
    ["describe task.create --json", "Its schemas"],
  ],
  options: {},
  hasSources: true,
  complete: "operation",
  arity: [1, 1],
  async run(args, io) {
    const [id = ""] = args.positionals
    await using target = await openTarget(args, io)
    const spec = await target.find(id)
    printFailures(io, target)
    if (args.flag("json")) {
      printJson(io, specJson(spec))
      return 0
    }
    const { describeSpec } = await import("../describe-spec.ts")
    print(io, describeSpec(spec, io))
    return 0
  },
}

/** The JSON of a spec. Members are listed one by one: they may be lazy, and there may be others. */
function specJson(spec: OperationSpec): Record<keyof OperationSpec | "id", unknown> {
  const { namespace, name, version, type, title, description, tags, visibility } = spec
  const { inputSchema, outputSchema, errorSchemas, accessControl } = spec
  const { annotations, deprecated, examples, _meta } = spec
  return {
    id: `${namespace}.${name}`,
    namespace,
    name,
    version,
    type,
    title,
    description,
    tags,
    inputSchema,
    outputSchema,
    errorSchemas,
    accessControl,
    visibility,
    annotations,
    deprecated,
    examples,
    _meta,
  }
}
