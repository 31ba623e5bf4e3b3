// The interfaces between the parts of a normaliser.
import type { JsonSchema } from "../json.ts"
import type { Entry, Member, TypeMask, Work } from "./flatten.ts"
import type { Links } from "../refs.ts"
import type { Subschema } from "./subschemas.ts"
import type { Report } from "./report.ts"

export interface NormalizerOptions {
  /** Remove properties that the schema does not mention. */
  readonly strip: boolean
  /** Fill the declared defaults of properties that are absent or `undefined`. */
  readonly defaults: boolean
  /** Change the type of values where nothing is lost by it. */
  readonly convert: boolean
  /** Compiles a part of the schema to a check. Called when the first value needs it. */
  readonly check: (schema: JsonSchema) => (value: unknown) => boolean
}

/** The schemas that one condition adds for a value. */
export interface Choice {
  readonly entries: readonly Entry[]
  /** No branch is known to apply, so the entries do not describe the whole value. */
  readonly isOpen: boolean
  /** A change of the value may lead to another choice. */
  readonly isDelicate: boolean
}

/** How generated code can make a choice; `undefined` if it has to call `choose`. */
export interface Dispatch {
  readonly array: Choice | undefined
  readonly object: Choice | Tags | KeyTest | undefined
}

/** The choice follows from the value of one property. */
export interface Tags {
  readonly tag: string
  readonly choices: ReadonlyMap<unknown, Choice>
}

/** The choice follows from whether a key is there. */
export interface KeyTest {
  readonly key: string
  readonly present: Choice
  readonly absent: Choice
}

/** A condition under which schemas apply to an object or array. */
export interface Conditional {
  readonly dispatch: Dispatch
  choose(value: object): Choice
}

/** The parts of an object or array after all conditions are decided. */
export interface Shape {
  /** Keys described by `properties`, with everything else that applies to them. */
  readonly fields: ReadonlyMap<string, Plan>
  /** Keys that are there in every valid object. */
  readonly required: ReadonlySet<string>
  /** Every key that is named anywhere. */
  readonly named: ReadonlySet<string>
  readonly defaults: ReadonlyMap<string, DefaultSlot>
  /** Rules for keys by pattern, or for all other keys. */
  readonly rest: readonly RestRule[]
  /** Whether keys that no schema mentions are removed. */
  readonly strips: boolean
  /** The elements of an array: the first ones, and those after them. */
  readonly prefix: readonly (Plan | undefined)[]
  readonly items: Plan | undefined
  /** The plan for an undeclared key; `undefined` if no rule covers it. */
  extra(key: string): Plan | undefined
}

/** A schema for keys that are not named. */
export interface RestRule {
  readonly covers: (key: string) => boolean
  /** For `patternProperties`. */
  readonly pattern: RegExp | undefined
  readonly entry: Entry
  readonly plan: Plan
}

/** The default of one property. */
export interface DefaultSlot {
  /** Whether there is a value to fill. */
  readonly isUsable: boolean
  /** A fresh copy, itself normalised. Check `isUsable` first. */
  make(): unknown
}

/** Changes one value to match the schemas that apply to it. */
export interface Plan {
  readonly entries: readonly Entry[]
  /** Every type that a valid value may have. */
  readonly types: TypeMask
  readonly node: Node
  /** Whether a valid value may have something to strip or fill in. */
  readonly hasWork: boolean
  accepts(value: unknown): boolean
  /** The slot of a default for values of this plan. */
  slot(value: unknown): DefaultSlot
  /** The changed value; the same object if nothing changes. */
  run(value: unknown, report: Report): unknown
}

/** The schemas known to apply to a value, and the next condition that decides on more. */
export interface Node {
  readonly members: readonly Member[]
  readonly mentioned: readonly string[]
  readonly isDelicate: boolean
  /** All possible keys are known, so that others can be stripped. */
  readonly isClosed: boolean
  /** Nothing is known about the value: it stays unchanged. */
  readonly isBlind: boolean
  readonly conditional: Conditional | undefined
  /** The node after a choice. */
  after(choice: Choice): Node
  /** The last node for a value. */
  for(value: object): Node
  /** The shape of an object or array for which this is the last node. */
  readonly shape: Shape
}

/** The shared state of one normaliser's parts. */
export interface Compilation {
  readonly options: NormalizerOptions
  readonly refs: Links
  readonly work: Work
  /** The plan for a value to which all of `entries` apply. The same entries give the same plan. */
  plan(entries: readonly Entry[], strip: boolean): Plan
  /** Every type that a valid value may have. */
  types(schema: Subschema): TypeMask
  /** Whether a value satisfies a schema. */
  accepts(schema: Subschema, value: unknown): boolean
}
