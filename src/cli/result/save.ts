import { extname, resolve } from "node:path"
import type { ResponseEnvelope } from "../../core/envelope.ts"
import { chunksOf } from "../../internal/streams.ts"
import type { FileLike } from "../../schema/files.ts"
import type { CommandIO } from "../model.ts"
import { replaceFile } from "../../node/replace-file.ts"
import { note, escapeForTerminal, styled } from "../output.ts"
import { asBytes, blocksOf, blockText, bytesIn, sizeText } from "./blocks.ts"
import { drained } from "./items.ts"
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
  for (const [at, part] of contentsOf(envelope).entries()) {
    const bytes = typeof part === "string" ? new TextEncoder().encode(part) : part
    if (output === "-") io.stdout.write(part)
    else await writeChunks([bytes], numbered(resolve(io.cwd, output), at), output, io)
  }
}

/** Writes a file as it arrives, never whole in memory; `-` is stdout. */
export async function saveFile(file: FileLike, output: string, io: CommandIO): Promise<void> {
  if (output === "-") return await toStdout(file, io)
  const chunks = chunksOf(file.stream())
  await writeChunks(chunks, resolve(io.cwd, output), output, io, "it broke off")
}

/** Writes a file to stdout, unless that is a terminal, which could interpret its bytes. */
export async function showFile(file: FileLike, io: CommandIO): Promise<void> {
  if (io.stdout.isTTY !== true) return await toStdout(file, io)
  const { name = "a file", type, size } = file
  const what = [name, type, size === undefined ? "" : sizeText(size)].filter((one) => one !== "")
  note(
    io,
    escapeForTerminal(`The result is ${what.join(", ")}. Write it to a file: --output <file>`),
  )
  const stream = file.stream()
  stream.cancel().catch(() => undefined)
}

async function toStdout(file: FileLike, { stdout, signal }: CommandIO): Promise<void> {
  for await (const chunk of chunksOf(file.stream())) {
    if (stdout.write(chunk) === false) await drained(stdout, signal)
  }
}

async function writeChunks(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  path: string,
  output: string,
  io: CommandIO,
  reason = "it failed",
): Promise<void> {
  let size = 0
  const counted = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of chunks) {
      size += chunk.length
      yield chunk
    }
  }
  try {
    await replaceFile(path, counted(), { signal: io.signal })
  } catch (cause) {
    const { code = reason } = cause as NodeJS.ErrnoException
    const what = `--output: the operation ran, and its result could not be written to "${output}"`
    throw new Error(`${what} (${code}).`, { cause })
  }
  note(io, styled(io, io.stderr).dim(escapeForTerminal(`Wrote ${sizeText(size)} to ${path}`)))
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
