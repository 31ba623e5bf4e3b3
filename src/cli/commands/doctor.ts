import { examine, examineHub } from "../doctor/examine.ts"
import { printDiagnosis } from "../doctor/print-diagnosis.ts"
import type { CommandDefinition, CommandArgs, CommandIO } from "../model.ts"
import { printJson } from "../output.ts"
import { hubAddress } from "../target/hub-address.ts"

export const command: CommandDefinition = {
  usage: "",
  details: [
    "Reads the configuration, looks whether the variables and files are there that it refers to, opens",
    "every source once, and says what became of its operations: kept, widened (it takes or gives more",
    "than the document says) or skipped, and why. Of credentials only names are shown.",
    "Exits with 1 when something is wrong.",
  ].join(" "),
  examples: [
    ["doctor", "the configuration here or above"],
    ["doctor --source github --verbose", "one source, with everything there is to say"],
    ["doctor --tokens", "what the list of tools costs a model"],
    ["doctor --hub http://127.0.0.1:3000", "the sources of a running hub"],
  ],
  options: {
    tokens: {
      type: "boolean",
      description: "Estimates the tokens of the tools that a model reads, by source",
    },
  },
  hasSources: true,
  arity: [0, 0],
  run,
}

async function run(args: CommandArgs, io: CommandIO): Promise<number> {
  const hub = hubAddress(args, io)
  const diagnosis = hub === undefined ? await examine(args, io) : await examineHub(hub, args, io)
  if (args.flag("json")) printJson(io, diagnosis)
  else printDiagnosis(diagnosis, io)
  return diagnosis.ok ? 0 : 1
}
