import type { ImportLibrary } from "../library.ts"
import { generator } from "./openapi-generator.ts"
import { ivotoby } from "./openapi-ivotoby.ts"
import { oas } from "./openapi-oas.ts"
import { ours, oursWithDefinitions } from "./openapi-ours.ts"

/** The number of imported operations. */
export interface Imported {
  readonly operations: number
  /** Operations whose result has a schema. */
  readonly outputs: number
}

/** The result of an import, which is kept in memory as an application would. */
interface Made extends Imported {
  readonly made: unknown
}

/** One way to make all operations of a document into something that can be called. */
export interface Importer {
  readonly name: string
  readonly isOurs?: boolean
  /** Loads the package; returns a function that imports a text. */
  load(): Promise<(text: string) => Promise<Made>>
}

/** All of them, ours first. */
export function importers(library: ImportLibrary): Importer[] {
  return [ours(library), oursWithDefinitions(library), generator, ivotoby, oas]
}

const LOUD = ["log", "info", "warn", "error", "debug"] as const

/** Suppresses the console output of peers; printing it would take most of their time. */
export async function quietly<TValue>(run: () => Promise<TValue>): Promise<TValue> {
  const before = { ...console }
  for (const method of LOUD) console[method] = () => {}
  try {
    return await run()
  } finally {
    Object.assign(console, before)
  }
}
