import { isSecretName } from "../../internal/secret-names.ts"
import { isMet } from "./auth.ts"
import type { ImportConfig, ImportResult } from "./import.ts"
import { readSecurity } from "./operation/security.ts"
import type { LazyOperation } from "../../core/lazy-operation.ts"
import { followedChild, membersOf, objectAt } from "./document.ts"
import type { Note, OpenAPIDocument, Place } from "./document.ts"
import { isRecord } from "../../internal/guards.ts"
import { getOwn } from "../../schema/json.ts"
import { type RawOperation, isMethod } from "./operation/list.ts"

export type { Note as ImportNote } from "./document.ts"

/** The result of importing one operation. */
export interface ReportedOperation {
  /** `namespace.name`; absent when it was skipped. */
  readonly id?: string | undefined
  readonly method?: string | undefined
  readonly path: string
  /** `widened`: it works, but accepts or returns more than the document declares, apart from errors. */
  readonly status: "kept" | "widened" | "skipped"
  /** Differences from the document, with their places. */
  readonly notes: readonly Note[]
}

/** The report of an import. */
export interface ImportReport {
  readonly title: string
  readonly version: string
  readonly counts: {
    readonly kept: number
    readonly widened: number
    readonly skipped: number
    /** Operations of which only error responses are widened; included in kept. */
    readonly widenedErrors: number
    /** Left out by `filter`. */
    readonly filtered: number
    /** Stream twins of plain operations; included in kept and widened. */
    readonly twins: number
    /** Webhooks: requests that the API sends; not imported. */
    readonly webhooks: number
    /** Callbacks: requests that the API sends because of a call; not imported. */
    readonly callbacks: number
  }
  readonly operations: readonly ReportedOperation[]
  /** About the document as a whole. */
  readonly warnings: readonly string[]
  /** The report as text. */
  toString(): string
}

/** Creates the report of an import; this creates all schemas. */
function reportOf(
  document: OpenAPIDocument,
  { sources, skipped, filtered }: ImportResult,
  warnings: readonly string[],
): ImportReport {
  const operations: ReportedOperation[] = sources.map((source) => {
    const { notes, operation, id } = source
    const { method, path } = operation
    const isKept = notes.every(({ isNeutral, isError }) => isNeutral === true || isError === true)
    const status = isKept ? "kept" : "widened"
    return { id, method, path, status, notes }
  })
  for (const { method, path, note } of skipped) {
    operations.push({ method, path, status: "skipped", notes: [note] })
  }
  const count = (status: ReportedOperation["status"]): number =>
    operations.filter((one) => one.status === status).length
  const report = {
    title: infoOf(document, "title") || "untitled",
    version: infoOf(document, "version"),
    counts: {
      kept: count("kept"),
      widened: count("widened"),
      skipped: count("skipped"),
      widenedErrors: operations.filter(
        ({ status, notes }) => status === "kept" && notes.some(isErrorLoss),
      ).length,
      filtered,
      twins: sources.filter(({ isTwin }) => isTwin).length,
      webhooks: countOperations(
        followedChild(document.place, "webhooks") ?? followedChild(document.place, "x-webhooks"),
      ),
      callbacks: sources
        .filter(({ isTwin }) => !isTwin)
        .reduce((sum, { operation }) => sum + countCallbacks(operation), 0),
    },
    operations,
    // By now all schemas have been created.
    warnings: [...warnings, ...document.losses],
  }
  // Not enumerable: `toString` is not part of the data.
  return Object.defineProperty(report, "toString", { value: () => textOf(report) })
}

function isErrorLoss({ isError, isNeutral }: Note): boolean {
  return isError === true && isNeutral !== true
}

const SHOWN = 20

function textOf({
  title,
  version,
  counts,
  operations,
  warnings,
}: Omit<ImportReport, "toString">): string {
  const { kept, widened, skipped, widenedErrors, filtered, twins, webhooks, callbacks } = counts
  const parts = [`${kept} kept`, `${widened} widened`, `${skipped} skipped`]
  if (widenedErrors > 0) parts.push(`${widenedErrors} of them kept except for error responses`)
  if (filtered > 0) parts.push(`${filtered} filtered out`)
  if (twins > 0)
    parts.push(`${twins} of them streams of operations that also return a plain response`)
  if (webhooks > 0) parts.push(`${webhooks} ${webhooks === 1 ? "webhook" : "webhooks"}`)
  if (callbacks > 0) parts.push(`${callbacks} ${callbacks === 1 ? "callback" : "callbacks"}`)
  const lines = [`${title}${version === "" ? "" : ` ${version}`}: ${parts.join(", ")}`]
  for (const warning of warnings) lines.push(`! ${warning}`)
  for (const status of ["skipped", "widened"] as const) {
    const matching = operations.filter((one) => one.status === status)
    for (const { id, method, path, notes } of matching.slice(0, SHOWN)) {
      lines.push(
        `${status} ${[method, path].filter(Boolean).join(" ")}${id === undefined ? "" : ` (${id})`}`,
      )
      for (const note of notes.slice(0, 3)) lines.push(`  ${noteText(note)}`)
      if (notes.length > 3) lines.push(`  and ${notes.length - 3} more`)
    }
    if (matching.length > SHOWN) lines.push(`and ${matching.length - SHOWN} more ${status}`)
  }
  // Many operations share a few error responses.
  const losses = operations.flatMap(({ notes }) => notes.filter(isErrorLoss))
  const distinct = new Map(losses.map((note) => [note.message, note]))
  for (const note of [...distinct.values()].slice(0, 3)) {
    lines.push(`in error responses: ${noteText(note)}`)
  }
  return lines.join("\n")
}

