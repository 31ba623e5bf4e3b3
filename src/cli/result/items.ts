import { once } from "node:events"
import type { ResponseEnvelope } from "../../core/envelope.ts"
import { encodeSoon } from "../../core/unread-file.ts"
import type { CommandIO, TextSink } from "../model.ts"
import { jsonText, escapeForTerminal, styled } from "../output.ts"
import { dataText, jsonOf, type ResultForm } from "./show.ts"

/** Prints an item on one line; resolves when there is room for the next. */
export async function printItem(
  item: ResponseEnvelope,
  form: ResultForm,
  io: CommandIO,
): Promise<void> {
  const { stdout, signal } = io
  const encoded = encodeSoon(() => lineOf(item, form, io))
  const line = typeof encoded === "string" ? encoded : await encoded
  if (stdout.write(`${line}\n`) === false) await drained(stdout, signal)
}

function lineOf(item: ResponseEnvelope, form: ResultForm, io: CommandIO): string {
  if (form !== "people") return jsonText(jsonOf(item, form))
  if (item.data === undefined) return ""
  const text = dataText(item, styled(io))
  // Text of several lines would look like several items.
  const line = text.replaceAll(/\r\n|\r|\n/g, "\\n")
  return typeof item.data === "string" ? escapeForTerminal(line) : line
}

/** Resolves when a sink has room again; those of tests and files have no events. */
export async function drained(
  sink: TextSink & Pick<Partial<NodeJS.WritableStream>, "once" | "off">,
  signal: AbortSignal,
): Promise<void> {
  if (sink.once === undefined) return
  // Ctrl-C must work even if the reader is stuck.
  await once(sink as unknown as NodeJS.EventEmitter, "drain", { signal }).catch(() => undefined)
}
