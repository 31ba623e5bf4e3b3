import { Build, Check } from "typebox/schema"
import { Environment } from "typebox/system"
import { definitionsOf, isAdopted } from "./trusted-schemas.ts"
import { hasManyDefinitions, Parts } from "./compile-definitions.ts"
import { reasonOf } from "../internal/message-text.ts"
import { explain } from "./explain.ts"
import type { SchemaIssue } from "./issues.ts"
import type { JsonSchema } from "./json.ts"
import { prepareSchema } from "./prepare.ts"
import { Links } from "./refs.ts"

export type { SchemaIssue } from "./issues.ts"

/** A compiled schema. `check` and `errors` never throw, whatever the value. */
export interface SchemaValidator {
  check(value: unknown): boolean
  /**
   * The compiled function itself, compiled now if need be. Unlike `check` it may throw, on data that
   * is too deep or cannot be read: for callers that guard a whole path at once.
   */
  test(): (value: unknown) => boolean
  /** Compiles the check of a schema within this one, references included. It may throw, too. */
  part(schema: JsonSchema): (value: unknown) => boolean
  /** Whether it has so many definitions that they are compiled one by one. */
  readonly isLarge: boolean
  /** Why a value does not match; empty exactly when `check` returns true. At most `max` (1,000) issues. */
  errors(value: unknown, max?: number): SchemaIssue[]
  /** The same for a value that is known not to match. */
  explain(value: unknown, max?: number): SchemaIssue[]
  /** Like `check`, without compiling: for a value or two, such as examples. */
  accepts(value: unknown): boolean
}

// More errors than anyone will read; collecting a million of them would be an attack in itself.
const MAX_ISSUES = 1000

type Test = (value: unknown) => boolean

/**
 * Prepares the validator of an admitted schema: TypeBox's compiler, made safe for values and environments of all kinds.
 * `formats` makes `format` an assertion.
 *
 * It compiles on first use. Closures, because the fields of a class cost a third of a small check.
 */
export function compileValidator(schema: JsonSchema, formats: boolean = false): SchemaValidator {
  let links: Links | undefined
  let test: Test | undefined
  const isLarge = isAdopted(schema) && hasManyDefinitions(schema)
  const parts = isLarge ? new Parts(schema, (part) => compile(part, formats)) : undefined
  const compiled = (): Test => (test ??= parts?.test() ?? compile(schema, formats))
  const issuesOf = (value: unknown, max: number): SchemaIssue[] => {
    links ??= new Links(schema, parts && definitionsOf(schema))
    return explain(schema, links, value, Math.max(1, max), formats)
  }
  return {
    test: compiled,
    part: (part) => parts?.test(part) ?? compile(part, formats, (links ??= new Links(schema))),
    isLarge,
    check(value) {
      const run = compiled()
      // Deep or cyclic data overflows the stack, a getter or a Proxy may throw: then it does not match.
      try {
        return run(value)
      } catch {
        return false
      }
    },
    errors(value, max) {
      const run = compiled()
      try {
        return run(value) ? [] : this.explain(value, max)
      } catch (thrown) {
        return [readFailure(thrown)]
      }
    },
    explain(value, max = MAX_ISSUES) {
      try {
        const issues = issuesOf(value, max)
        if (issues.length > 0) return issues
        return [{ path: "", keyword: "schema", message: "does not match the schema" }]
      } catch (thrown) {
        return [readFailure(thrown)]
      }
    },
    accepts(value) {
      try {
        return issuesOf(value, 1).length === 0
      } catch {
        return false
      }
    },
  }
}

function compile(schema: JsonSchema, formats: boolean, links: Links = new Links(schema)): Test {
  if (!Environment.CanEvaluate()) return interpret(schema, links, formats)
  try {
    const prepared = prepareSchema(schema, links, { formats, interpreted: false })
    const build = Build(prepared.context, prepared.schema as object)
    const { variables } = build.External()
    if (prepared.keyTests.size > 0) {
      variables.forEach((value, index) => {
        if (!(value instanceof RegExp)) return
        variables[index] = prepared.keyTests.get(value.source) ?? value
      })
    }
    const evaluated = build.Evaluate()
    // The generated function without the object around it: one call less where every call counts.
    const { check } = evaluated as unknown as { check?: unknown }
    return typeof check === "function" ? (check as Test) : (value) => evaluated.Check(value)
  } catch {
    // A schema too deep for the recursion of the code generator, or code too large for the host.
    return interpret(schema, links, formats)
  }
}

/** Interprets the schema. TypeBox's own validator would keep state between calls, and then accept invalid values. */
function interpret(schema: JsonSchema, links: Links, formats: boolean): Test {
  const prepared = prepareSchema(schema, links, { formats, interpreted: true })
  return (value) => Check(prepared.context, prepared.schema as object, value)
}

/** The issue of a value that cannot be read, from what reading it threw. */
function readFailure(thrown: unknown): SchemaIssue {
  if (thrown instanceof RangeError) {
    return { path: "", keyword: "depth", message: "is nested too deeply, or contains itself" }
  }
  return { path: "", keyword: "access", message: `cannot be read: ${reasonOf(thrown)}` }
}
