import { extname, isAbsolute, resolve } from "node:path"
import type { ResponseEnvelope } from "../../core/envelope.ts"
import type { CommandIO } from "../model.ts"
import { replaceFile } from "../replace-file.ts"
import { note, escapeForTerminal, styled } from "../output.ts"
import { asBytes, blocksOf, blockText, bytesIn, sizeText, unwritable } from "./blocks.ts"
import { jsonOf } from "./show.ts"

/**
 * Writes a result to a file: its bytes if it has some, otherwise its text or JSON; `-` is stdout.
 *
 * Several images or files of one result become `name.png`, `name-2.png` and so on.
 */
export async function saveResult(
  envelope: ResponseEnvelope,
  output: string,
  io: CommandIO,
): Promise<void> {
  const parts = contentsOf(envelope)
  if (output === "-") {
    for (const part of parts) io.stdout.write(part)
    return
  }
  const path = isAbsolute(output) ? output : resolve(io.cwd, output)
  for (const [at, part] of parts.entries()) {
    const name = numbered(path, at)
    try {
      await replaceFile(name, part)
    } catch (error) {
      throw unwritable(output, error)
    }
    const size = typeof part === "string" ? new TextEncoder().encode(part).length : part.length
    note(io, styled(io, io.stderr).dim(escapeForTerminal(`Wrote ${sizeText(size)} to ${name}`)))
  }
}

function contentsOf(envelope: ResponseEnvelope): readonly (string | Uint8Array)[] {
  const { data } = envelope
  const own = asBytes(data)
  if (own !== undefined) return [own]
  const blocks = blocksOf(envelope)
  const binary = bytesIn(envelope).map(({ bytes }) => bytes)
  if (blocks !== undefined && binary.length > 0) return binary
  if (blocks !== undefined) return [`${blocks.map(blockText).join("\n")}\n`]
  if (typeof data === "string") return [data]
  return [`${JSON.stringify(jsonOf(envelope, "data"), undefined, 2)}\n`]
}

function numbered(path: string, at: number): string {
  if (at === 0) return path
  const extension = extname(path)
  return `${path.slice(0, path.length - extension.length)}-${at + 1}${extension}`
}
