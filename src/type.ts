// TypeBox's builder, whole, with the types of `typebox`: from one file instead of three hundred.

export { Type } from "typebox"
export type * from "typebox"
