import type { ResponseEnvelope } from "../../core/envelope.ts"
import { encodeSoon } from "../../core/unread-file.ts"
import type { CommandIO, TextSink } from "../model.ts"
import { jsonText, escapeForTerminal, styled } from "../output.ts"
import { dataText, jsonOf } from "./show.ts"
import type { ResultForm } from "./show.ts"

/** Prints items, one per line, no faster than they are read. */
export class ItemWriter {
  readonly #form: ResultForm
  readonly #io: CommandIO

  constructor(form: ResultForm, io: CommandIO) {
    this.#form = form
    this.#io = io
  }

  /** Prints one; resolves when there is room for the next. */
  async write(item: ResponseEnvelope): Promise<void> {
    const { stdout, signal } = this.#io
    const encoded = encodeSoon(() => this.#line(item))
    const line = typeof encoded === "string" ? encoded : await encoded
    if (stdout.write(`${line}\n`) === false) await drained(stdout, signal)
  }

  #line(item: ResponseEnvelope): string {
    if (this.#form !== "people") return jsonText(jsonOf(item, this.#form))
    if (item.data === undefined) return ""
    const text = dataText(item, styled(this.#io))
    // Text of several lines would look like several items.
    const line = text.replaceAll(/\r\n|\r|\n/g, "\\n")
    return typeof item.data === "string" ? escapeForTerminal(line) : line
  }
}

/** A sink that can be full; those of tests and files have no events. */
interface Draining {
  once?(event: "drain", listener: () => void): unknown
  off?(event: "drain", listener: () => void): unknown
}

async function drained(sink: TextSink & Draining, signal: AbortSignal): Promise<void> {
  if (sink.once === undefined || signal.aborted) return
  await new Promise<void>((resolve) => {
    const done = (): void => {
      sink.off?.("drain", done)
      signal.removeEventListener("abort", done)
      resolve()
    }
    sink.once?.("drain", done)
    // Ctrl-C must work even if the reader is stuck.
    signal.addEventListener("abort", done)
  })
}
