import { Buffer } from "node:buffer"
import { encodeEnvelope } from "../../core/envelope-codec.ts"
import {
  isFailedTool,
  unwrapOrThrow,
  type MCPContentBlock,
  type MCPResponseMeta,
  type ResponseEnvelope,
} from "../../core/envelope.ts"
import { encodeResult } from "../../core/unread-file.ts"
import { isRecord } from "../../internal/guards.ts"
import { isFileLike, type FileLike } from "../../schema/files.ts"
import type { CommandArgs, CommandIO } from "../model.ts"
import { formOf, showResult } from "./show.ts"

/** Prints the result of a call, or writes it to the file of `--output`. Returns the exit code. */
export async function printEnvelope(
  envelope: ResponseEnvelope,
  args: CommandArgs,
  io: CommandIO,
): Promise<number> {
  const form = formOf(args)
  const output = args.text("output")
  const { meta } = envelope
  const isFailure = isFailedTool(meta)
  // A failed tool is reported as text; with --json the envelope contains it.
  if (isFailure && form === "people") unwrapOrThrow(envelope)
  if (isFileLike(envelope.data)) return await printFile(envelope, envelope.data, args, io)
  if (output !== undefined && !isFailure) {
    const { saveResult } = await import("./save.ts")
    await saveResult(envelope, output, io)
    if (form === "people" || output === "-") return 0
  }
  showResult(envelope, form, io)
  return isFailure ? 1 : 0
}

/** A file as the result: written as it arrives, unless it becomes part of JSON. */
async function printFile(
  envelope: ResponseEnvelope,
  file: FileLike,
  args: CommandArgs,
  io: CommandIO,
): Promise<number> {
  const { saveFile, showFile } = await import("./save.ts")
  const form = formOf(args)
  const output = args.text("output")
  if (output !== undefined) await saveFile(file, output, io)
  else if (form === "people") await showFile(file, io)
  else {
    await encodeResult(() => encodeEnvelope(envelope))
    showResult(envelope, form, io)
  }
  return 0
}

/** The contents of a resource as content blocks, for people; a result of another form stays as it is. */
export function asContents(envelope: ResponseEnvelope, args: CommandArgs): ResponseEnvelope {
  const contents = recordsAt(envelope.data, "contents")
  if (contents === undefined || formOf(args) !== "people") return envelope
  const [first, ...others] = contents
  const { blob, mimeType } = first ?? {}
  if (typeof blob === "string" && others.length === 0) {
    const contentType = typeof mimeType === "string" ? mimeType : "bytes"
    const meta = { source: "http", statusCode: 200, headers: {}, contentType } as const
    return { data: new Uint8Array(Buffer.from(blob, "base64")), meta }
  }
  return ofBlocks(
    contents.map((resource) => ({ type: "resource", resource }) as unknown as MCPContentBlock),
  )
}

/** The messages of a prompt as content blocks, with the roles if an assistant speaks, too. */
export function asMessages(envelope: ResponseEnvelope, args: CommandArgs): ResponseEnvelope {
  const messages = recordsAt(envelope.data, "messages")
  if (messages === undefined || formOf(args) !== "people") return envelope
  const isDialogue = messages.some(({ role }) => role !== "user")
  return ofBlocks(
    messages.flatMap(({ role, content }) => {
      const block = content as MCPContentBlock
      return isDialogue ? [{ type: "text", text: `${String(role)}:` } as const, block] : [block]
    }),
  )
}

function ofBlocks(content: MCPContentBlock[]): ResponseEnvelope {
  const meta: MCPResponseMeta = { source: "mcp", isError: false, content }
  return { data: content, meta }
}

function recordsAt(
  data: unknown,
  member: string,
): readonly Readonly<Record<string, unknown>>[] | undefined {
  const items = isRecord(data) ? data[member] : undefined
  return Array.isArray(items) && items.every(isRecord) ? items : undefined
}
