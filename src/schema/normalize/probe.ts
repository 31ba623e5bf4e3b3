import { isCopyableArray, isCopyableObject } from "./data.ts"
import type { Node, Plan, Shape } from "./model.ts"
import { isExcess } from "./object-shape.ts"
import { ProbeCode } from "./probe-code.ts"
import { Report } from "./report.ts"

/** Whether a valid value needs no change. */
export type Probe = (value: unknown) => boolean

/**
 * Generates the probe of a plan; `undefined` where code cannot be generated (a strict CSP).
 *
 * The code relies on the value being valid. It counts keys, looks for absent defaults, and descends
 * only where something may need a change.
 */
export function compileProbe(plan: Plan): Probe | undefined {
  const later = new Map<Node, Probe>()
  // The functions that generated code calls when counting keys is not enough.
  const helpers = {
    // Whether an object that would need a change must not be changed, and so is clean.
    isFixedObject: (value: object) => !isCopyableObject(value),
    isFixedArray: (value: readonly unknown[]) => !isCopyableArray(value),
    // Checks each key, after their number was not as expected.
    hasNoExcess: (shape: Shape, value: object) =>
      !isCopyableObject(value) || !Object.keys(value).some((key) => isExcess(shape, key)),
    // Checks one key to which several rules may apply.
    isExtraClean: (shape: Shape, key: string, value: Record<string, unknown>) => {
      const extra = isExcess(shape, key) ? undefined : shape.extra(key)
      return extra === undefined ? !isExcess(shape, key) : isUnchanged(extra, value[key])
    },
    isUnchanged,
    // Decides the conditions of a node, then calls the probe of the resulting node.
    decide: (node: Node, owner: Plan, value: object): boolean => {
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

function evaluate(code: ProbeCode, entry: string | undefined, helpers: object): Probe {
  // oxlint-disable-next-line no-new-func, typescript/no-implied-eval -- names enter as JSON literals only
  const make = new Function("helpers", "refs", "empty", code.source(entry)) as (
    helpers: object,
    refs: readonly unknown[],
    empty: object,
  ) => Probe
  return make(helpers, code.refs, Object.freeze({}))
}
