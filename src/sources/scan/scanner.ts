import { specFields } from "../../core/spec-schemas.ts"
import { idOf, type AnyOperation } from "../../core/define.ts"
import { reasonOf } from "../../internal/message-text.ts"
import { type Candidate, findCandidateIssue, candidatesOf, describeExport } from "./exports.ts"
import { type Loaded, loadModules } from "./load.ts"
import { fileUrl } from "./paths.ts"
import {
  resolveScanOptions,
  type ScannerFS,
  type ScanOptions,
  type ScanProblem,
  type ScanSettings,
} from "./options.ts"
import { findFiles } from "./walk.ts"
import type { OperationSpec } from "../../core/types.ts"

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
