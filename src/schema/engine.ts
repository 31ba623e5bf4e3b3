import { Build, Check } from "typebox/schema"
import { Environment } from "typebox/system"
import { reasonOf } from "./describe.ts"
import { explain } from "./explain.ts"
import type { SchemaIssue } from "./issues.ts"
import type { JsonSchema } from "./json.ts"
import { prepareSchema } from "./prepare.ts"
import { Links, type SchemaNode } from "./refs.ts"

export type { SchemaIssue } from "./issues.ts"

/** A compiled schema. Neither function throws, whatever the value. */
export interface SchemaValidator {
  check(value: unknown): boolean
  /** Why a value does not match; empty exactly when `check` says it does. At most `max` (100) issues. */
  errors(value: unknown, max?: number): SchemaIssue[]
}

/** What compiles schemas; there is one, behind this interface so that it can be replaced. */
export interface SchemaEngine {
  /** Takes an admitted schema. `formats` makes `format` an assertion. */
  compile(schema: JsonSchema, options?: { formats?: boolean }): SchemaValidator
}

/** TypeBox's compiler, made safe for values and environments of all kinds. */
export const typeboxEngine: SchemaEngine = {
  compile: (schema, options) => new TypeboxValidator(schema, options?.formats ?? false),
}

type Test = (value: unknown) => boolean

class TypeboxValidator implements SchemaValidator {
  readonly #schema: JsonSchema
  readonly #formats: boolean
  #links: Links | undefined
  /** Compiles on first use, then is what was compiled. */
  #test: Test = (value) => {
    this.#test = this.#compile()
    return this.#test(value)
  }

  constructor(schema: JsonSchema, formats: boolean) {
    this.#schema = schema
    this.#formats = formats
  }

  check(value: unknown): boolean {
    // Deep or cyclic data overflows the stack, a getter or a Proxy may throw: no match, and nobody's crash.
    try {
      return this.#test(value)
    } catch {
      return false
    }
  }

  errors(value: unknown, max = 100): SchemaIssue[] {
    try {
      if (this.#test(value)) return []
      const links = (this.#links ??= new Links(this.#schema as SchemaNode))
      const issues = explain(this.#schema, links, value, Math.max(1, max), this.#formats)
      if (issues.length > 0) return issues
      return [{ path: "", keyword: "schema", message: "does not match the schema" }]
    } catch (thrown) {
      return [failure(thrown)]
    }
  }

  #compile(): Test {
    const links = new Links(this.#schema as SchemaNode)
    const { context, schema } = prepareSchema(this.#schema as SchemaNode, links, this.#formats)
    // A validator that TypeBox cannot accelerate keeps state between calls and then accepts what it must not.
    const stateless: Test = (value) => Check(context, schema as object, value)
    if (!Environment.CanEvaluate()) return stateless
    try {
      const compiled = Build(context, schema as object).Evaluate()
      return (value) => compiled.Check(value)
    } catch {
      // A schema too deep for the code generator's recursion, or its code too large for the host.
      return stateless
    }
  }
}

function failure(thrown: unknown): SchemaIssue {
  if (thrown instanceof RangeError) {
    return { path: "", keyword: "depth", message: "is nested too deeply, or contains itself" }
  }
  return { path: "", keyword: "access", message: `cannot be read: ${reasonOf(thrown)}` }
}
