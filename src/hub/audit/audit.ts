import { resolve as resolvePath } from "node:path"
import { NEEDS_KEY } from "../../config/config-shapes.ts"
import { Closable } from "../../internal/closable.ts"
import { refusal } from "../../core/errors.ts"
import { setOutward } from "../../core/error-marks.ts"
import type { Middleware, MiddlewareCall } from "../../core/middleware.ts"
import type {
  CallEnded,
  CallRecorder,
  CallRecording,
  CallStarted,
  ObservableCall,
} from "../../engine/observe.ts"
import type { OperationRegistry } from "../../engine/registry.ts"
import { consoleLogger, type Logger } from "../../internal/logger.ts"
import { reasonOf } from "../../internal/message-text.ts"
import { isolatedLogger, notify } from "../../internal/notify.ts"
import { validateOptions } from "../../internal/options.ts"
import { redactText } from "../../internal/redact.ts"
import { mapTexts } from "../resolve-references.ts"
import type { AuditHead, AuditKey } from "./chain.ts"
import { readInput } from "./input.ts"
import { type Entry, LogFile } from "./log-file.ts"
import { type Audit, AUDIT_OPTIONS, type AuditOptions } from "./options.ts"

/**
 * Opens an audit log: who called what, as lines of JSON, each sealed together with the one before. A mutation runs only
 * after its line is written.
 *
 * Rejects if another process writes the file, or if its last lines were changed.
 */
export async function openAudit(file: string, options: AuditOptions = {}): Promise<Audit> {
  if (typeof file !== "string" || file === "") {
    throw new TypeError(`openAudit(file): must be a path, such as "audit.jsonl".`)
  }
  validateOptions("openAudit", options, AUDIT_OPTIONS)
  if (options.record === "fingerprint" && options.key === undefined) {
    throw new TypeError(`openAudit(): record "fingerprint" needs "key": ${NEEDS_KEY}`)
  }
  const log = new AuditLog(
    () => Promise.resolve({ file: resolvePath(file), key: options.key }),
    options,
  )
  try {
    await log.open()
    return log
  } catch (error) {
    await log.close()
    throw error
  }
}

/** Where a log is, once the references of a configuration are resolved. */
export interface AuditPlace {
  readonly file: string
  readonly key: AuditKey | undefined
}

interface Waiting extends Entry {
  readonly settle?: ((error: unknown) => void) | undefined
}

const MAX_BYTES = 67_108_864
/** Lines that wait at most: beyond, a disk does not answer, and there is no use in keeping more. */
const MAX_WAITING = 100_000
/** Milliseconds between attempts to open a log, and between heads that are reported. */
const REOPEN_MS = 2000
const HEAD_MS = 60_000
const MAX_TEXT = 256

/** An audit log that is opened on first use. */
export class AuditLog extends Closable implements Audit {
  readonly #place: () => Promise<AuditPlace>
  readonly #options: AuditOptions
  readonly #logger: Logger
  readonly #starts = new WeakMap<object, CallStart>()
  #key: AuditKey | undefined
  #file: LogFile | undefined
  #opening: Promise<LogFile> | undefined
  #failedAt = Number.POSITIVE_INFINITY
  #waiting: Waiting[] = []
  #writing: Promise<void> | undefined
  /** Lines that could not be written. */
  #missing = 0
  #isFailing = false
  #headAt = Number.NEGATIVE_INFINITY

  constructor(place: () => Promise<AuditPlace>, options: AuditOptions) {
    super()
    this.#place = place
    this.#options = options
    this.#logger = isolatedLogger(options.logger ?? consoleLogger)
  }

  get head(): AuditHead {
    return this.#file?.head ?? { seq: 0, seal: "" }
  }

