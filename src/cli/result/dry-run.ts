import type { OperationSpec } from "../../core/types.ts"
import { validateOrThrow } from "../../core/validation.ts"
import { encodeFiles } from "../../core/unread-file.ts"
import { encodeValue } from "../../core/envelope-codec.ts"
import type { CommandArgs, CommandIO, PreparedCall } from "../model.ts"
import { jsonText, note, print, printJson, escapeForTerminal, styled } from "../output.ts"

/** Validates an input, with the errors of a call. */
export function checkInput(id: string, spec: OperationSpec, input: unknown): void {
  validateOrThrow(spec.inputSchema, input, `Input for "${id}"`)
}

/** Prints the request that a call would send; for an operation without a request, its validated input. */
export async function showRequest(
  id: string,
  input: unknown,
  request: PreparedCall | undefined,
  args: CommandArgs,
  io: CommandIO,
): Promise<void> {
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
