import { isCopyableArray, isCopyableObject } from "./data.ts"
import type { Node, Plan, Shape } from "./model.ts"
import { isExcess } from "./object-shape.ts"
import { ProbeCode } from "./probe-code.ts"
import { Report } from "./report.ts"

/** Whether a valid value needs no change. */
export type Probe = (value: unknown) => boolean

/** The functions that generated code calls when counting keys is not enough. */
export interface ProbeHelpers {
  /** Whether an object that would need a change must not be changed, and so is clean. */
  readonly isFixedObject: (value: object) => boolean
  readonly isFixedArray: (value: readonly unknown[]) => boolean
  /** Checks each key, after their number was not as expected. */
  readonly hasNoExcess: (shape: Shape, value: object) => boolean
  /** Checks one key to which several rules may apply. */
  readonly isExtraClean: (shape: Shape, key: string, value: Record<string, unknown>) => boolean
  /** Runs the plan to see whether it changes anything. */
  readonly isUnchanged: (plan: Plan, value: unknown) => boolean
  /** Decides the conditions of a node, then calls the probe of the resulting node. */
  readonly decide: (node: Node, plan: Plan, value: object) => boolean
}

/**
 * Generates the probe of a plan; `undefined` where code cannot be generated (a strict CSP).
 *
 * The code relies on the value being valid. It counts keys, looks for absent defaults, and descends
 * only where something may need a change.
 */
export function compileProbe(plan: Plan): Probe | undefined {
  const later = new Map<Node, Probe>()
  const helpers: ProbeHelpers = {
    isFixedObject: (value) => !isCopyableObject(value),
    isFixedArray: (value) => !isCopyableArray(value),
    hasNoExcess: (shape, value) =>
      !isCopyableObject(value) || !Object.keys(value).some((key) => isExcess(shape, key)),
    isExtraClean: (shape, key, value) => {
      const extra = isExcess(shape, key) ? undefined : shape.extra(key)
      return extra === undefined ? !isExcess(shape, key) : isUnchanged(extra, value[key])
    },
    isUnchanged: isUnchanged,
    decide: (node, owner, value) => {
      const last = node.for(value)
      let probe = later.get(last)
      if (probe === undefined) {
        const code = new ProbeCode()
        probe = evaluate(code, code.ofNode(last, owner), helpers)
        later.set(last, probe)
      }
      return probe(value)
    },
  }
  try {
    const code = new ProbeCode()
    return evaluate(code, code.ofPlan(plan), helpers)
  } catch {
    return undefined
  }
}

function isUnchanged(plan: Plan, value: unknown): boolean {
  return Object.is(plan.run(value, new Report()), value)
}

function evaluate(code: ProbeCode, entry: string | undefined, helpers: ProbeHelpers): Probe {
  // oxlint-disable-next-line no-new-func, typescript/no-implied-eval -- names enter as JSON literals only
  const make = new Function("helpers", "refs", "empty", code.source(entry)) as (
    helpers: ProbeHelpers,
    refs: readonly unknown[],
    empty: object,
  ) => Probe
  return make(helpers, code.refs, Object.freeze({}))
}