  async open(): Promise<void> {
    await (this.#opening ??= this.#open())
  }

  /** The same, for a log that is needed only later: the reason why it cannot be opened is logged. */
  async prepare(): Promise<void> {
    await this.open().catch((error: unknown) => this.#fail([], error))
  }

  attach(registry: OperationRegistry, mask: (text: string) => string = (text) => text): () => void {
    const recorder: CallRecorder = {
      begin: (started, call, input) => this.#begin(started, call, input, mask),
    }
    const guard: Middleware = {
      for: ({ type }) =>
        type === "mutation"
          ? async (call, next) => {
              await this.#admit(call)
              return await next()
            }
          : undefined,
    }
    const stops = [registry.recordCalls(recorder), registry.use(guard, { name: "audit" })]
    return () => {
      for (const stop of stops) stop()
    }
  }

  protected async end(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing
    const file = this.#file
    if (file === undefined) return
    this.#reportHead(file)
    await file.close()
  }

  #begin(
    started: CallStarted,
    observed: ObservableCall,
    input: unknown,
    mask: (text: string) => string,
  ): CallRecording {
    const { requestId, parentRequestId, operationId: operation, type, identity } = started
    const call = {
      requestId: short(requestId),
      parentRequestId: short(parentRequestId),
      identity: short(identity),
      operation,
      version: observed.record.spec.version,
      type,
      via: observed.via,
    }
    const read = readInput(input, observed, this.#options)
    const fields = (ended?: CallEnded): object => {
      const { decide: decision, rule, approvedBy, approvedAt } = observed.approval ?? {}
      const all = {
        at: new Date(started.at + (ended?.durationMs ?? 0)).toISOString(),
        phase: ended === undefined ? "start" : "end",
        start: ended === undefined ? undefined : start.entry?.seq,
        ...call,
        decision,
        rule: short(rule),
        approvedBy: short(approvedBy),
        approvedAt: approvedAt === undefined ? undefined : new Date(approvedAt).toISOString(),
        ...(ended === undefined || start.entry?.seq === undefined ? read(this.#key) : undefined),
        ...(ended !== undefined && {
          outcome: ended.outcome,
          code: short(ended.code),
          mayHaveExecuted: ended.error?.mayHaveExecuted,
          ms: Math.round(ended.durationMs),
        }),
      }
      return mapTexts(all, mask) as object
    }
    const start: CallStart = { fields: () => fields(), entry: undefined }
    this.#starts.set(observed.key, start)
    return {
      add() {},
      end: (ended) => {
        if (this.isClosing) return
        if (this.#waiting.length >= MAX_WAITING) this.#missing++
        else this.#write({ fields: () => fields(ended) })
      },
    }
  }

  /** Resolves when the line of a mutation is written. It runs only then. */
  async #admit({ key, operationId, requestId }: MiddlewareCall): Promise<void> {
    const start = key && this.#starts.get(key)
    // Its call began before the log was attached, or a middleware outside of this one repeats it.
    if (start === undefined || start.entry !== undefined) return
    const reason = await new Promise<unknown>((settle) => {
      if (this.isClosing) return settle(new Error("it is closed"))
      if (this.#waiting.length >= MAX_WAITING) return settle(new Error("too many lines wait"))
      start.entry = { fields: start.fields, settle }
      this.#write(start.entry)
    })
    if (reason === undefined) return
    start.entry = undefined
    if (this.#options.onFailure === "continue") return
    const message = `"${operationId}" was not called: its line in the audit log could not be written`
    const error = refusal("UNAVAILABLE", `${message}. ${reasonOf(reason)}`, {
      operationId,
      requestId,
      cause: reason,
    })
    // Where the log is, and what is wrong with it, is not for callers elsewhere.
    throw setOutward(error, { message: `${message}. Until it can be, only reading is possible.` })
  }

  /** Adds a line. Lines that are added until the file is free are written together. */
  #write(entry: Waiting): void {
    this.#waiting.push(entry)
    this.#writing ??= this.#drain()
  }

  async #drain(): Promise<void> {
    // The other calls of this turn first.
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const batch = this.#waiting
      this.#waiting = []
      let reason: unknown
      try {
        await this.#writeBatch(batch)
        if (this.#isFailing) this.#logger.info("The audit log can be written again")
        this.#isFailing = false
      } catch (error) {
        reason = error
        this.#fail(batch, error)
      }
      for (const { settle } of batch) settle?.(reason)
    }
    // In the same step as the check that nothing waits.
    this.#writing = undefined
  }

  async #writeBatch(batch: readonly Waiting[]): Promise<void> {
    const file = await this.#opened()
    const missing = this.#missing
    const gap = { at: new Date().toISOString(), phase: "gap", missing }
    const entries = missing === 0 ? batch : [{ fields: () => gap }, ...batch]
    const isSynced = this.#options.fsync !== "never" && batch.some(({ settle }) => settle)
    await file.append(entries, isSynced)
    this.#missing -= missing
    const now = performance.now()
    if (now - this.#headAt < HEAD_MS) return
    this.#headAt = now
    this.#reportHead(file)
  }

  #fail(batch: readonly Waiting[], error: unknown): void {
    const { onFailure = "refuse" } = this.#options
    for (const entry of batch) {
      entry.seq = undefined
      if (entry.settle === undefined || onFailure === "continue") this.#missing++
    }
    if (this.#isFailing) return
    this.#isFailing = true
    const effect =
      onFailure === "refuse" ? "mutations are refused until it can be" : "calls continue without it"
    this.#logger.error(`The audit log cannot be written: ${effect}`, { error: reasonOf(error) })
  }

  /** The open file; one that could not be opened is tried again, but not for each line. */
  async #opened(): Promise<LogFile> {
    if (this.#failedAt + REOPEN_MS < performance.now()) this.#opening = undefined
    return await (this.#opening ??= this.#open())
  }

  async #open(): Promise<LogFile> {
    try {
      const { file, key } = await this.#place()
      const { maxBytes = MAX_BYTES, keep = Number.POSITIVE_INFINITY } = this.#options
      this.#key = key
      this.#failedAt = Number.POSITIVE_INFINITY
      this.#file = await LogFile.open(file, { key, maxBytes, keep })
      return this.#file
    } catch (error) {
      this.#failedAt = performance.now()
      throw error
    }
  }

  #reportHead({ head }: LogFile): void {
    const { onHead } = this.#options
    if (onHead !== undefined && head.seq > 0)
      notify(this.#logger, "onHead threw", () => onHead(head))
  }
}

/** The start line of a mutation. */
interface CallStart extends Entry {
  entry: Waiting | undefined
}

/** A text of a caller, cut and without credentials. Options of a caller in this process may not be texts. */
function short(text: unknown): string | undefined {
  return typeof text === "string" ? redactText(text.slice(0, MAX_TEXT)) : undefined
}
