import type { ImportedOperations } from "../../src/from-openapi.ts"
import { firstCall } from "./openapi-call.ts"
import type { DocumentName } from "./documents.ts"
import type { ImportLibrary } from "./library.ts"
import type { Lane } from "./rounds.ts"
import { timeKept } from "./young.ts"

/** What is timed of a document; each of the first four does what the one before it does, and more. */
export const ROWS = {
  parse: "JSON.parse",
  list: "FromOpenAPI, all operations listed",
  schemas: "+ every input and output schema",
  definitions: "+ the $defs of each",
  call: "first call of one operation",
} as const

export type RowName = keyof typeof ROWS

/** How much is made of imported operations. */
export type Depth = "list" | "schemas" | "definitions"

/** The rows of a document, each ready to be timed. */
export function importLanes(
  library: ImportLibrary,
  document: DocumentName,
  text: string,
): Record<RowName, Lane> {
  const lane = (row: Depth): Lane => ({
    name: ROWS[row],
    time: () => timeKept(() => importTo(library, text, row)),
  })
  return {
    parse: { name: ROWS.parse, time: () => timeKept(() => JSON.parse(text)) },
    list: lane("list"),
    schemas: lane("schemas"),
    definitions: lane("definitions"),
    call: { name: ROWS.call, time: () => firstCall(library, document, text) },
  }
}

/** Imports a document and reads of its operations what the depth says. */
export function importTo(
  { FromOpenAPI }: ImportLibrary,
  text: string,
  depth: Depth,
): ImportedOperations {
  const operations = FromOpenAPI(text, { namespace: "api" })
  if (depth === "schemas") readSchemas(operations)
  if (depth === "definitions") readDefinitions(operations)
  return operations
}

/** Makes every input and output schema; returns how many there are. */
export function readSchemas(operations: ImportedOperations): number {
  let schemas = 0
  for (const { inputSchema, outputSchema } of operations) {
    if (typeof inputSchema === "object") schemas++
    if (typeof outputSchema === "object") schemas++
  }
  return schemas
}

/** The same, and puts together the definitions that each needs. */
export function readDefinitions(operations: ImportedOperations): number {
  let closed = 0
  for (const { inputSchema, outputSchema } of operations) {
    if (definitionsOf(inputSchema) !== undefined) closed++
    if (definitionsOf(outputSchema) !== undefined) closed++
  }
  return closed
}

/** The definitions that a schema carries; reading them makes them. */
function definitionsOf(schema: object): object | undefined {
  return (schema as { readonly $defs?: object }).$defs
}
