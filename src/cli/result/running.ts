import type { OperationSpec, ProgressUpdate } from "../../types.ts"
import type { CommandArgs, CommandIO, TargetCallOptions } from "../model.ts"
import { oneLine, styled } from "../output.ts"
import { canAsk } from "../prompt/terminal.ts"

// A person who is asked reads first; the usual time of a call would be over by then.
const ANSWER_TIME = 600_000

// A stream that is between two items can be left in order, and its producer cleans up; one that waits for
// long is ended.
const STREAM_GRACE = 250

/** A call that runs: what stops it, who answers its questions, where its progress is shown. */
export class Running implements Disposable {
  readonly options: TargetCallOptions
  readonly #io: CommandIO
  readonly #stop = new AbortController()
  readonly #grace: number
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(spec: OperationSpec, args: CommandArgs, io: CommandIO) {
    this.#io = io
    this.#grace = spec.type === "subscription" ? STREAM_GRACE : 0
    // A request to a web API comes back with an answer, never with a question.
    const mayAsk = canAsk(args, io) && spec._meta?.["openapi"] === undefined
    io.signal.addEventListener("abort", this.#onAbort)
    if (io.signal.aborted) this.#onAbort()
    this.options = {
      signal: this.#stop.signal,
      timeout:
        args.count("timeout") ?? (mayAsk && spec.type !== "subscription" ? ANSWER_TIME : undefined),
      ...(mayAsk && { requestInput: this.#answerer() }),
      ...(io.stderr.isTTY === true && io.quiet !== true && { progress: this.#progress }),
    }
  }

  /** Ctrl-C came while a question was open, where it is a key and no signal. */
  get isInterrupted(): boolean {
    return this.#stop.signal.aborted && !this.#io.signal.aborted
  }

  [Symbol.dispose](): void {
    this.#io.signal.removeEventListener("abort", this.#onAbort)
    clearTimeout(this.#timer)
  }

  readonly #onAbort = (): void => {
    const stop = (): void => this.#stop.abort(this.#io.signal.reason)
    if (this.#grace === 0) stop()
    else this.#timer = setTimeout(stop, this.#grace)
  }

  #answerer(): TargetCallOptions["requestInput"] {
    return async (request) => {
      const { createAnswerer } = await import("../prompt/answer.ts")
      this.#answer ??= createAnswerer(this.#io, () => this.#stop.abort("SIGINT"))
      return await this.#answer(request)
    }
  }

  #answer: TargetCallOptions["requestInput"]

  readonly #progress = ({ progress, total, message }: ProgressUpdate): void => {
    const share = total === undefined ? `${progress}` : `${progress}/${total}`
    const text = message === undefined ? share : `${share} ${oneLine(message, 120)}`
    this.#io.stderr.write(`${styled(this.#io, this.#io.stderr).dim(text)}\n`)
  }
}
