import { isCallError } from "../core/errors.ts"
import { wallTimeOf } from "../internal/clock.ts"
import { isRecord } from "../internal/guards.ts"
import type { Clock } from "../internal/platform.ts"
import { redactText } from "../internal/redact.ts"
import type { Shaped } from "./apply-source-config.ts"
import type {
  MissingCredential,
  OpenSource,
  SourceChanges,
  SourceDetails,
  SourceStatus,
} from "./model.ts"
import { changesBetween } from "./source-changes.ts"

/** Lines of output that are shown. */
const MAX_LINES = 50

/** What helps to repair a source: its last error, what it lacks, what it wrote, what its last reload changed. */
export class SourceDiagnosis {
  readonly #clock: Clock
  readonly #mask: (text: string) => string
  #lastError: SourceStatus["lastError"]
  /** Of the last attempt to open it, if that failed. */
  #stderr: string | undefined
  #missing: readonly MissingCredential[] = []
  #changes: SourceChanges | undefined

  constructor(clock: Clock, mask: (text: string) => string) {
    this.#clock = clock
    this.#mask = mask
  }

  get lastError(): SourceStatus["lastError"] {
    return this.#lastError
  }

  /** The server of the source is gone. */
  lost(reason: string): void {
    this.#lastError = { reason: this.#mask(reason), at: wallTimeOf(this.#clock) }
  }

  /** It could not be opened. */
  failed(reason: string, error: unknown): void {
    this.lost(reason)
    this.#stderr = detailOf(error, "stderrTail")
    const name = missingVariableOf(error)
    const how = "Set this variable in the environment of the hub, and restart the hub."
    this.#missing = name === undefined ? [] : [{ kind: "variable", name, how }]
  }

  opened(): void {
    this.#stderr = undefined
    this.#missing = []
  }

  /** Its operations were read again. */
  reloaded(before: Shaped, after: Shaped): void {
    this.#changes = changesBetween(before.operations, after.operations, wallTimeOf(this.#clock))
  }

  details(source: OpenSource | undefined): SourceDetails {
    const stderr = this.#stderr ?? source?.stderr?.()
    return {
      ...(stderr !== undefined && { stderr: lastLines(this.#mask(redactText(stderr))) }),
      missing: [...this.#missing, ...(source?.missing?.() ?? [])],
      ...(this.#changes !== undefined && { changes: this.#changes }),
    }
  }
}

/** The variable of the environment that a source needs and that is not set; no retry can provide it. */
export function missingVariableOf(error: unknown): string | undefined {
  return detailOf(error, "variable")
}

/** A text in the details of an error. */
function detailOf(error: unknown, key: string): string | undefined {
  if (!isCallError(error) || !isRecord(error.details)) return undefined
  const value = error.details[key]
  return typeof value === "string" ? value : undefined
}

function lastLines(text: string): string {
  return text.trimEnd().split("\n").slice(-MAX_LINES).join("\n")
}
