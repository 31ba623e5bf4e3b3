import { isAbsolute, resolve } from "node:path"
import type { FileLike } from "../../schema/files.ts"
import type { CommandIO } from "../model.ts"
import { replaceFile } from "../replace-file.ts"
import { escapeForTerminal, note, styled } from "../output.ts"
import { chunksOf } from "../../internal/streams.ts"
import { sizeText, unwritable } from "./blocks.ts"

/** Writes a file as it arrives, never whole in memory; `-` is stdout. */
export async function saveFile(file: FileLike, output: string, io: CommandIO): Promise<void> {
  if (output === "-") {
    await toStdout(file, io)
    return
  }
  const path = isAbsolute(output) ? output : resolve(io.cwd, output)
  let size = 0
  const count = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of chunksOf(file.stream())) {
      size += chunk.length
      yield chunk
    }
  }
  try {
    await replaceFile(path, count(), { signal: io.signal })
  } catch (error) {
    throw unwritable(output, error, "it broke off")
  }
  note(io, styled(io, io.stderr).dim(escapeForTerminal(`Wrote ${sizeText(size)} to ${path}`)))
}

/** Writes a file to stdout, unless that is a terminal, which could interpret its bytes. */
export async function showFile(file: FileLike, io: CommandIO): Promise<void> {
  if (io.stdout.isTTY !== true) {
    await toStdout(file, io)
    return
  }
  const { name = "a file", type, size } = file
  const what = [name, type, size === undefined ? "" : sizeText(size)].filter((one) => one !== "")
  note(
    io,
    escapeForTerminal(`The result is ${what.join(", ")}. Write it to a file: --output <file>`),
  )
  file
    .stream()
    .cancel()
    .catch(() => undefined)
}

async function toStdout(file: FileLike, io: CommandIO): Promise<void> {
  const { stdout } = io as { readonly stdout: CommandIO["stdout"] & Partial<NodeJS.WritableStream> }
  for await (const chunk of chunksOf(file.stream())) {
    if (stdout.write(chunk) === false && stdout.once !== undefined) {
      await new Promise<void>((go) => stdout.once?.("drain", () => go()))
    }
  }
}
