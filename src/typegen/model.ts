// TypeScript types as plain data, between schemas and text.

import type { CommentParts } from "./comments.ts"

/** A type. */
export type TypeNode =
  | WordNode
  | LiteralNode
  | NamedNode
  | ObjectNode
  | { readonly kind: "array"; readonly item: TypeNode }
  | TupleNode
  | UnionNode
  | { readonly kind: "intersection"; readonly members: readonly TypeNode[] }
  | { readonly kind: "error"; readonly code: string; readonly details: TypeNode }

/** A type with a keyword, such as `string`. */
export interface WordNode {
  readonly kind: "word"
  readonly text:
    | "unknown"
    | "never"
    | "undefined"
    | "null"
    | "string"
    | "number"
    | "boolean"
    | "Uint8Array"
    | "FileLike"
}

export interface LiteralNode {
  readonly kind: "literal"
  readonly value: string | number | boolean
}

export interface UnionNode {
  readonly kind: "union"
  readonly members: readonly TypeNode[]
}

/** A type that is declared once and used by its name. */
export interface NamedNode {
  readonly kind: "named"
  readonly type: NamedType
}

export interface ObjectNode {
  readonly kind: "object"
  readonly properties: readonly PropertyNode[]
  readonly index: readonly IndexNode[]
}

export interface PropertyNode {
  readonly key: string
  readonly type: TypeNode
  readonly isOptional: boolean
  readonly comment?: CommentParts | undefined
}

/** Type of unlisted properties: all of them, or those whose key has a prefix. */
export interface IndexNode {
  readonly prefix: string
  readonly type: TypeNode
}

export interface TupleNode {
  readonly kind: "tuple"
  readonly items: readonly TypeNode[]
  /** Number of required items. */
  readonly minItems: number
  readonly rest: TypeNode | undefined
}

/** What a type describes: an input with defaults filled in (`filled`) or without (`given`), or an output. */
export type View = "filled" | "given" | "output"

/** A declared type. Its body is complete when every schema has been read. */
export interface NamedType {
  /** The preferred name, which another type may take. */
  readonly wanted: string
  readonly view: View
  body: TypeNode
  comment: CommentParts | undefined
}

export const UNKNOWN: WordNode = { kind: "word", text: "unknown" }
export const NEVER: WordNode = { kind: "word", text: "never" }
export const UNDEFINED: WordNode = { kind: "word", text: "undefined" }
export const NULL: WordNode = { kind: "word", text: "null" }
export const STRING: WordNode = { kind: "word", text: "string" }
export const NUMBER: WordNode = { kind: "word", text: "number" }
export const BOOLEAN: WordNode = { kind: "word", text: "boolean" }

/** Types of files, by the value of their mark. */
export const FILE_TYPES: ReadonlyMap<unknown, TypeNode> = new Map<unknown, TypeNode>([
  ["bytes", { kind: "word", text: "Uint8Array" }],
  ["stream", { kind: "word", text: "FileLike" }],
  ["file", { kind: "word", text: "FileLike" }],
])

/** Types of values without parts, by their names in JSON Schema. */
export const SIMPLE_TYPES: ReadonlyMap<unknown, TypeNode> = new Map([
  ["string", STRING],
  ["number", NUMBER],
  ["integer", NUMBER],
  ["boolean", BOOLEAN],
  ["null", NULL],
])

/** Any other property. */
export const OPEN_INDEX: IndexNode = { prefix: "", type: UNKNOWN }

/** An object with arbitrary properties. */
export const OPEN_OBJECT: ObjectNode = { kind: "object", properties: [], index: [OPEN_INDEX] }

/** A type with other types in the places of its parts. Declared types are not entered. */
export function mapParts(node: TypeNode, change: (part: TypeNode) => TypeNode): TypeNode {
  switch (node.kind) {
    case "word":
    case "literal":
    case "named":
      return node
    case "object":
      return {
        ...node,
        properties: node.properties.map((one) => ({ ...one, type: change(one.type) })),
        index: node.index.map((one) => ({ ...one, type: change(one.type) })),
      }
    case "array":
      return { ...node, item: change(node.item) }
    case "tuple": {
      const items = node.items.map((one) => change(one))
      return { ...node, items, rest: node.rest && change(node.rest) }
    }
    case "union":
    case "intersection":
      return { ...node, members: node.members.map((one) => change(one)) }
    case "error":
      return { ...node, details: change(node.details) }
  }
}

/** Whether a type is an object with arbitrary properties. */
export function isOpenObject(node: TypeNode): boolean {
  if (node.kind !== "object" || node.properties.length > 0) return false
  return node.index.length === 1 && node.index[0]?.prefix === "" && node.index[0].type === UNKNOWN
}
