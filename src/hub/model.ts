// The hub: one registry filled from sources, each of which is opened, retried and closed on its own.

import type { SourceKind } from "../config/kinds/index.ts"
import type { CommonSource } from "../config/kinds/kind.ts"
import type { ResolvedConfig, ResolvedSource } from "../config/model.ts"
import type { AnyOperation } from "../core/define.ts"
import type { ErrorListener } from "../engine/failures.ts"
import type { OptionsSchema } from "../internal/options.ts"
import type { Logger } from "../internal/logger.ts"
import type { Clock } from "../internal/platform.ts"
import type { OperationRegistry } from "../engine/registry.ts"
import type { Audit } from "./audit/options.ts"
import type { MCPLogLine, MCPLogReader } from "../sources/mcp/client/log-lines.ts"
import type { WorkerStats } from "../transport/bus/stats.ts"

/** State of a source. */
export type SourceState =
  /** It is being opened, for the first time or again. */
  | "loading"
  | "ready"
  /** It could not be opened; the hub retries. */
  | "failed"
  /** Its server cannot be reached; its operations stay registered and fail until it is back. */
  | "lost"
  | "disabled"

/** The outcome of importing one item of a source. */
export interface ReportItem {
  /** The id of the operation; absent when the item was skipped. */
  readonly id?: string | undefined
  /** Its name in the source: `GET /pets`, a tool, a file. */
  readonly origin: string
  readonly status: "kept" | "widened" | "skipped"
  readonly notes: readonly string[]
}

/** Import report of a source. */
export interface SourceReport {
  readonly kept: number
  readonly widened: number
  readonly skipped: number
  /** Removed by `include` and `exclude`. */
  readonly filtered: number
  /** Items with notes, and items that were widened or skipped. */
  readonly items: readonly ReportItem[]
  readonly warnings: readonly string[]
}

/** A source's own report: every item, under the source's ids. */
export type RawReport = Pick<SourceReport, "items" | "warnings">

/** Status of a source. */
export interface SourceStatus {
  readonly name: string
  readonly kind: SourceKind
  readonly namespace: string
  /** A path, an address or a command, without secrets. */
  readonly origin: string
  readonly state: SourceState
  readonly operations: number
  /** Why it failed or was lost; for a ready source, why its last reload failed. */
  readonly reason?: string | undefined
  /** Failed attempts to open it since it was last ready. */
  readonly attempts: number
  /** Time of the next attempt, in milliseconds since 1970. */
  readonly retryAt?: number | undefined
  /** Why it last failed or was lost, and when, in milliseconds since 1970; it stays when the source is back. */
  readonly lastError?: { readonly reason: string; readonly at: number } | undefined
}

/** A credential that a source needs and does not have. */
export interface MissingCredential {
  /** A variable of the environment, or a security scheme of an API. */
  readonly kind: "variable" | "scheme"
  readonly name: string
  /** What to set, and where. */
  readonly how: string
}

/** What a reload of a source changed, by operation id; long lists are cut. */
export interface SourceChanges {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly added: { readonly count: number; readonly ids: readonly string[] }
  readonly removed: { readonly count: number; readonly ids: readonly string[] }
  readonly changed: { readonly count: number; readonly ids: readonly string[] }
}

/** What helps to repair a source. */
export interface SourceDetails {
  /** The last lines that the process of an MCP server wrote to stderr, without known secrets. */
  readonly stderr?: string | undefined
  readonly missing: readonly MissingCredential[]
  /** The workers behind a broker, how many calls each runs, and when it was last seen. */
  readonly workers?: readonly WorkerStats[] | undefined
  /** What the last reload changed. */
  readonly changes?: SourceChanges | undefined
}

/** A line of the log of a source's server, without known secrets. */
export interface SourceLogLine extends MCPLogLine {
  readonly source: string
}

