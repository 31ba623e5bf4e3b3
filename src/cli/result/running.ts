import type {
  InputRequest,
  InputResponse,
  OperationSpec,
  ProgressUpdate,
} from "../../core/types.ts"
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
  /** The call has ended, or the program is to. */
  readonly #over = new AbortController()
  readonly #grace: number
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Questions that are not answered yet. */
  readonly #open = new Set<Promise<unknown>>()
  /** Progress that came while a question was open: the latest is shown after the answer. */
  #held: ProgressUpdate | undefined

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

  /** When no question is open: nothing is printed between one and its answer. */
  async answered(): Promise<void> {
    while (this.#open.size > 0) await Promise.allSettled(this.#open)
  }

  /** A question that is still open is withdrawn. */
  [Symbol.dispose](): void {
    this.#io.signal.removeEventListener("abort", this.#onAbort)
    clearTimeout(this.#timer)
    this.#over.abort()
  }

  readonly #onAbort = (): void => {
    this.#over.abort()
    const stop = (): void => this.#stop.abort(this.#io.signal.reason)
    if (this.#grace === 0) stop()
    else this.#timer = setTimeout(stop, this.#grace)
  }

  #answerer(): NonNullable<TargetCallOptions["requestInput"]> {
    return async (request) => {
      const answer = this.#ask(request)
      this.#open.add(answer)
      try {
        return await answer
      } finally {
        this.#open.delete(answer)
        const held = this.#held
        this.#held = undefined
        if (held !== undefined) this.#progress(held)
      }
    }
  }

  async #ask(request: InputRequest): Promise<InputResponse> {
    const { createAnswerer } = await import("../prompt/answer.ts")
    const io = { ...this.#io, signal: this.#over.signal }
    this.#answer ??= createAnswerer(io, () => this.#stop.abort("SIGINT"))
    return await this.#answer(request)
  }

  #answer: TargetCallOptions["requestInput"]

  readonly #progress = (update: ProgressUpdate): void => {
    if (this.#open.size > 0) {
      this.#held = update
      return
    }
    const { progress, total, message } = update
    const share = total === undefined ? `${progress}` : `${progress}/${total}`
    const text = message === undefined ? share : `${share} ${oneLine(message, 120)}`
    this.#io.stderr.write(`${styled(this.#io, this.#io.stderr).dim(text)}\n`)
  }
}
