import type { ImportLibrary } from "../library.ts"
import { importTo } from "../openapi-rows.ts"
import type { Depth } from "../openapi-rows.ts"
import type { Importer } from "./openapi.ts"

/** Every input and output schema made. */
export function ours(library: ImportLibrary): Importer {
  return importer("FromOpenAPI, every schema", library, "schemas")
}

/** The same, each with its `$defs`. */
export function oursWithDefinitions(library: ImportLibrary): Importer {
  return importer("FromOpenAPI, every schema with its $defs", library, "definitions")
}

function importer(name: string, library: ImportLibrary, depth: Depth): Importer {
  return {
    name,
    isOurs: true,
    load: async () => async (text) => {
      const operations = importTo(library, text, depth)
      let outputs = 0
      for (const { outputSchema } of operations) {
        const { type } = outputSchema as { readonly type?: unknown }
        if (type !== "void") outputs++
      }
      return { made: operations, operations: operations.length, outputs }
    },
  }
}
