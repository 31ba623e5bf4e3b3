import type { OperationSpec } from "../../core/types.ts"
import { validateOrThrow } from "../../core/validation.ts"
import { encodeFiles } from "../../core/unread-file.ts"
import { encodeValue } from "../../core/envelope-codec.ts"
import type { CommandArgs, CommandIO, Target } from "../model.ts"
import { jsonText, note, print, printJson, escapeForTerminal, styled } from "../output.ts"

/** Validates an input, and prints the request that a call would send; without a request, the input. */
export async function dryRun(
  target: Target,
  id: string,
  spec: OperationSpec,
  input: unknown,
  args: CommandArgs,
  io: CommandIO,
): Promise<void> {
  validateOrThrow(spec.inputSchema, input, `Input for "${id}"`)
  const request = await target.prepare(id, input)
  const encoded =
    request === undefined ? await encodeFiles(() => encodeValue(input).value) : undefined
  if (args.flag("json")) {
    printJson(io, { id, ...(request === undefined ? { input: encoded ?? null } : { request }) })
    return
  }
  const { bold, dim } = styled(io)
  if (request === undefined) {
    print(io, bold(escapeForTerminal(id)))
    print(io, jsonText(encoded, 2))
    note(io, "Nothing was called; the input is valid.")
    return
  }
  print(io, bold(escapeForTerminal(`${request.method} ${request.url}`)))
  for (const [name, value] of Object.entries(request.headers)) {
    print(io, `${dim(escapeForTerminal(`${name}:`))} ${escapeForTerminal(value)}`)
  }
  if (request.body !== undefined) print(io, `\n${escapeForTerminal(request.body)}`)
  note(io, "Nothing was sent; the input is valid.")
}
