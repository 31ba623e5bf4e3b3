import type { ReactNode } from "react"
import type { OperationSpec } from "../api/model.ts"
import { ErrorsTable } from "./ErrorsTable.tsx"
import { SchemaTree } from "./SchemaTree.tsx"

/** The input, output and errors of an operation. */
export function SchemaPanel({ spec }: { readonly spec: OperationSpec }): ReactNode {
  const { inputSchema, outputSchema, errorSchemas = [], type } = spec
  const result = type === "subscription" ? "Each item" : "Output"
  return (
    <div className="stack">
      <section className="stack">
        <h2>Input</h2>
        <SchemaTree schema={inputSchema} label="Input" />
      </section>
      <section className="stack">
        <h2>{result}</h2>
        <SchemaTree schema={outputSchema} label={result} />
      </section>
      <section className="stack">
        <h2>Errors</h2>
        <ErrorsTable errors={errorSchemas} />
      </section>
    </div>
  )
}
