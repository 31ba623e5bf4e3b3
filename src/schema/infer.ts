// Types from schemas of TypeBox and of JSON Schema, which can contain each other.

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

interface TopLevel extends Scope {
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

type Infer<T, TScope extends Scope> = T extends { readonly "~kind": infer TKind }
  ? TKind extends keyof Leaves
    ? Leaves[TKind]
    : TKind extends keyof Composites<T, TScope>
      ? Composites<T, TScope>[TKind]
      : // A kind that means no values of its own, such as an unresolved Type.Call.
        JsonSchema<T, T, []>
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

/** The kinds with parts, those that refer to others, and template literals. */
interface Composites<T, TScope extends Scope> {
  Object: T extends { readonly properties: infer TProperties }
    ? ObjectType<TProperties, TScope>
    : never
  Array: T extends { readonly items: infer TItem } ? Frozen<T, Infer<TItem, TScope>[]> : never
  Union: T extends { readonly anyOf: infer TTypes extends readonly unknown[] }
    ? Infer<TTypes[number], TScope>
    : never
  Literal: T extends { readonly const: infer TValue } ? TValue : never
  Enum: T extends { readonly enum: infer TValues extends readonly unknown[] }
    ? TValues[number]
    : never
  Record: T extends { readonly patternProperties: infer TValues }
    ? Record<RecordKey<keyof TValues>, Infer<TValues[keyof TValues], TScope>>
    : never
  Intersect: T extends { readonly allOf: infer TTypes } ? AllOf<TTypes, TScope> : never
  Tuple: T extends { readonly items: infer TItems } ? Frozen<T, Elements<TItems, TScope>> : never
  Ref: T extends { readonly $ref: infer TRef extends string } ? Reference<TRef, TScope> : never
  Cyclic: T extends { readonly $defs: infer TDefs; readonly $ref: infer TRef }
    ? TRef extends keyof TDefs & string
      ? Infer<TDefs[TRef], Behind<TDefs, TScope["this"], [...TScope["stack"], TRef]>>
      : never
    : never
  This: ObjectType<TScope["this"], TScope>
  TemplateLiteral: T extends { readonly pattern: infer TPattern extends string }
    ? TTemplateLiteralStatic<TPattern>
    : never
  Function: T extends { readonly parameters: infer TParameters; readonly returnType: infer TResult }
    ? (...args: Elements<TParameters, TScope>) => Infer<TResult, TScope>
    : never
  Constructor: T extends {
    readonly parameters: infer TParameters
    readonly instanceType: infer TInstance
  }
    ? new (...args: Elements<TParameters, TScope>) => Infer<TInstance, TScope>
    : never
  Dependent: T extends {
    readonly if: infer TIf
    readonly then: infer TThen
    readonly else: infer TElse
  }
    ? IfThenElse<Infer<TIf, TScope>, Infer<TThen, TScope>, Infer<TElse, TScope>>
    : never
}

/** A list type, `readonly` if its schema is immutable. */
type Frozen<T, TList> = T extends Immutable ? Readonly<TList> : TList

interface Optional {
  readonly "~optional": true
}

interface ReadonlyProperty {
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

type IsLoop<TRef extends string, TStack extends readonly string[]> = TRef extends TStack[number]
  ? TStack extends readonly [string, string, string, ...string[]]
    ? true
    : false
  : false

// oxlint-disable-next-line typescript/no-explicit-any -- as TypeBox does where a type would never end
type Unbounded = any

type IfThenElse<TIf, TThen, TElse> = (TIf & TThen) | Exclude<TElse, TIf>

/** A JSON Schema within the document `TRoot`. The keywords that it has are one type each, all of which hold. */
type JsonSchema<T, TRoot, TStack extends readonly string[]> = T extends boolean
  ? T extends false
    ? never
    : unknown
  : T extends object
    ? Evaluated<Keywords<T, TRoot, TStack>>
    : unknown

/** A schema within a JSON Schema: of the same document, or a TypeBox type. */
type Subschema<T, TRoot, TStack extends readonly string[]> = T extends
  | { readonly "~kind": unknown }
  | { readonly "~unsafe": unknown }
  ? Infer<T, TopLevel>
  : JsonSchema<T, TRoot, TStack>

type Evaluated<T> = T extends object ? { [K in keyof T]: T[K] } : T

type Keywords<T, TRoot, TStack extends readonly string[]> = TypeKeyword<T> &
  ObjectKeywords<T, TRoot, TStack> &
  ArrayKeywords<T, TRoot, TStack> &
  Combinators<T, TRoot, TStack> &
  (T extends { readonly const: infer TValue } ? Mutable<TValue> : unknown) &
  (T extends { readonly enum: infer TValues extends readonly unknown[] }
    ? Mutable<TValues[number]>
    : unknown) &
  (T extends { readonly $ref: infer TRef extends string }
    ? JsonReference<TRef, TRoot, TStack>
    : unknown)

type TypeKeyword<T> = T extends { readonly type: infer TType }
  ? TType extends readonly unknown[]
    ? NamedType<TType[number]>
    : NamedType<TType>
  : unknown

type NamedType<TName> = TName extends keyof NamedTypes ? NamedTypes[TName] : unknown

interface NamedTypes {
  object: object
  array: {}
  boolean: boolean
  integer: number
  number: number
  null: null
  string: string
  bigint: bigint
  symbol: symbol
  undefined: undefined
  void: void
  asyncIterator: {}
  constructor: {}
  function: {}
  iterator: {}
}

type ObjectKeywords<T, TRoot, TStack extends readonly string[]> = (T extends {
  readonly properties: infer TProperties
}
  ? JsonProperties<TProperties, RequiredKeys<T>, TRoot, TStack>
  : T extends { readonly required: unknown }
    ? { [K in RequiredKeys<T>]: unknown }
    : unknown) &
  (T extends { readonly patternProperties: infer TValues }
    ? { [key: string]: Subschema<TValues[keyof TValues], TRoot, TStack> }
    : unknown) &
  (T extends { readonly additionalProperties: infer TValue }
    ? OtherProperties<TValue, TRoot, TStack>
    : unknown) &
  (T extends { readonly unevaluatedProperties: infer TValue }
    ? OtherProperties<TValue, TRoot, TStack>
    : unknown) &
  (T extends { readonly propertyNames: infer TName }
    ? NamedProperties<Subschema<TName, TRoot, TStack>>
    : unknown)

/** Only literal names count: a `string[]` names no keys. */
type RequiredKeys<T> = T extends { readonly required: infer TNames extends readonly string[] }
  ? string extends TNames[number]
    ? never
    : TNames[number]
  : never

type JsonProperties<TProperties, TRequired, TRoot, TStack extends readonly string[]> = {
  -readonly [
    K in keyof TProperties as K extends TRequired ? WritableKey<TProperties, K> : never
  ]: Subschema<TProperties[K], TRoot, TStack>
} & {
  -readonly [
    K in keyof TProperties as K extends TRequired ? never : WritableKey<TProperties, K>
  ]?: Subschema<TProperties[K], TRoot, TStack>
} & {
  readonly [
    K in keyof TProperties as K extends TRequired ? ReadonlyKey<TProperties, K> : never
  ]: Subschema<TProperties[K], TRoot, TStack>
} & {
  readonly [
    K in keyof TProperties as K extends TRequired ? never : ReadonlyKey<TProperties, K>
  ]?: Subschema<TProperties[K], TRoot, TStack>
} & { [K in Exclude<TRequired & string, keyof TProperties>]: unknown }

type ReadonlyKey<TProperties, K extends keyof TProperties> = TProperties[K] extends
  | { readonly readOnly: true }
  | ReadonlyProperty
  ? K
  : never

type WritableKey<TProperties, K extends keyof TProperties> = Exclude<K, ReadonlyKey<TProperties, K>>

type OtherProperties<T, TRoot, TStack extends readonly string[]> = T extends false
  ? {}
  : { [key: string]: Subschema<T, TRoot, TStack> }

type NamedProperties<TName> = [TName] extends [PropertyKey] ? { [K in TName]?: unknown } : {}

type ArrayKeywords<T, TRoot, TStack extends readonly string[]> = T extends {
  readonly prefixItems: infer TItems extends readonly unknown[]
}
  ? JsonElements<TItems, Keyword<T, "items">, T, TRoot, TStack>
  : T extends { readonly items: infer TItems }
    ? TItems extends readonly unknown[]
      ? JsonElements<TItems, Keyword<T, "additionalItems">, T, TRoot, TStack>
      : Subschema<TItems, TRoot, TStack>[]
    : unknown

/** A keyword's value; `true` if it is missing, which means the same. */
type Keyword<T, TName extends string> = T extends { readonly [K in TName]: infer TValue }
  ? TValue
  : true

/** Items by position: optional from `minItems` on, none from `maxItems` on. */
type JsonElements<
  TItems extends readonly unknown[],
  TOthers,
  T,
  TRoot,
  TStack extends readonly string[],
  TCount extends readonly unknown[] = [],
  TResult extends unknown[] = [],
  TEnough = T extends { readonly minItems: number } ? IsEnough<T, TCount, false> : true,
> = T extends { readonly maxItems: TCount["length"] }
  ? TResult
  : TItems extends readonly [infer TFirst, ...infer TRest]
    ? JsonElements<
        TRest,
        TOthers,
        T,
        TRoot,
        TStack,
        [...TCount, 0],
        TEnough extends true
          ? [...TResult, Subschema<TFirst, TRoot, TStack>?]
          : [...TResult, Subschema<TFirst, TRoot, TStack>],
        IsEnough<T, [...TCount, 0], TEnough>
      >
    : TOthers extends false
      ? TResult
      : [...TResult, ...Subschema<TOthers, TRoot, TStack>[]]

type IsEnough<T, TCount extends readonly unknown[], TBefore> = T extends {
  readonly minItems: TCount["length"]
}
  ? true
  : TBefore

type Combinators<T, TRoot, TStack extends readonly string[]> = (T extends {
  readonly anyOf: infer TTypes extends readonly unknown[]
}
  ? Subschema<TTypes[number], TRoot, TStack>
  : unknown) &
  (T extends { readonly oneOf: infer TTypes extends readonly unknown[] }
    ? Subschema<TTypes[number], TRoot, TStack>
    : unknown) &
  (T extends { readonly allOf: infer TTypes } ? JsonAllOf<TTypes, TRoot, TStack> : unknown) &
  (T extends { readonly if: infer TIf } ? JsonIf<T, TIf, TRoot, TStack> : unknown)

type JsonAllOf<
  TTypes,
  TRoot,
  TStack extends readonly string[],
  TResult = unknown,
> = TTypes extends readonly [infer TFirst, ...infer TRest]
  ? JsonAllOf<TRest, TRoot, TStack, TResult & Subschema<TFirst, TRoot, TStack>>
  : TResult

type JsonIf<T, TIf, TRoot, TStack extends readonly string[]> = T extends {
  readonly then: infer TThen
  readonly else: infer TElse
}
  ? IfThenElse<
      Subschema<TIf, TRoot, TStack>,
      Subschema<TThen, TRoot, TStack>,
      Subschema<TElse, TRoot, TStack>
    >
  : T extends { readonly then: infer TThen }
    ? Subschema<TIf, TRoot, TStack> & Subschema<TThen, TRoot, TStack>
    : T extends { readonly else: infer TElse }
      ? Exclude<Subschema<TElse, TRoot, TStack>, Subschema<TIf, TRoot, TStack>>
      : unknown

type JsonReference<TRef extends string, TRoot, TStack extends readonly string[]> =
  IsLoop<TRef, TStack> extends true
    ? Unbounded
    : Subschema<
        At<TRoot, TRef extends `#${infer TPointer}` ? TPointer : TRef>,
        TRoot,
        [...TStack, TRef]
      >

/** The target of a JSON pointer; `{}`, which accepts everything, if there is none. */
type At<T, TPointer extends string> = TPointer extends ""
  ? T
  : TPointer extends `/${infer TKey}/${infer TRest}`
    ? At<Member<T, TKey>, `/${TRest}`>
    : TPointer extends `/${infer TKey}`
      ? Member<T, TKey>
      : {}

type Member<T, TKey extends string> = Unescaped<TKey> extends keyof T ? T[Unescaped<TKey>] : {}

type Unescaped<TKey extends string> = TKey extends `${infer TLeft}~1${infer TRight}`
  ? `${Unescaped<TLeft>}/${Unescaped<TRight>}`
  : TKey extends `${infer TLeft}~0${infer TRight}`
    ? `${TLeft}~${Unescaped<TRight>}`
    : TKey

/** A JSON value without the `readonly` of `as const`. */
type Mutable<T> = T extends object ? { -readonly [K in keyof T]: Mutable<T[K]> } : T
