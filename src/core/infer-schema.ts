import type { JsonSchema } from "./infer-json-schema.ts"
import type { TIntegerKey, TNumberKey, TTemplateLiteralStatic } from "typebox"

// Not TypeBox's `Static`: applied to a type parameter, it costs the compiler more than a million type
// instantiations before the first operation. These types give the same results; test/types/ compares them.

/**
 * The type of the values that a TypeBox type or a JSON Schema literal describes, as TypeBox's `Static` would
 * infer it. With a codec it is the encoded type.
 */
export type SchemaType<TSchemaLike> = 0 extends 1 & TSchemaLike
  ? TSchemaLike
  : Infer<TSchemaLike, TopLevel>

/** Where a TypeBox type stands. */
interface Scope {
  /** What `Type.Ref` may name: the definitions of the `Type.Cyclic` around it. */
  readonly defs: unknown
  /** What `Type.This` means: the properties of the object around it. */
  readonly this: unknown
  /** The references that led here. */
  readonly stack: readonly string[]
}

export interface TopLevel extends Scope {
  readonly defs: unknown
  readonly this: unknown
  readonly stack: []
}

/** `Scope` within the properties of an object. */
interface Within<TScope extends Scope, TProperties> extends Scope {
  readonly defs: TScope["defs"]
  readonly this: TProperties
  readonly stack: TScope["stack"]
}

/** `Scope` behind a reference. */
interface Behind<TDefs, TThis, TStack extends readonly string[]> extends Scope {
  readonly defs: TDefs
  readonly this: TThis
  readonly stack: TStack
}

export type Infer<T, TScope extends Scope> = T extends { readonly "~kind": infer TKind }
  ? TKind extends keyof Leaves
    ? Leaves[TKind]
    : Composite<T, TScope>
  : T extends { readonly "~unsafe": infer TUnsafe }
    ? TUnsafe
    : JsonSchema<T, T, []>

/** The kinds that have no parts. */
interface Leaves {
  // oxlint-disable-next-line typescript/no-explicit-any -- what Type.Any() means
  Any: any
  BigInt: bigint
  Boolean: boolean
  Integer: number
  Never: never
  Null: null
  Number: number
  String: string
  Symbol: symbol
  Undefined: undefined
  Unknown: unknown
  Void: void
}

type Composite<T, TScope extends Scope> = T extends {
  readonly "~kind": "Object"
  readonly properties: infer TProperties
}
  ? ObjectType<TProperties, TScope>
  : T extends { readonly "~kind": "Array"; readonly items: infer TItem }
    ? T extends Immutable
      ? readonly Infer<TItem, TScope>[]
      : Infer<TItem, TScope>[]
    : T extends {
          readonly "~kind": "Union"
          readonly anyOf: infer TTypes extends readonly unknown[]
        }
      ? Infer<TTypes[number], TScope>
      : T extends { readonly "~kind": "Literal"; readonly const: infer TValue }
        ? TValue
        : T extends {
              readonly "~kind": "Enum"
              readonly enum: infer TValues extends readonly unknown[]
            }
          ? TValues[number]
          : T extends { readonly "~kind": "Record"; readonly patternProperties: infer TValues }
            ? Record<RecordKey<keyof TValues>, Infer<TValues[keyof TValues], TScope>>
            : T extends { readonly "~kind": "Intersect"; readonly allOf: infer TTypes }
              ? AllOf<TTypes, TScope>
              : T extends { readonly "~kind": "Tuple"; readonly items: infer TItems }
                ? T extends Immutable
                  ? Readonly<Elements<TItems, TScope>>
                  : Elements<TItems, TScope>
                : Named<T, TScope>

/** The kinds that refer to others, and template literals. */
type Named<T, TScope extends Scope> = T extends {
  readonly "~kind": "Ref"
  readonly $ref: infer TRef extends string
}
  ? Reference<TRef, TScope>
  : T extends { readonly "~kind": "Cyclic"; readonly $defs: infer TDefs; readonly $ref: infer TRef }
    ? TRef extends keyof TDefs & string
      ? Infer<TDefs[TRef], Behind<TDefs, TScope["this"], [...TScope["stack"], TRef]>>
      : never
    : T extends { readonly "~kind": "This" }
      ? ObjectType<TScope["this"], TScope>
      : T extends {
            readonly "~kind": "TemplateLiteral"
            readonly pattern: infer TPattern extends string
          }
        ? TTemplateLiteralStatic<TPattern>
        : Callable<T, TScope>

