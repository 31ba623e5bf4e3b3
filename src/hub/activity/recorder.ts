import { allows, type AccessRequirement } from "../../core/access.ts"
import type { ResponseEnvelope, ResponseMeta } from "../../core/envelope.ts"
import type { Identity } from "../../core/types.ts"
import type {
  CallEnded,
  CallRecorder,
  CallRecording,
  CallStarted,
  CallTrace,
  ObservableCall,
} from "../../engine/observe.ts"
import type { RecordConfig } from "../../config/model.ts"
import { toProblem } from "../../serve/http/answer.ts"
import { isRecord } from "../../internal/guards.ts"
import { setOwn } from "../../internal/own.ts"
import { redact } from "../../internal/redact.ts"
import { isSecretField } from "../../internal/secret-names.ts"
import { weigh } from "../../internal/weigh.ts"
import { childPointer } from "../../schema/json.ts"
import { viewOf, type SchemaView } from "../../schema/read/view.ts"

/** A recorded value. */
export interface RecordedValue {
  readonly value?: unknown
  /** Pointers of secrets that were left out or masked. */
  readonly removed: readonly string[]
  /** It was too large to record. */
  readonly isOmitted: boolean
}

/** A recorded call. */
export interface RecordedCall {
  readonly requestId: string
  readonly operationId: string
  /** When it began, in milliseconds since 1970. */
  readonly at: number
  /** The trace id of the caller's `traceparent`. */
  readonly traceId?: string | undefined
  /** Its reader may not call the operation, and so does not see the rest. */
  readonly isHidden: boolean
  readonly input?: RecordedValue | undefined
  readonly result?: RecordedValue | undefined
  /** The last items of a stream. */
  readonly items?: readonly RecordedValue[] | undefined
  /** The error of a failed call, as a problem (RFC 9457). */
  readonly problem?: unknown
  /** Metadata of the result from sources and policies: status, attempts, cache. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined
}

interface Entry {
  readonly started: CallStarted
  readonly traceId: string | undefined
  readonly requirement: AccessRequirement | undefined
  readonly input: Captured
  /** The result; of a stream the last items. */
  results: readonly Captured[]
  problem: Captured | undefined
  meta: Readonly<Record<string, unknown>> | undefined
  size: number
}

const DEFAULT_CALLS = 200
const DEFAULT_BYTES = 8 * 1024 * 1024
const MAX_VALUE = 256 * 1024
/** Items of a stream that are kept. */
const MAX_ITEMS = 20
/** Calls with one request id that are shown: clients choose these ids. */
const MAX_SHOWN = 20
/** The approximate size of an entry without its values. */
const ENTRY_BYTES = 500

/** Keeps inputs, results and errors of the last calls in bounded memory, without likely secrets. */
export class Recorder implements CallRecorder {
  readonly #maxCalls: number
  readonly #maxBytes: number
  /** Characters of one value: those of a call together never exceed `maxBytes`. */
  readonly #maxValue: number
  /** Oldest first. */
  readonly #entries = new Set<Entry>()
  readonly #latest = new Map<string, Entry>()
  #bytes = 0

  constructor({ calls = DEFAULT_CALLS, bytes = DEFAULT_BYTES }: RecordConfig = {}) {
    this.#maxCalls = calls
    this.#maxBytes = bytes
    this.#maxValue = Math.min(MAX_VALUE, Math.floor(bytes / 8))
  }

