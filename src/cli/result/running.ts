import type {
  InputRequest,
  InputResponse,
  OperationSpec,
  ProgressUpdate,
} from "../../core/types.ts"
import { inputUnavailable } from "../../core/input-requests.ts"
import type { CommandArgs, CommandIO, TargetCallOptions } from "../model.ts"
import { systemClock } from "../../internal/clock.ts"
import { formatDuration } from "../../internal/format.ts"
import { oneLine, styled } from "../output.ts"
import { canAsk } from "../prompt/terminal.ts"

// People need time to read a question; the default timeout of a call would be too short.
const ANSWER_TIME = 600_000

// Between two items a stream can be left cleanly, and its producer cleans up; a stream that waits for
// longer is cancelled.
const STREAM_GRACE = 250

/** A running call: its signal, its prompts and its progress. */
export class Running implements Disposable {
  readonly options: TargetCallOptions
  readonly #io: CommandIO
  readonly #stop = new AbortController()
  /** Aborted when the call has ended, or the program should. */
  readonly #over = new AbortController()
  readonly #grace: number
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Open questions. */
  readonly #open = new Set<Promise<unknown>>()
  /** The latest progress while a question is open; shown after the answer. */
  #held: ProgressUpdate | undefined
  readonly #startedAt = systemClock.now()
  readonly #id: string
  /** With `--yes`. */
  readonly #isApproved: boolean
  readonly #canAsk: boolean
  /** Whether progress is shown in place; between the items of a stream it has lines of its own. */
  readonly #isInPlace: boolean
  #isShown = false

  constructor(spec: OperationSpec, args: CommandArgs, io: CommandIO) {
    this.#io = io
    this.#id = `${spec.namespace}.${spec.name}`
    this.#isInPlace = spec.type !== "subscription" && io.env["TERM"] !== "dumb"
    this.#grace = spec.type === "subscription" ? STREAM_GRACE : 0
    // HTTP operations never ask for input; rules may ask before they run.
    const mayAsk = canAsk(args, io) && spec._meta?.["openapi"] === undefined
    const mayApprove = args.flag("yes") || (canAsk(args, io) && spec.type === "mutation")
    this.#isApproved = args.flag("yes")
    this.#canAsk = canAsk(args, io)
    io.signal.addEventListener("abort", this.#onAbort)
    if (io.signal.aborted) this.#onAbort()
    this.options = {
      signal: this.#stop.signal,
      timeout:
        args.count("timeout") ?? (mayAsk && spec.type !== "subscription" ? ANSWER_TIME : undefined),
      ...((mayAsk || mayApprove) && { requestInput: this.#answerer() }),
      ...(io.stderr.isTTY === true && io.quiet !== true && { progress: this.#progress }),
    }
  }

  /** Ctrl-C was pressed at a question, where it is a key and not a signal. */
  get isInterrupted(): boolean {
    return this.#stop.signal.aborted && !this.#io.signal.aborted
  }

  /** Resolves when no question is open, and no progress is shown, so that the result can be printed. */
  async answered(): Promise<void> {
    while (this.#open.size > 0) await Promise.allSettled(this.#open)
    this.#clear()
  }

  /** Withdraws open questions. */
  [Symbol.dispose](): void {
    this.#io.signal.removeEventListener("abort", this.#onAbort)
    clearTimeout(this.#timer)
    this.#clear()
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
      if (this.#isApproved && request.type === undefined && request.purpose === "approval") {
        return { action: "accept" }
      }
      if (!this.#canAsk) throw inputUnavailable(this.#id)
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
    // Above the question the progress stays.
    if (this.#isShown) this.#io.stderr.write("\n")
    this.#isShown = false
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
    const said = message === undefined ? share : `${share} ${oneLine(message, 120)}`
    const { stderr } = this.#io
    const { dim } = styled(this.#io, stderr)
    if (!this.#isInPlace) {
      stderr.write(`${dim(said)}\n`)
      return
    }
    const time = formatDuration(systemClock.now() - this.#startedAt)
    const text = `${barOf(progress, total)}${said}  ${time}`
    this.#clear()
    // A line that wraps could not be replaced.
    stderr.write(dim(oneLine(text, (stderr.columns ?? 80) - 1)))
    this.#isShown = true
  }

  /** Removes the line of the progress. */
  #clear(): void {
    if (this.#isShown) this.#io.stderr.write("\r\u001B[2K")
    this.#isShown = false
  }
}

const BAR = 20

/** A bar for a share that is known. */
function barOf(progress: number, total: number | undefined): string {
  if (total === undefined || !(total > 0)) return ""
  const full = Math.round(BAR * Math.min(1, Math.max(0, progress / total)))
  return `${"█".repeat(full)}${"░".repeat(BAR - full)} `
}