/** What opening a source needs. */
export interface SourceContext {
  readonly baseDir: string
  readonly logger: Logger
  readonly clock: Clock
  /** Aborts the opening. */
  readonly signal: AbortSignal
  /** `originId` of the hub's registry. */
  readonly originId: string
  /** The hub reopens the source when it is lost. */
  readonly retries: boolean
  /** Resolves `${…}` in a text; rejects with a `CallError` that names what is missing. */
  readonly resolve: (text: string) => Promise<string>
  /** Receives what the server of the source logs. */
  readonly log?: MCPLogReader | undefined
}

/** An open source. */
export interface OpenSource {
  /** The current operations, under the source's own names. Schemas may be lazy. */
  operations(): readonly AnyOperation[]
  /** Computed on demand: it may read every schema. */
  report(): RawReport
  /** Credentials that it needs and does not have. */
  missing?(): readonly MissingCredential[]
  /** The workers behind a broker. */
  workers?(): readonly WorkerStats[]
  /** The last output of its process to stderr. */
  stderr?(): string | undefined
  /** Notifies when `operations()` has changed. */
  onChange(listener: () => void): () => void
  /** Notifies when the source was lost (with the reason) and when it is back (with `undefined`). */
  onHealth?(listener: (reason: string | undefined) => void): () => void
  /** Files and folders that it was read from; when they change, it is opened again. */
  readonly files?: readonly string[] | undefined
  close(): Promise<void>
}

/** One kind of source in a hub. */
export interface HubSource<TSource extends CommonSource = CommonSource> {
  /** Opens a source; rejects with an error whose message says what to do. */
  open(source: ResolvedSource<TSource>, context: SourceContext): Promise<OpenSource>
  /** Calls use a connection: it is closed when they have finished. */
  readonly isConnected?: boolean | undefined
  /** Only calls show that a lost one is back. */
  readonly isFoundByCalls?: boolean | undefined
  /** Without it the hub is not ready, unless its configuration says otherwise. */
  isRequired?(source: TSource): boolean
  /** Its server gets a credential or an identity of the caller, instead of the hub's own. */
  isForCaller?(source: TSource): boolean
}

export interface HubOptions {
  readonly logger?: Logger | undefined
  readonly clock?: Clock | undefined
  /** Variables for `${env:NAME}`; default: those of the process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  /** Opens only these sources, by name; others are not listed. */
  readonly only?: readonly string[] | undefined
  /** Retries failed sources; default: true. */
  readonly retry?: boolean | undefined
  /** Reloads scanned folders and documents when they change; default: false. */
  readonly watch?: boolean | undefined
  /** Receives the errors of operations for all callers: `onError` of the hub's registry. */
  readonly onError?: ErrorListener | undefined
  /** What `openAudit` returns; instead of that of the configuration. The hub does not close it. */
  readonly audit?: Audit | undefined
  /** The JSON file with what people have approved for always, in the console or with `operations approvals`; without one they cannot. */
  readonly approvalsFile?: string | undefined
}

export const HUB_OPTIONS: OptionsSchema<HubOptions> = {
  logger: "logger",
  clock: "clock",
  env: { secret: { record: "string" } },
  only: { list: "text" },
  retry: "boolean",
  watch: "boolean",
  onError: "function",
  audit: { methods: ["attach"], expected: "an audit log of openAudit()" },
  approvalsFile: "text",
}

/** One registry over every source. Close it when you no longer need it. */
export interface Hub extends AsyncDisposable {
  readonly registry: OperationRegistry
  readonly config: ResolvedConfig
  /** Status of each source, in the order of the configuration. */
  readonly sources: readonly SourceStatus[]
  /** Resolves when each source has become ready or failed once. */
  ready(): Promise<void>
  /** Import report of a source; `undefined` while it is not open. */
  report(name: string): SourceReport | undefined
  /** Notifies of each change of a source's status. */
  onStatus(listener: (status: SourceStatus) => void): () => void
  /** Masks the values of references in a text. */
  mask(text: string): string
  /** Opens a source again, now. Rejects when that fails. */
  reopen(name: string): Promise<void>
  /** Applies a new configuration: opens new and changed sources, closes removed ones. Running calls continue. */
  apply(config: ResolvedConfig): Promise<void>
  close(): Promise<void>
}
