import { FromSchema } from "../../src/index.ts"
import type { OperationSpec } from "../../src/index.ts"
import { generateTypes } from "../../src/typegen/generate.ts"
import type { GenerateTypesOptions } from "../../src/typegen/generate.ts"
import { STUB } from "./compile.ts"

/** A spec, of which a test says what matters to it. */
export function specOf(parts: Partial<OperationSpec>): OperationSpec {
  return {
    namespace: "demo",
    name: "run",
    version: "1.0.0",
    type: "query",
    description: "",
    inputSchema: {},
    outputSchema: {},
    accessControl: { requiredScopes: [] },
    ...parts,
  }
}

/** The declarations of some operations, against the stub of the library. */
export function typesOf(specs: readonly OperationSpec[], options?: GenerateTypesOptions): string {
  return generateTypes(specs, { module: STUB, ...options })
}

/** The type that a schema gives as an output, with what it declares. */
export function outputOf(schema: unknown, options?: GenerateTypesOptions): string {
  return typeAt("output", specOf({ outputSchema: FromSchema(schema) }), options)
}

/** The type that a schema gives as an input. */
export function inputOf(schema: unknown, parts: Partial<OperationSpec> = {}): string {
  return typeAt("input", specOf({ inputSchema: FromSchema(schema), ...parts }))
}

function typeAt(
  member: "input" | "output",
  spec: OperationSpec,
  options: GenerateTypesOptions = {},
): string {
  const text = typesOf([spec], options)
  const found = new RegExp(`^      ${member}:([^]*?)\\n      (?:output|errors):`, "m").exec(text)
  return (found?.[1] ?? "").trim().replaceAll("\n      ", "\n")
}

/** The declarations of the namespace, without its frame. */
export function declarationsOf(text: string): string {
  const body = /export declare namespace \w+ \{\n([^]*?)^\}/m.exec(text)?.[1] ?? ""
  return body.replaceAll(/^ {2}/gm, "").trim()
}
