import { allows, requirementOf, type AccessRequirement } from "../core/access.ts"
import type { Logger } from "../internal/logger.ts"
import type { OptionRule, OptionsSchema } from "../internal/options.ts"
import { perObject } from "../internal/per-object.ts"
import type { Identity, OperationSpec } from "../core/types.ts"

/** Which operations are exposed, and how large sets are presented. */
export interface ExposeOptions {
  /** Ids (`"task.create"`), namespaces (`"task.*"`), or a function. Default: all operations. */
  readonly include?: ExposeRule | undefined
  readonly exclude?: ExposeRule | undefined
  readonly namespaces?: readonly string[] | undefined
  /** `search` shows three tools that find, describe and call operations; `auto` does so above `threshold`. */
  readonly mode?: "auto" | "all" | "search" | undefined
  /** Maximum number of operations that `auto` shows one by one; default: 64. */
  readonly threshold?: number | undefined
}

export type ExposeRule = readonly string[] | ((spec: OperationSpec) => boolean)

const EXPOSE_RULE: OptionRule = { either: [{ list: "text" }, "function"] }

export const EXPOSE_OPTIONS: OptionsSchema<
  Pick<ExposeOptions, "include" | "exclude" | "namespaces">
> = { include: EXPOSE_RULE, exclude: EXPOSE_RULE, namespaces: { list: "text" } }

/** Compiles the rules to a function that says whether a spec is exposed; `false` if a rule throws. */
export function exposure(
  expose: ExposeOptions,
  logger?: Pick<Logger, "error">,
): (spec: OperationSpec) => boolean {
  const { namespaces } = expose
  const include = expose.include === undefined ? undefined : matcher(expose.include)
  const exclude = expose.exclude === undefined ? undefined : matcher(expose.exclude)
  const isExposed = (spec: OperationSpec): boolean =>
    spec.visibility !== "internal" &&
    (namespaces === undefined || namespaces.includes(spec.namespace)) &&
    (include === undefined || include(spec)) &&
    (exclude === undefined || !exclude(spec))
  return (spec) => {
    try {
      return isExposed(spec)
    } catch (error) {
      const id = `${spec.namespace}.${spec.name}`
      logger?.error("A rule of expose threw; the operation is not shown", { id, error })
      return false
    }
  }
}

function matcher(rule: ExposeRule): (spec: OperationSpec) => boolean {
  if (typeof rule === "function") return rule
  const ids = new Set(rule)
  return ({ namespace, name }) => ids.has(`${namespace}.${name}`) || ids.has(`${namespace}.*`)
}

/** Whether a caller may see an operation. */
export function maySee(spec: OperationSpec, identity: Identity | undefined): boolean {
  return allows(requirementToSee(spec), identity, undefined)
}

/** What a caller needs to see an operation: if access depends on the input, permission for any resource of the type. */
export const requirementToSee: (spec: OperationSpec) => AccessRequirement | undefined = perObject(
  ({ accessControl }) => {
    const requirement = requirementOf(accessControl)
    return requirement && { ...requirement, resourceId: undefined }
  },
)
