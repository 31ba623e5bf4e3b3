import type { OperationSpec } from "../../core/types.ts"
import type { CommandArgs, CommandIO, OptionSpecs } from "../model.ts"
import { note, escapeForTerminal } from "../output.ts"
import type { OfferValues } from "../prompt/complete.ts"
import { canAsk } from "../prompt/terminal.ts"
import { decodeFiles } from "../../core/decode-files.ts"
import { readInput } from "./index.ts"

/** Input options of commands that call an operation. */
export const inputOptions: OptionSpecs = {
  input: {
    type: "string",
    short: "i",
    multiple: true,
    value: "file|-|json",
    description:
      "The input as JSON: a file, - for stdin, or the text itself; key=value goes over it",
    complete: "file",
  },
  "no-input": { type: "boolean", description: "Never ask for what is missing" },
}

/** Shared help about typing inputs. */
export const INPUT_HELP = `Inputs are read by the operation's schema: text stays text, and lists take several.
  title="Buy milk"        a text, number, yes or no, as the schema says
  labels[]=bug            an item of a list; again for the next
  address.city=Bonn       inside an object; items[0].name=… inside a list
  count:=5  tags:='[]'    JSON, whatever the schema says
  body=@notes.md          what a file holds; @- for stdin; @@ for a text that begins with @
  photo=cat.png           a file, where the schema takes one; - for stdin
  --input order.json      all of it; - for stdin, or the JSON itself
On a terminal you are asked for what is missing.`

/** Reads the input of an operation from the command line; on a terminal, asks for what is missing. */
export async function gatherInput(
  spec: OperationSpec,
  args: CommandArgs,
  io: CommandIO,
  offered?: OfferValues,
): Promise<unknown> {
  const { value, notes, usedStdin } = await readInput(
    {
      arguments: args.positionals.slice(1),
      inputs: args.texts("input"),
      schema: spec.inputSchema,
    },
    io,
  )
  for (const text of notes) note(io, escapeForTerminal(text))
  if (usedStdin || !canAsk(args, io)) return value
  const { completeInput } = await import("../prompt/complete.ts")
  return decodeFiles(spec.inputSchema, await completeInput(value, spec.inputSchema, io, offered))
}
