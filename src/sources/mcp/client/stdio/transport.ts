import { CallError } from "../../../../core/errors.ts"
import type { Logger } from "../../../../internal/logger.ts"
import { deferred, withTimeout, type Deferred } from "../../../../internal/wait.ts"
import { ProcessGroup } from "./group.ts"
import { launch, launched, launchFailure, type LaunchParameters } from "./launch.ts"
import { asLine, lineReader, messagesOf, Tail } from "../../../../mcp/lines.ts"
import { loadNode, type ChildLike } from "./node.ts"
import { sharedReaper, type ReaperLease } from "./reaper.ts"

const EOF_MS = 2000
const TERM_MS = 1000
const KILL_MS = 500
const MUTE_MS = 500
const QUIET_MS = 20
const DRAIN_ROUNDS = 25
const STDERR_BYTES = 65_536

/** Parameters of a child process. */
export interface ChildParameters extends LaunchParameters {
  /** Maximum size of a message of the child. */
  readonly maxMessageBytes: number
  readonly logger?: Logger | undefined
  /** The name of the server, for messages. */
  readonly server?: string | undefined
}

/** How a child process ended. */
export interface ChildExit {
  readonly code: number | null
  readonly signal: string | null
}

/**
 * A transport for a child process: one message per line of stdin and stdout.
 *
 * It has the interface of the MCP SDK's transports. When it is closed, or its host dies, the child and its
 * descendants are ended.
 */
export class ChildTransport {
  onmessage: ((message: unknown) => void) | undefined = undefined
  /** Called once, when the child has ended or will never start. */
  onclose: (() => void) | undefined = undefined
  onerror: ((error: Error) => void) | undefined = undefined
  exit: ChildExit | undefined = undefined
  /** Why the transport ended the child. */
  failure: CallError | undefined = undefined
  /** Number of lines on stdout that were not messages. */
  droppedLines = 0

  readonly #parameters: ChildParameters
  readonly #label: string
  readonly #stderr = new Tail(STDERR_BYTES)
  readonly #exited = deferred()
  readonly #streamsClosed = deferred()
  #child: ChildLike | undefined
  #group: ProcessGroup | undefined
  #lease: ReaperLease | undefined
  #closing: Promise<void> | undefined
  #isStarted = false
  #isOver = false
  #reads = 0

  constructor(parameters: ChildParameters) {
    this.#parameters = parameters
    this.#label =
      parameters.server === undefined ? "MCP server" : `MCP server "${parameters.server}"`
  }

  /** The process id, also after its end; `undefined` before it runs. */
  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** The last output of the child to stderr, with secrets. */
  stderrTail(): string {
    return this.#stderr.text()
  }

