import { specFields } from "../../core/spec-schemas.ts"
import { idOf, type AnyOperation } from "../../core/define.ts"
import { reasonOf } from "../../internal/message-text.ts"
import { type Candidate, findCandidateIssue, candidatesOf, describeExport } from "./exports.ts"
import { fileUrl } from "./paths.ts"
import {
  resolveScanOptions,
  type ScannerFS,
  type ScanOptions,
  type ScanProblem,
  type ScanSettings,
} from "./options.ts"
import { findFiles, aborted } from "./walk.ts"
import type { OperationSpec } from "../../core/types.ts"
import { MAX_TIMER_DELAY } from "../../internal/clock.ts"
import { eachOf } from "../../internal/each-of.ts"
import { deferred, withTimeout } from "../../internal/wait.ts"

export type { ScannerEntry, ScannerFS, ScanOptions, ScanProblem } from "./options.ts"

/** Specs by operation id, to be stored in a file or sent to another machine. */
export interface OperationManifest {
  readonly operations: Readonly<Record<string, OperationSpec>>
  /** The address that serves the operations. */
  readonly baseUrl?: string | undefined
}

/** An operation of a scanned module; pass a list of them to `registerAll`. */
export type ScannedDefinition = AnyOperation & {
  readonly handler: NonNullable<AnyOperation["handler"]>
}

/**
 * Returns the specs of the operations in a folder, without handlers; pass them to `registerSpec`.
 *
 * Imports every module under `dir`, sorted by path, and takes its default export (an operation or a
 * list of them) and what it exports by name from `defineOperation`. Only scan folders whose code you
 * would run. Invalid exports, and the second operation of an id, are reported to `onProblem` and skipped.
 * Rejects when a folder cannot be read or the signal is aborted.
 */
export async function scanOperations(
  dir: string,
  fs: ScannerFS,
  options?: ScanOptions,
): Promise<OperationSpec[]> {
  const settings = resolveScanOptions("scanOperations", dir, fs, options)
  const operations = await scan(dir, fs, settings, findCandidateIssue)
  return operations.map((operation) => specFields(operation) as unknown as OperationSpec)
}

/**
 * Returns the operations in a folder with their handlers; pass them to `registerAll`.
 *
 * Works like `scanOperations`, but an operation without a handler is a problem.
 */
export async function scanDefinitions(
  dir: string,
  fs: ScannerFS,
  options?: ScanOptions,
): Promise<ScannedDefinition[]> {
  const settings = resolveScanOptions("scanDefinitions", dir, fs, options)
  const operations = await scan(dir, fs, settings, findDefinitionIssue)
  return operations as ScannedDefinition[]
}

type FindIssue = (candidate: Candidate) => string | undefined

/** Finds operations in the order of the files, each object and each id once. */
async function scan(
  dir: string,
  fs: ScannerFS,
  { importTimeout, extensions, report, signal }: ScanSettings,
  findIssue: FindIssue,
): Promise<AnyOperation[]> {
  const { files, problems } = await findFiles(dir, fs, extensions, signal)
  const cwd = fs.cwd()
  const urls = files.map(({ path }) => fileUrl(path, cwd))
  const load = fs.importModule === undefined ? importUrl : (url: string) => fs.importModule!(url)
  const modules = await loadModules(urls, load, importTimeout, signal)
  problems.forEach((problem) => report(problem))
  const operations: AnyOperation[] = []
  const seen = new Set<unknown>()
  const fileOf = new Map<string, string>()
  for (const [index, { file }] of files.entries()) {
    const candidates = readCandidates(modules[index]!)
    if (!Array.isArray(candidates)) {
      report({ file, ...candidates })
      continue
    }
    for (const candidate of candidates) {
      const { value } = candidate
      // A module may export operations of other modules again.
      if (typeof value === "object" && seen.has(value)) continue
      seen.add(value)
      const reason = judge(file, candidate, findIssue, fileOf)
      if (reason === undefined) operations.push(value as AnyOperation)
      else report({ file, reason })
    }
  }
  return operations
}

function readCandidates(loaded: Loaded): Candidate[] | Omit<ScanProblem, "file"> {
  if (!("module" in loaded)) return loaded
  try {
    return candidatesOf(loaded.module)
  } catch (cause) {
    return { reason: `its exports cannot be read: ${reasonOf(cause)}`, cause }
  }
}

/** Why a candidate is refused; its id belongs to the file otherwise. */
function judge(
  file: string,
  candidate: Candidate,
  findIssue: FindIssue,
  fileOf: Map<string, string>,
): string | undefined {
  try {
    const issue = findIssue(candidate)
    if (issue !== undefined) return issue
    const id = idOf(candidate.value as AnyOperation)
    const first = fileOf.get(id)
    if (first !== undefined) {
      return `${describeExport(candidate.name)} is "${id}", which ${first === file ? "this file" : first} has already; rename or remove one of them`
    }
    fileOf.set(id, file)
    return undefined
  } catch (cause) {
    return `${describeExport(candidate.name)} cannot be read: ${reasonOf(cause)}`
  }
}

function findDefinitionIssue(candidate: Candidate): string | undefined {
  const issue = findCandidateIssue(candidate)
  if (issue !== undefined) return issue
  if (typeof (candidate.value as AnyOperation).handler === "function") return undefined
  return `${describeExport(candidate.name)} has no handler; add one, or scan for specs with scanOperations() and use registerHandler()`
}

function importUrl(url: string): Promise<unknown> {
  return import(/* @vite-ignore */ /* webpackIgnore: true */ url) as Promise<unknown>
}

/** A loaded module, or why loading failed. */
type Loaded = { readonly module: unknown } | { readonly reason: string; readonly cause?: unknown }

/** Maximum number of concurrent imports: enough to overlap reading without running out of file handles. */
const MAX_CONCURRENT = 8

/**
 * Loads modules, a few at a time; the results are in the order of the URLs.
 *
 * A module that throws, or does not finish in time, does not keep the others from loading. Rejects only
 * when the signal is aborted, and then at once.
 */
async function loadModules(
  urls: readonly string[],
  importModule: (url: string) => Promise<unknown>,
  timeout: number,
  signal: AbortSignal | undefined,
): Promise<Loaded[]> {
  const loaded: Loaded[] = []
  await eachOf(urls, MAX_CONCURRENT, async (url, index) => {
    loaded[index] = await loadOne(url, importModule, timeout, signal)
  })
  return loaded
}

async function loadOne(
  url: string,
  importModule: (url: string) => Promise<unknown>,
  timeout: number,
  signal: AbortSignal | undefined,
): Promise<Loaded> {
  if (signal?.aborted) throw aborted(signal)
  const stop = deferred()
  const onAbort = (): void => stop.resolve()
  signal?.addEventListener("abort", onAbort)
  try {
    const loading = Promise.race([attempt(importModule, url), stop.promise])
    const tooSlow = (): Loaded => ({
      reason: `did not finish loading within ${timeout} ms: look for a top-level await that never ends, or raise importTimeout`,
    })
    const isLimited = timeout <= MAX_TIMER_DELAY
    const loaded = await (isLimited ? withTimeout(loading, timeout, tooSlow) : loading)
    if (loaded === undefined) throw aborted(signal!)
    return loaded
  } finally {
    signal?.removeEventListener("abort", onAbort)
  }
}

async function attempt(
  importModule: (url: string) => Promise<unknown>,
  url: string,
): Promise<Loaded> {
  try {
    return { module: await importModule(url) }
  } catch (cause) {
    return { reason: `cannot be loaded: ${reasonOf(cause)}`, cause }
  }
}
