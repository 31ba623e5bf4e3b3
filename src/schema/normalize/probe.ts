import { isCopyableArray, isCopyableObject } from "./data.ts"
import type { Node } from "./model.ts"
import type { Plan } from "./model.ts"
import { ProbeCode } from "./probe-code.ts"
import { Report } from "./report.ts"
import { isExcess } from "./shape.ts"
import type { Shape } from "./model.ts"

/** Tells of a valid value whether it needs nothing. */
export type Probe = (value: unknown) => boolean

/** What generated code calls when counting keys is not enough. */
export interface ProbeHelpers {
  /** Of an object where something was found: it is not data that may be changed, so it is clean. */
  readonly isFixedObject: (value: object) => boolean
  readonly isFixedArray: (value: readonly unknown[]) => boolean
  /** Looks at each key by itself, after the number of them was not as expected. */
  readonly hasNoExcess: (shape: Shape, value: object) => boolean
  /** Looks at one key for which several rules may hold. */
  readonly isExtraClean: (shape: Shape, key: string, value: Record<string, unknown>) => boolean
  /** Does the work to see whether any remains. */
  readonly isSettled: (plan: Plan, value: unknown) => boolean
  /** Decides the conditions of a node, then asks the probe of the node they lead to. */
  readonly decide: (node: Node, plan: Plan, value: object) => boolean
}

/**
 * Generates the probe of a plan; `undefined` where code cannot be generated (a strict CSP).
 *
 * The code relies on the value being valid. It counts keys, looks for absent defaults, and goes down
 * only where there may be something to find.
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
      return extra === undefined ? !isExcess(shape, key) : isSettled(extra, value[key])
    },
    isSettled,
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

function isSettled(plan: Plan, value: unknown): boolean {
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