  /** Starts the child; rejects with `UNAVAILABLE` when that is not possible. */
  async start(): Promise<void> {
    if (this.#isStarted) throw new TypeError("ChildTransport.start() was called twice.")
    this.#isStarted = true
    const node = await loadNode(this.#label)
    if (this.#closing !== undefined) throw this.#lost("it was closed before it ran")
    this.#lease = sharedReaper(node).lease()
    try {
      const child = launch(node, this.#parameters)
      const isRunning = launched(child)
      if (child.pid !== undefined) {
        this.#lease.track(child.pid)
        this.#group = new ProcessGroup(node, child.pid)
        this.#attach(child)
      }
      await isRunning
    } catch (cause) {
      this.#lease.release()
      throw await launchFailure(this.#label, node, this.#parameters, cause)
    }
  }

  /** Resolves when the pipe accepts more data; rejects with `UNAVAILABLE` when nothing reads it. */
  async send(message: unknown): Promise<void> {
    const stdin = this.#child?.stdin
    if (this.#closing !== undefined || stdin === undefined || stdin === null) {
      throw this.#lost(this.#child === undefined ? "it was not started" : "it has ended")
    }
    const line = asLine(JSON.stringify(message))
    const error = await new Promise<Error | null | undefined>((resolve) => {
      const hasRoom = stdin.write(line, resolve)
      if (hasRoom) resolve(undefined)
    })
    if (error === undefined || error === null) return
    // The pipe of a process that has just ended breaks before its exit and its last output are known.
    if (await within(this.#exited, MUTE_MS)) await this.#drain()
    throw this.#lost("it no longer reads its stdin", error)
  }

  /**
   * Ends the child and its group: closes its stdin, then sends SIGTERM, then SIGKILL.
   *
   * Takes less than five seconds in the worst case. May be called more than once.
   */
  close(): Promise<void> {
    this.#closing ??= this.#shutDown()
    return this.#closing
  }

  #attach(child: ChildLike): void {
    this.#child = child
    const { maxMessageBytes } = this.#parameters
    const lines = lineReader(maxMessageBytes, (line) => this.#take(line))
    child.stdout?.on("data", (chunk) => {
      this.#reads++
      if (this.#isOver || lines.push(chunk)) return
      this.#giveUp(
        "PAYLOAD_TOO_LARGE",
        `${this.#label} sent a message of more than ${maxMessageBytes} bytes and was ended. Raise "maxMessageBytes" if such messages are expected.`,
      )
    })
    child.stdout?.on("end", () => void this.#muted())
    child.stderr?.on("data", (chunk) => this.#stderr.push(chunk))
    // A pipe without a reader is reported by `send`.
    child.stdin?.on("error", () => {})
    child.stdout?.on("error", (error) => this.#report(error))
    child.stderr?.on("error", () => {})
    child.on("close", () => this.#streamsClosed.resolve())
    child.on("exit", (code, signal) => {
      this.exit = { code, signal }
      this.#exited.resolve()
      this.#closing ??= this.#clearUp()
    })
  }

  #take(line: string): void {
    if (this.#isOver) return
    const messages = messagesOf(line)
    if (messages === undefined) {
      if (this.droppedLines++ > 0) return
      this.#parameters.logger?.warn(
        `${this.#label} writes lines to stdout that are not messages; they are ignored. It should log to stderr.`,
        { pid: this.pid },
      )
      return
    }
    for (const message of messages) {
      this.#notify(() => this.onmessage?.(message))
    }
  }

  /** Ends a child that closed its stdout: it cannot answer any more, even if it is still running. */
  async #muted(): Promise<void> {
    if (await within(this.#exited, MUTE_MS)) return
    if (this.#closing !== undefined) return
    this.#giveUp(
      "UNAVAILABLE",
      `${this.#label} closed its stdout while it was running, and was ended. Check its output to stderr.`,
    )
  }

  #giveUp(code: "PAYLOAD_TOO_LARGE" | "UNAVAILABLE", message: string): void {
    if (this.failure !== undefined) return
    this.failure = new CallError(code, message, { retryable: false, mayHaveExecuted: true })
    this.#child?.stdout?.destroy()
    this.#report(this.failure)
    if (this.#closing === undefined) this.#closing = this.#clearUp()
    else this.#group?.signal("SIGKILL")
  }

  async #shutDown(): Promise<void> {
    const group = this.#group
    if (group === undefined) return this.#finish()
    this.#child?.stdin?.end()
    await within(this.#exited, EOF_MS)
    if (!(await group.isGoneWithin(0))) {
      group.signal("SIGTERM")
      if (!(await group.isGoneWithin(TERM_MS))) group.signal("SIGKILL")
    }
    await this.#clearUp()
  }

  /** Kills what is left of the group, and reads its remaining output. */
  async #clearUp(): Promise<void> {
    this.#group?.signal("SIGKILL")
    await within(this.#exited, KILL_MS)
    await this.#drain()
    this.#finish()
    await this.#group?.isGoneWithin(KILL_MS)
    this.#lease?.release()
  }

  /**
   * Waits for the pipes to end, as long as data arrives.
   *
   * A process that left the group may keep them open for ever. Two quiet rounds are required: after a busy
   * turn of the event loop, timers fire before pending data is delivered.
   */
  async #drain(): Promise<void> {
    let quiet = 0
    for (let round = 0; round < DRAIN_ROUNDS && quiet < 2; round++) {
      const before = this.#reads
      if (await within(this.#streamsClosed, QUIET_MS)) return
      quiet = this.#reads === before ? quiet + 1 : 0
    }
  }

  #finish(): void {
    if (this.#isOver) return
    this.#isOver = true
    for (const stream of [this.#child?.stdin, this.#child?.stdout, this.#child?.stderr]) {
      stream?.destroy()
    }
    this.#notify(() => this.onclose?.())
  }

  /** Calls a listener; an exception in it must not leave a process behind. */
  #notify(listener: () => void): void {
    try {
      listener()
    } catch (error) {
      this.#report(error instanceof Error ? error : new Error(String(error)))
    }
  }

  #report(error: Error): void {
    try {
      this.onerror?.(error)
    } catch {
      // There is no other listener to report to.
    }
  }

  #lost(why: string, cause?: unknown): CallError {
    const { code, signal } = this.exit ?? {}
    const how = this.exit === undefined ? "" : ` (${signal ?? `exit code ${code}`})`
    return new CallError("UNAVAILABLE", `${this.#label} cannot be reached: ${why}${how}.`, {
      cause,
      mayHaveExecuted: false,
    })
  }
}

/** Whether something happens within so many milliseconds. */
function within({ promise }: Deferred, milliseconds: number): Promise<boolean> {
  return withTimeout(
    promise.then(() => true),
    milliseconds,
    () => false,
  )
}
