/** The operation of a document that is the most expensive to call first. */
import type { ImportedOperation, ImportedOperations } from "../../src/from-openapi.ts"
import type { ImportLibrary } from "./library.ts"
import { cpuOf } from "./measure.ts"
import { collectYoung } from "./young.ts"

/** Finds it: the one with the most definitions among those that the simplest input can call. */
export async function costliest(
  library: ImportLibrary,
  text: string,
): Promise<{ index: number; name: string }> {
  const operations = imported(library, text)
  const ranked = operations
    .map((operation, index) => ({ operation, index, size: reachOf(operation) }))
    .filter(({ operation }) => operation.type !== "subscription")
    .toSorted((left, right) => right.size - left.size)
  for (const { operation, index } of ranked) {
    const errors = library.collectErrors(operation.inputSchema, simplestInput(operation))
    if (errors.length === 0) return { index, name: operation.name }
  }
  throw new Error("No operation can be called with a simple input.")
}

/** CPU nanoseconds of its first call. */
export async function firstCallOf(
  library: ImportLibrary,
  text: string,
  index: number,
): Promise<number> {
  const operation = imported(library, text)[index] as ImportedOperation
  await using registry = library.createRegistry([operation], { output: "warn", logger: SILENT })
  const input = simplestInput(operation)
  const id = `${operation.namespace}.${operation.name}`
  // Node loads its HTTP client on first use, which is not measured.
  void new Response("")
  collectYoung()
  collectYoung()
  return await cpuOf(async () => {
    await registry.execute(id, input)
  })
}

const SILENT = { debug: silent, info: silent, warn: silent, error: silent }

function silent(): void {}

function imported({ FromOpenAPI }: ImportLibrary, text: string): ImportedOperations {
  const baseUrl = "https://api.example.com"
  return FromOpenAPI(text, { namespace: "api", baseUrl, fetch: async () => Response.json({}) })
}

function reachOf({ inputSchema, outputSchema }: ImportedOperation): number {
  const schemas = [inputSchema, outputSchema] as { readonly $defs?: object }[]
  return schemas.reduce((sum, { $defs = {} }) => sum + Object.keys($defs).length, 0)
}

function simplestInput({ inputSchema }: ImportedOperation): Record<string, unknown> {
  const { required = [] } = inputSchema as { readonly required?: readonly string[] }
  return Object.fromEntries(required.map((key) => [key, key === "body" ? {} : "x"]))
}
