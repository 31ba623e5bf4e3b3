import { idOf, type AnyOperation } from "../core/define.ts"
import { isCallError } from "../core/errors.ts"
import { lazyPartsOf } from "../core/lazy-operation.ts"
import { wallTimeOf } from "../internal/clock.ts"
import { isRecord } from "../internal/guards.ts"
import type { Clock } from "../internal/platform.ts"
import { redactText } from "../internal/redact.ts"
import { sameData } from "../internal/same-data.ts"
import type { Shaped } from "./apply-source-config.ts"
import type {
  MissingCredential,
  OpenSource,
  SourceChanges,
  SourceDetails,
  SourceStatus,
} from "./model.ts"

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
      workers: source?.workers?.(),
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

/** Ids of each kind that are listed. */
const MAX_LISTED = 100

/** Compares the operations of a source with those of its last reading. Lazy schemas are not read. */
export function changesBetween(
  before: readonly AnyOperation[],
  after: readonly AnyOperation[],
  at: number,
): SourceChanges {
  const old = new Map(before.map((operation) => [idOf(operation), operation]))
  const added: string[] = []
  const changed: string[] = []
  for (const operation of after) {
    const id = idOf(operation)
    const previous = old.get(id)
    old.delete(id)
    if (previous === undefined) added.push(id)
    else if (previous !== operation && !sameData(partsOf(previous), partsOf(operation)))
      changed.push(id)
  }
  return { at, added: listed(added), removed: listed([...old.keys()]), changed: listed(changed) }
}

function listed(ids: readonly string[]): SourceChanges["added"] {
  return { count: ids.length, ids: ids.slice(0, MAX_LISTED) }
}

/** The parts of an operation that callers see, without schemas that are not read yet. */
function partsOf(operation: AnyOperation): unknown {
  const { type, title, description, tags, deprecated, accessControl } = operation
  const seen = { type, title, description, tags, deprecated, accessControl }
  const lazy = lazyPartsOf(operation)
  if (lazy !== undefined) return { ...seen, inputNames: lazy.inputNames }
  const { inputSchema, outputSchema, errorSchemas } = operation
  return { ...seen, inputSchema, outputSchema, errorSchemas }
}