type Callable<T, TScope extends Scope> = T extends {
  readonly "~kind": "Function"
  readonly parameters: infer TParameters
  readonly returnType: infer TResult
}
  ? (...args: Elements<TParameters, TScope>) => Infer<TResult, TScope>
  : T extends {
        readonly "~kind": "Constructor"
        readonly parameters: infer TParameters
        readonly instanceType: infer TInstance
      }
    ? new (...args: Elements<TParameters, TScope>) => Infer<TInstance, TScope>
    : T extends {
          readonly "~kind": "Dependent"
          readonly if: infer TIf
          readonly then: infer TThen
          readonly else: infer TElse
        }
      ? IfThenElse<Infer<TIf, TScope>, Infer<TThen, TScope>, Infer<TElse, TScope>>
      : // A kind that means no values of its own, such as an unresolved Type.Call.
        JsonSchema<T, T, []>

interface Optional {
  readonly "~optional": true
}

export interface ReadonlyProperty {
  readonly "~readonly": true
}

interface Immutable {
  readonly "~immutable": true
}

type ObjectType<TProperties, TScope extends Scope> = keyof TProperties extends never
  ? object
  : TProperties[keyof TProperties] extends infer TTypes
    ? [Extract<TTypes, Optional | ReadonlyProperty>] extends [never]
      ? { [K in keyof TProperties]: Infer<TProperties[K], Within<TScope, TProperties>> }
      : [Extract<TTypes, ReadonlyProperty>] extends [never]
        ? Flat<WritableProperties<TProperties, Within<TScope, TProperties>>>
        : Flat<
            WritableProperties<TProperties, Within<TScope, TProperties>> &
              ReadonlyProperties<TProperties, Within<TScope, TProperties>>
          >
    : never

type WritableProperties<TProperties, TScope extends Scope> = {
  [K in keyof TProperties as TProperties[K] extends Optional | ReadonlyProperty ? never : K]: Infer<
    TProperties[K],
    TScope
  >
} & {
  [
    K in keyof TProperties as TProperties[K] extends Optional
      ? TProperties[K] extends ReadonlyProperty
        ? never
        : K
      : never
  ]?: Infer<TProperties[K], TScope>
}

type ReadonlyProperties<TProperties, TScope extends Scope> = {
  readonly [
    K in keyof TProperties as TProperties[K] extends ReadonlyProperty
      ? TProperties[K] extends Optional
        ? never
        : K
      : never
  ]: Infer<TProperties[K], TScope>
} & {
  readonly [
    K in keyof TProperties as TProperties[K] extends Optional & ReadonlyProperty ? K : never
  ]?: Infer<TProperties[K], TScope>
}

type Flat<T> = { [K in keyof T]: T[K] } & {}

type RecordKey<TPattern> = TPattern extends TIntegerKey | TNumberKey
  ? number
  : TPattern extends `^${string}$`
    ? TTemplateLiteralStatic<TPattern>
    : string

type AllOf<TTypes, TScope extends Scope, TResult = unknown> = TTypes extends readonly [
  infer TFirst,
  ...infer TRest,
]
  ? AllOf<TRest, TScope, TResult & Infer<TFirst, TScope>>
  : TResult

type Elements<
  TTypes,
  TScope extends Scope,
  TResult extends unknown[] = [],
> = TTypes extends readonly [infer TLast extends { readonly "~kind": "Rest" }]
  ? [...TResult, ...RestElements<TLast, TScope>]
  : TTypes extends readonly [infer TFirst, ...infer TRest]
    ? Elements<TRest, TScope, [...TResult, ...Element<TFirst, TScope>]>
    : TResult

type RestElements<T, TScope extends Scope> = T extends {
  readonly items: { readonly "~kind": "Array"; readonly items: infer TItem }
}
  ? Infer<TItem, TScope>[]
  : [never]

type Element<T, TScope extends Scope> = T extends Optional
  ? [ElementType<T, TScope>?]
  : [ElementType<T, TScope>]

type ElementType<T, TScope extends Scope> = T extends ReadonlyProperty
  ? Readonly<Infer<T, TScope>>
  : Infer<T, TScope>

type Reference<TRef extends string, TScope extends Scope> = TRef extends keyof TScope["defs"]
  ? TScope["defs"][TRef] extends { readonly "~kind": "Object" }
    ? // The compiler looks at properties when they are used, so that objects may go on for ever.
      Infer<TScope["defs"][TRef], Behind<TScope["defs"], TScope["this"], []>>
    : IsLoop<TRef, TScope["stack"]> extends true
      ? Unbounded
      : Infer<
          TScope["defs"][TRef],
          Behind<TScope["defs"], TScope["this"], [...TScope["stack"], TRef]>
        >
  : unknown

export type IsLoop<
  TRef extends string,
  TStack extends readonly string[],
> = TRef extends TStack[number]
  ? TStack extends readonly [string, string, string, ...string[]]
    ? true
    : false
  : false

// oxlint-disable-next-line typescript/no-explicit-any -- as TypeBox does where a type would never end
export type Unbounded = any

export type IfThenElse<TIf, TThen, TElse> = (TIf & TThen) | Exclude<TElse, TIf>