function noteText({ message, file, pointer }: Note): string {
  return `${message} [${file === undefined ? "" : `${file}#`}${pointer}]`
}

function infoOf(document: OpenAPIDocument, key: string): string {
  const info = getOwn(document.root, "info")
  const value = isRecord(info) ? getOwn(info, key) : undefined
  return typeof value === "string" || typeof value === "number" ? `${value}`.slice(0, 200) : ""
}

/** Counts the callbacks of an operation. */
function countCallbacks(operation: RawOperation): number {
  return resolvedMembers(operation.member("callbacks")).reduce(
    (sum, callback) => sum + countOperations(callback),
    0,
  )
}

/** Counts the operations in a map of path items. */
function countOperations(map: Place | undefined): number {
  return resolvedMembers(map)
    .flatMap(({ value }) => (isRecord(value) ? Object.keys(value) : []))
    .filter(isMethod).length
}

function resolvedMembers(map: Place | undefined): Place[] {
  return membersOf(objectAt(map))
    .filter(([key]) => !key.startsWith("x-"))
    .flatMap(([, member]) => objectAt(member) ?? [])
}

/** What is known about the imports, by their lists of operations. */
const IMPORTS = new WeakMap<
  object,
  {
    readonly missing: () => readonly MissingCredential[]
    report: ImportReport | (() => ImportReport)
  }
>()

// One function for all imports: separate getters would keep hidden classes alive.
const REPORT: PropertyDescriptor = {
  get(this: object) {
    const known = IMPORTS.get(this)
    if (typeof known?.report === "function") known.report = known.report()
    return known?.report
  },
}

/** Adds the report of an import, which is created on first use, to its operations. */
export function withReport(
  operations: LazyOperation[],
  document: OpenAPIDocument,
  result: ImportResult,
  warnings: readonly string[],
  config: ImportConfig,
): LazyOperation[] & { readonly report: ImportReport } {
  IMPORTS.set(operations, {
    missing: () => missingCredentials(result, config),
    report: () => reportOf(document, result, warnings),
  })
  return Object.defineProperty(operations, "report", REPORT) as ReturnType<typeof withReport>
}

/** The credentials that the document of an import asks for and its configuration does not have. */
export function missingCredentialsOf(operations: object): readonly MissingCredential[] {
  return IMPORTS.get(operations)?.missing() ?? []
}

/** Schemes of a document for which there is no credential: those of any alternative, one of which is enough. */
export interface MissingCredential {
  /** `bearerAuth`; or several that are needed together: `key with secret`. */
  readonly schemes: readonly string[]
  /** Operations that need one of these. */
  readonly operations: number
}

/** The credentials that a document asks for and the configuration does not have. No schema is read. */
function missingCredentials(
  { sources }: ImportResult,
  config: ImportConfig,
): readonly MissingCredential[] {
  if (mayAuthorize(config.headers)) return []
  const missing = new Map<string, { readonly schemes: readonly string[]; operations: number }>()
  for (const { context, operation, isTwin } of sources) {
    if (isTwin) continue
    const security = readSecurity(operation, context.schemes)
    if (isMet(security, config)) continue
    const schemes = [...new Set(security.map((one) => [...one.keys()].join(" with ")))]
    const key = JSON.stringify(schemes)
    const entry = missing.get(key)
    if (entry === undefined) missing.set(key, { schemes, operations: 1 })
    else entry.operations++
  }
  return [...missing.values()]
}

/** Whether headers of the configuration may hold a credential; those of a function may hold any. */
function mayAuthorize(headers: ImportConfig["headers"]): boolean {
  if (headers === undefined) return false
  if (typeof headers === "function") return true
  const names = Symbol.iterator in headers ? [...headers.keys()] : Object.keys(headers)
  return names.some((name) => isSecretName(name, "setting"))
}
