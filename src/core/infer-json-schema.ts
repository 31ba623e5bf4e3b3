import type {
  Infer,
  IfThenElse,
  IsLoop,
  ReadonlyProperty,
  TopLevel,
  Unbounded,
} from "./infer-schema.ts"

/** A JSON Schema within the document `TRoot`. The keywords that it has are one type each, all of which hold. */
export type JsonSchema<T, TRoot, TStack extends readonly string[]> = T extends boolean
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

/** Only literal names count: of a `string[]` nobody knows which. */
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

type WritableKey<TProperties, K extends keyof TProperties> = TProperties[K] extends
  | { readonly readOnly: true }
  | ReadonlyProperty
  ? never
  : K

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

/** A keyword's value; `true` where it is missing, which is what that means. */
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
  TEnough = T extends { readonly minItems: number } ? false : true,
> = T extends { readonly maxItems: TCount["length"] }
  ? TResult
  : TItems extends readonly [infer TFirst, ...infer TRest]
    ? T extends { readonly minItems: TCount["length"] }
      ? JsonElements<
          TRest,
          TOthers,
          T,
          TRoot,
          TStack,
          [...TCount, 0],
          [...TResult, Subschema<TFirst, TRoot, TStack>?],
          true
        >
      : JsonElements<
          TRest,
          TOthers,
          T,
          TRoot,
          TStack,
          [...TCount, 0],
          TEnough extends true
            ? [...TResult, Subschema<TFirst, TRoot, TStack>?]
            : [...TResult, Subschema<TFirst, TRoot, TStack>],
          TEnough
        >
    : TOthers extends false
      ? TResult
      : [...TResult, ...Subschema<TOthers, TRoot, TStack>[]]

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

/** What a JSON pointer names; `{}`, which admits everything, where there is nothing. */
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

/** A value as it stands in JSON: `as const` says nothing about what may be done with it. */
type Mutable<T> = T extends object ? { -readonly [K in keyof T]: Mutable<T[K]> } : T
