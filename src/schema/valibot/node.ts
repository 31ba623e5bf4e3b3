import { isRecord } from "../../internal/guards.ts"

/** The input or the output of a schema. */
export type Side = "input" | "output"

/** A JSON Schema under construction. */
export type Json = Record<string, unknown>

/** A schema or an action of Valibot, by its structure: nothing here needs Valibot. */
export interface ValibotNode {
  readonly kind: string
  readonly type: string
  readonly [key: string]: unknown
}

/** Whether a value is a schema of Valibot as it comes from `v.object()` and the like. */
export function isValibotSchema(value: unknown): value is ValibotNode {
  return isRecord(value) && value["kind"] === "schema" && typeof value["type"] === "string"
}

/** The error for a schema without a JSON Schema form. */
export function unsupported(node: ValibotNode, what = ""): TypeError {
  return new TypeError(
    `Valibot's "${node.type}"${what} has no JSON Schema form. Use a type that JSON has, or describe the wire form with toStandardJsonSchema() from "@valibot/to-json-schema".`,
  )
}
