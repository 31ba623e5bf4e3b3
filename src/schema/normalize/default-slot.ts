import type { DefaultSlot } from "./model.ts"
import { cloneJson } from "./data.ts"
import { flattenOne } from "./flatten.ts"
import type { Entry } from "./flatten.ts"
import type { Plan } from "./model.ts"
import type { References } from "./references.ts"
import { Report } from "./report.ts"

type State = "new" | "building" | "endless" | "unusable" | "ready"

/** The default of one property. Whether it is usable is decided when the property is first absent. */
export class PropertyDefault implements DefaultSlot {
  readonly #plan: Plan
  #value: unknown
  #state: State = "new"

  constructor(plan: Plan, value: unknown) {
    this.#plan = plan
    this.#value = value
  }

  /** Whether there is a value to fill. */
  get isUsable(): boolean {
    if (this.#state === "new") this.#build()
    // Needed while it is being built: it contains itself, and filling it in would never end.
    else if (this.#state === "building") this.#state = "endless"
    return this.#state === "ready"
  }

  /** A fresh copy, itself normalised. Check `isUsable` first. */
  make(): unknown {
    return cloneJson(this.#value)
  }

  #build(): void {
    this.#state = "building"
    try {
      const fits = this.#plan.accepts(this.#value)
      const filled = fits ? this.#plan.run(this.#value, new Report()) : undefined
      // `run` may have found that this default contains itself.
      const isEndless = (this.#state as State) === "endless"
      this.#state = fits && !isEndless ? "ready" : "unusable"
      if (this.#state === "ready") this.#value = filled
    } catch (error) {
      this.#state = "unusable"
      // A stack overflow says nothing about the default, but nothing more can be done.
      if (error instanceof RangeError) {
        this.#state = "new"
        throw error
      }
    }
  }
}

/**
 * The default of a property that the `own` schemas describe, normalised by `plan`.
 *
 * `undefined` if there is none, or if two schemas disagree.
 */
export function defaultFor(
  own: readonly Entry[],
  plan: Plan,
  refs: References,
): DefaultSlot | undefined {
  const values = own.flatMap(({ schema, fill }) => {
    const { members } = flattenOne(schema, refs)
    const nearest = members.find((member) => Object.hasOwn(member.schema, "default"))
    return fill && nearest !== undefined ? [nearest.schema["default"]] : []
  })
  const written = new Set(values.map((value) => JSON.stringify(value)))
  return written.size === 1 ? plan.slot(values[0]) : undefined
}
