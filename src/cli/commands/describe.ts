import { specFields } from "../../core/spec-schemas.ts"
import type { CommandDefinition } from "../model.ts"
import { print, printJson } from "../output.ts"
import { openTarget, printFailures } from "../target/index.ts"

export const command: CommandDefinition = {
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
    const policies = await target.policies(spec)
    if (args.flag("json")) {
      const { namespace, name } = spec
      const about = { id: `${namespace}.${name}`, namespace, name, ...specFields(spec) }
      printJson(io, policies.length === 0 ? about : { ...about, resilience: policies })
      return 0
    }
    const { describeSpec } = await import("../describe-spec.ts")
    print(io, describeSpec(spec, policies, io, args))
    return 0
  },
}
