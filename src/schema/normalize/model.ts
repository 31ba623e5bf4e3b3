// One idea: what the parts of a normaliser know of each other.
import type { JsonSchema } from "../json.ts"
import type { Entry, Member } from "./flatten.ts"
import type { TypeMask } from "./json-type.ts"
import type { Subschema } from "./keywords.ts"
import type { References } from "./references.ts"
import type { Work } from "./work.ts"
import type { Report } from "./report.ts"

export interface NormalizerOptions {
  /** Remove properties that the schema does not mention. */
  readonly strip: boolean
  /** Fill the declared defaults of properties that are absent or `undefined`. */
  readonly defaults: boolean
  /** Change the type of values where nothing is lost by it. */
  readonly convert: boolean
  /** Compiles a part of `root` to a check. Called when the first value needs it. */
  readonly check: (schema: JsonSchema | boolean, root: JsonSchema) => (value: unknown) => boolean
}

/** The schemas that one condition adds for a value. */
export interface Choice {
  readonly entries: readonly Entry[]
  /** No branch is known to apply, so the entries do not describe the whole value. */
  readonly isOpen: boolean
  /** The same value, changed, may be chosen differently. */
  readonly isDelicate: boolean
}

/** How generated code can make a choice by itself; `undefined` where it has to ask. */
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

/** Something that makes schemas apply to some objects or arrays and not to others. */
export interface Conditional {
  readonly dispatch: Dispatch
  choose(value: object): Choice
}

/** What is known of the parts of an object or array when every condition is decided. */
export interface Shape {
  /** Keys described by `properties`, with everything else that applies to them. */
  readonly fields: ReadonlyMap<string, Plan>
  /** Keys that are there in every valid object. */
  readonly required: ReadonlySet<string>
  /** Every key that is named anywhere. */
  readonly named: ReadonlySet<string>
  readonly defaults: ReadonlyMap<string, DefaultSlot>
  /** What describes keys by their form, or all the others. */
  readonly rest: readonly RestRule[]
  /** Keys that nothing mentions are removed. */
  readonly strips: boolean
  /** The elements of an array: the first ones, and those after them. */
  readonly prefix: readonly (Plan | undefined)[]
  readonly items: Plan | undefined
  /** The plan for a key without a name; `undefined` when nothing covers it. */
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
  /** A fresh copy, itself normalised. Ask `isUsable` first. */
  make(): unknown
}

/** Brings one value to the schemas that apply to it. */
export interface Plan {
  readonly entries: readonly Entry[]
  /** Every type that a valid value may have. */
  readonly types: TypeMask
  readonly node: Node
  /** Whether a valid value may have something to strip or fill. */
  readonly hasWork: boolean
  accepts(value: unknown): boolean
  /** The slot of a default for such values. */
  slot(value: unknown): DefaultSlot
  /** The value, changed where it has to be; the same one when nothing changes. */
  run(value: unknown, report: Report): unknown
}

/** The schemas known to apply to a value, and the next question that decides on more. */
export interface Node {
  readonly members: readonly Member[]
  readonly mentioned: readonly string[]
  readonly isDelicate: boolean
  /** The keys that may be there are known, so that others may go. */
  readonly isClosed: boolean
  /** Nothing can be said about the value: it is left alone. */
  readonly isBlind: boolean
  readonly conditional: Conditional | undefined
  /** The node after an answer. */
  after(choice: Choice): Node
  /** The last node for a value. */
  for(value: object): Node
  /** What an object or array that ends here looks like. */
  readonly shape: Shape
}

/** What the parts of one normaliser share. */
export interface Compilation {
  readonly root: JsonSchema
  readonly options: NormalizerOptions
  readonly refs: References
  readonly work: Work
  /** The plan for a value to which all of `entries` apply. The same ones give the same plan. */
  plan(entries: readonly Entry[], strip: boolean): Plan
  /** Every type that a valid value may have. */
  types(schema: Subschema): TypeMask
  /** Whether a value satisfies a schema. */
  accepts(schema: Subschema, value: unknown): boolean
}
