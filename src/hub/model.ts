// The hub: one registry that is filled from sources, each of which comes and goes by itself.

import type { ResolvedConfig, ResolvedSource, SourceKind } from "../config/model.ts"
import type { AnyOperation } from "../core/define.ts"
import type { ErrorListener } from "../engine/failures.ts"
import type { OptionsSchema } from "../internal/options.ts"
import type { Logger } from "../internal/logger.ts"
import type { Clock } from "../internal/platform.ts"
import type { OperationRegistry } from "../engine/registry.ts"

/** Where a source is in its life. */
export type SourceState =
  /** It is being opened for the first time, or again. */
  | "loading"
  | "ready"
  /** It could not be opened; it is tried again. */
  | "failed"
  /** It was ready and went away; its operations stay and fail until it is back. */
  | "lost"
  | "disabled"

/** What became of one thing that a source had to offer. */
export interface ReportItem {
  /** The id it has here; absent when it was skipped. */
  readonly id?: string | undefined
  /** What its source calls it: `GET /pets`, a tool, a file. */
  readonly origin: string
  readonly status: "kept" | "widened" | "skipped"
  readonly notes: readonly string[]
}

/** What an import made of a source. */
export interface SourceReport {
  readonly kept: number
  readonly widened: number
  readonly skipped: number
  /** Left out by `include` and `exclude`. */
  readonly filtered: number
  /** Those with something to say. */
  readonly items: readonly ReportItem[]
  readonly warnings: readonly string[]
}

/** What a source says of itself: everything it had to offer, under its own ids. */
export type RawReport = Pick<SourceReport, "items" | "warnings">

/** How a source is doing. */
export interface SourceStatus {
  readonly name: string
  readonly kind: SourceKind
  readonly namespace: string
  /** A path, an address or a command; without anything secret. */
  readonly origin: string
  readonly state: SourceState
  readonly operations: number
  /** Why it failed or was lost; of a ready one, why its last change was not taken. */
  readonly reason?: string | undefined
  /** Times that opening it failed since it last was ready. */
  readonly attempts: number
  /** When it is tried again, in milliseconds since 1970. */
  readonly retryAt?: number | undefined
}

/** What a source is opened with. */
export interface SourceContext {
  readonly baseDir: string
  readonly logger: Logger
  readonly clock: Clock
  /** Ends the opening. */
  readonly signal: AbortSignal
  /** It was open before: what was loaded then may have changed. */
  readonly isAgain: boolean
  /** It comes back by itself when it is lost. */
  readonly retries: boolean
  readonly env: Readonly<Record<string, string | undefined>>
  /** What `${…}` in a text stands for; rejects with a `CallError` that names what is missing. */
  readonly resolve: (text: string) => Promise<string>
}

/** A source that is open. */
export interface OpenSource {
  /** As they are now, under the source's own names. Schemas may be lazy. */
  operations(): readonly AnyOperation[]
  /** Made when it is asked for: it may look at every schema. */
  report(): RawReport
  /** Told when `operations()` has changed. */
  onChange(listener: () => void): () => void
  /** Told when it went away (with why) and when it is back (with nothing) by itself. */
  onHealth?(listener: (reason: string | undefined) => void): () => void
  /** Files and folders that it was made of; a change of these means opening it anew. */
  readonly files?: readonly string[] | undefined
  close(): Promise<void>
}

/** Opens one kind of source; rejects with an error whose message says what to do. */
export type OpenSourceOf = (source: ResolvedSource, context: SourceContext) => Promise<OpenSource>

export interface HubOptions {
  readonly logger?: Logger | undefined
  readonly clock?: Clock | undefined
  /** Variables for `${env:NAME}`; default: those of the process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  /** Opens only these sources, by name; others are not even listed. */
  readonly only?: readonly string[] | undefined
  /** Tries failed sources again; on. */
  readonly retry?: boolean | undefined
  /** Follows changes of scanned folders and documents; off. */
  readonly watch?: boolean | undefined
  /** Receives the errors of operations, whoever called: `onError` of the hub's registry. */
  readonly onError?: ErrorListener | undefined
}

export const HUB_OPTIONS: OptionsSchema<HubOptions> = {
  logger: "logger",
  clock: "clock",
  env: { secret: { record: "string" } },
  only: { list: "text" },
  retry: "boolean",
  watch: "boolean",
  onError: "function",
}

/** One registry over every source. Whoever makes one closes it. */
export interface Hub extends AsyncDisposable {
  readonly registry: OperationRegistry
  readonly config: ResolvedConfig
  /** How each source is doing, in the order of the configuration. */
  readonly sources: readonly SourceStatus[]
  /** When each source has become ready or failed once. */
  ready(): Promise<void>
  /** What an import made of a source; `undefined` while it is not open. */
  report(name: string): SourceReport | undefined
  /** Told of each change of a source's state. */
  onStatus(listener: (status: SourceStatus) => void): () => void
  /** A text without anything that a reference of a source stood for. */
  mask(text: string): string
  /** Opens a source anew, now. Rejects when that fails. */
  reopen(name: string): Promise<void>
  /** Takes a new configuration: opens what is new or different, closes what is gone. Calls go on. */
  apply(config: ResolvedConfig): Promise<void>
  close(): Promise<void>
}
