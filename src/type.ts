// TypeBox's builder, whole, with the types of `typebox`: from one file instead of three hundred.

export { Type } from "typebox"
export type * from "typebox"
export { Bytes, FileStream } from "./schema/file-types.ts"
export type { FileTypeOptions } from "./schema/file-types.ts"
export { toFile } from "./schema/to-file.ts"
export type { FileLike } from "./schema/files.ts"
export type { FileDetails, FileSource } from "./schema/to-file.ts"