  get size(): { readonly calls: number; readonly bytes: number } {
    return { calls: this.#entries.size, bytes: this.#bytes }
  }

  begin(started: CallStarted, { record, options }: ObservableCall, input: unknown): CallRecording {
    const { spec } = record
    const { requestId, parentRequestId = "" } = started
    const entry: Entry = {
      started,
      traceId: traceIdOf(options) ?? this.#latest.get(parentRequestId)?.traceId,
      requirement: record.requirement,
      input: capture(input, () => spec.inputSchema, this.#maxValue),
      results: [],
      problem: undefined,
      meta: undefined,
      size: 0,
    }
    this.#entries.add(entry)
    this.#latest.set(requestId, entry)
    this.#resize(entry)
    return {
      add: (envelope) => {
        if (!this.#entries.has(entry)) return
        const captured = capture(envelope.data, () => spec.outputSchema, this.#maxValue)
        entry.results =
          started.type === "subscription"
            ? lastOf([...entry.results, captured], this.#maxValue)
            : [captured]
        entry.meta = metaOf(envelope)
        this.#resize(entry)
      },
      end: (ended) => this.#end(entry, ended),
    }
  }

  /** The recorded calls with a request id, the newest first, as far as an identity may see them. */
  find(requestId: string, identity: Identity | undefined): RecordedCall[] {
    return [...this.#entries]
      .filter(({ started }) => started.requestId === requestId)
      .slice(-MAX_SHOWN)
      .toReversed()
      .map((entry) => toRecordedCall(entry, identity))
  }

  #end(entry: Entry, { error }: CallEnded): void {
    if (error === undefined || !this.#entries.has(entry)) return
    entry.problem = capture(toProblem(error), () => true, this.#maxValue)
    this.#resize(entry)
  }

  /** Measures an entry again, and drops the oldest ones that there is no room for. */
  #resize(entry: Entry): void {
    const size = sizeOf(entry)
    this.#bytes += size - entry.size
    entry.size = size
    for (const oldest of this.#entries) {
      if (this.#entries.size <= this.#maxCalls && this.#bytes <= this.#maxBytes) return
      this.#entries.delete(oldest)
      this.#bytes -= oldest.size
      const { requestId } = oldest.started
      if (this.#latest.get(requestId) === oldest) this.#latest.delete(requestId)
    }
  }
}

function toRecordedCall(entry: Entry, identity: Identity | undefined): RecordedCall {
  const { started, traceId, requirement, input, results, problem, meta } = entry
  const { requestId, operationId, at, type }: CallTrace = started
  const about = { requestId, operationId, at, ...(traceId !== undefined && { traceId }) }
  const recordedInput = toValue(input)
  // Access may depend on the input: a caller who may read one project does not see calls about others.
  if (!allows(requirement, identity, recordedInput.value)) return { ...about, isHidden: true }
  const [result] = results
  return {
    ...about,
    isHidden: false,
    input: recordedInput,
    ...(type === "subscription"
      ? { items: results.map(toValue) }
      : result !== undefined && { result: toValue(result) }),
    problem: problem && toValue(problem).value,
    meta,
  }
}

function toValue({ json, removed, isOmitted }: Captured): RecordedValue {
  return { ...(json !== undefined && { value: JSON.parse(json) as unknown }), removed, isOmitted }
}

/** The last items that fit into one value. */
function lastOf(items: readonly Captured[], maxCharacters: number): readonly Captured[] {
  let first = items.length
  let room = maxCharacters
  while (first > 0 && items.length - first < MAX_ITEMS) {
    room -= lengthOf(items[first - 1])
    if (room < 0) break
    first--
  }
  return items.slice(first)
}

function sizeOf({ started, input, results, problem }: Entry): number {
  const values = [input, problem, ...results]
  const characters = values.reduce((sum, value) => sum + lengthOf(value), 0)
  // Ids that are not strings are refused later.
  const id: unknown = started.requestId
  return ENTRY_BYTES + 2 * (characters + (typeof id === "string" ? id.length : 0))
}

function lengthOf(captured: Captured | undefined): number {
  if (captured === undefined) return 0
  const { json = "", removed } = captured
  return removed.reduce((sum, pointer) => sum + pointer.length, json.length)
}

/** The facts of a result that are short and never secret. */
function metaOf({ meta }: ResponseEnvelope): Readonly<Record<string, unknown>> {
  const all = meta as ResponseMeta & Readonly<Record<string, unknown>>
  return Object.fromEntries(
    FACTS.flatMap((key) => (all[key] === undefined ? [] : [[key, all[key]]])),
  )
}

const FACTS = [
  "source",
  "statusCode",
  "attempts",
  "cache",
  "fallback",
  "replayed",
  "isError",
] as const

/** The trace id of a W3C `traceparent`; callers may send anything. */
function traceIdOf(options: ObservableCall["options"]): string | undefined {
  try {
    const traceparent: unknown = options?.metadata?.["traceparent"]
    if (typeof traceparent !== "string" || traceparent.length > 200) return undefined
    return /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-/.exec(traceparent)?.[1]
  } catch {
    // Options of a caller in this process have not been checked yet.
    return undefined
  }
}

/** A copy of a value that may be shown: JSON of bounded size, without what looks like a secret. */
export interface Captured {
  /** `undefined` for no value, and for one that was not kept. */
  readonly json: string | undefined
  /** Pointers of what was left out or masked. */
  readonly removed: readonly string[]
  /** It has more than the allowed characters, or could not be read. */
  readonly isOmitted: boolean
}

const NOTHING: Captured = { json: undefined, removed: [], isOmitted: false }
const OMITTED: Captured = { json: undefined, removed: [], isOmitted: true }

/** Copies a value. Never throws; the time it takes is bounded, whatever the value is. */
export function capture(value: unknown, schemaOf: () => unknown, maxCharacters: number): Captured {
  if (value === undefined) return NOTHING
  try {
    if (weigh(value, maxCharacters) >= maxCharacters) return OMITTED
    const removed: string[] = []
    const json = JSON.stringify(withoutSecrets(redact(value), viewOf(schemaOf()), "", removed))
    return json.length > maxCharacters ? OMITTED : { json, removed, isOmitted: false }
  } catch {
    // A getter or a Proxy of a caller in this process threw, or a schema cannot be made.
    return OMITTED
  }
}

/** Leaves out members that are secret by their name or schema. */
function withoutSecrets(
  value: unknown,
  view: SchemaView,
  pointer: string,
  removed: string[],
): unknown {
  if (typeof value === "string") {
    if (value.includes("***")) removed.push(pointer)
    return value
  }
  if (Array.isArray(value)) {
    const same = view.isTuple ? undefined : view.item(0)
    return value.map((item, at) =>
      withoutSecrets(item, same ?? view.item(at), childPointer(pointer, at), removed),
    )
  }
  if (!isRecord(value)) return value
  const kept = {}
  for (const [key, item] of Object.entries(value)) {
    const place = childPointer(pointer, key)
    const below = view.property(key)
    if (isSecretField(key, item) || isSecret(below)) removed.push(place)
    else setOwn(kept, key, withoutSecrets(item, below, place, removed))
  }
  return kept
}

function isSecret(view: SchemaView): boolean {
  return view.first("writeOnly") === true || view.text("format") === "password"
}
