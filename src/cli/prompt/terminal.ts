import { createInterface, type Interface } from "node:readline"
import { Writable } from "node:stream"
import { UsageError, type CommandArgs, type CommandIO, type TextSink } from "../model.ts"
import { wrapFor } from "../wrap.ts"

/** A terminal for questions. */
export interface Terminal {
  /** Prints a line. */
  print(text: string): void
  /** Asks for a line. Rejects with `Interrupted` at Ctrl-C, and with a `UsageError` at Ctrl-D. */
  ask(prompt: string, options?: AskOptions): Promise<string>
}

export interface AskOptions {
  /** Hides the typed text. */
  readonly isHidden?: boolean | undefined
  /** Completions for the tab key. */
  readonly complete?: readonly string[] | undefined
}

/** Ctrl-C at a question. */
export class Interrupted extends Error {
  override readonly name = "Interrupted"
}

/** Whether prompts are possible: on a terminal, without `--json` and `--no-input`. */
export function canAsk(args: CommandArgs, io: CommandIO): boolean {
  if (args.flag("json") || args.flag("no-input")) return false
  return io.stdin.isTTY === true && io.stderr.isTTY === true
}

/** Uses the terminal for questions and releases it, so that Ctrl-C is a signal again afterwards. */
export async function withTerminal<TResult>(
  io: CommandIO,
  use: (terminal: Terminal) => Promise<TResult>,
): Promise<TResult> {
  const terminal = new ReadlineTerminal(io)
  try {
    return await use(terminal)
  } finally {
    terminal.close()
  }
}

interface Waiting {
  readonly resolve: (line: string) => void
  readonly reject: (error: Error) => void
}

class ReadlineTerminal implements Terminal {
  readonly #sink: TextSink
  readonly #signal: AbortSignal
  readonly #lines: Interface
  // Pasted lines answer later questions.
  readonly #early: string[] = []
  #waiting: Waiting | undefined
  #ended: Error | undefined
  #isHidden = false
  #completions: readonly string[] = []

  constructor({ stdin, stderr, signal }: CommandIO) {
    this.#sink = stderr
    this.#signal = signal
    this.#lines = createInterface({
      input: stdin as unknown as NodeJS.ReadableStream,
      output: this.#output(),
      terminal: true,
      historySize: 0,
      completer: (line: string) => [this.#completions.filter((one) => one.startsWith(line)), line],
    })
    this.#lines.on("line", (line) => this.#answered(line))
    this.#lines.on("SIGINT", () => this.#end(new Interrupted("Stopped.")))
    this.#lines.on("close", () => this.#end(new UsageError("Nothing more was typed.")))
    signal.addEventListener("abort", this.#stop)
    if (signal.aborted) this.#stop()
  }

  print(text: string): void {
    this.#sink.write(`${wrapFor(this.#sink, text)}\n`)
  }

  async ask(prompt: string, { isHidden = false, complete = [] }: AskOptions = {}): Promise<string> {
    if (this.#ended !== undefined) throw this.#ended
    this.#completions = complete
    const early = this.#early.shift()
    if (early !== undefined) {
      this.print(`${prompt}${isHidden ? "" : early}`)
      return early
    }
    this.#lines.setPrompt(prompt)
    this.#lines.prompt()
    this.#isHidden = isHidden
    try {
      return await new Promise<string>((resolve, reject) => {
        this.#waiting = { resolve, reject }
      })
    } finally {
      // The line break was hidden, too.
      if (isHidden || this.#ended !== undefined) this.#sink.write("\n")
      this.#isHidden = false
    }
  }

  close(): void {
    this.#signal.removeEventListener("abort", this.#stop)
    this.#ended ??= new UsageError("Nothing more was typed.")
    this.#lines.close()
  }

  readonly #stop = (): void => this.#end(new Interrupted("Stopped."))

  #answered(line: string): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    if (waiting === undefined) this.#early.push(line)
    else waiting.resolve(line)
  }

  #end(error: Error): void {
    this.#ended ??= error
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.reject(this.#ended)
  }

  /** Output of the line editor: nothing while hidden text is typed. */
  #output(): Writable {
    const sink = this.#sink
    const output = new Writable({
      decodeStrings: false,
      write: (chunk: string | Uint8Array, _encoding, done) => {
        if (!this.#isHidden) sink.write(chunk)
        done()
      },
    })
    // The editor needs the width of the terminal.
    Object.defineProperty(output, "columns", { get: () => sink.columns ?? 80 })
    return Object.assign(output, { isTTY: true })
  }
}
