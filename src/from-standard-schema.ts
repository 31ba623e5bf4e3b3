// The entry `@alkdev/operations/from-standard-schema`: schemas of Zod, Valibot, ArkType and the like.

export { fromStandardSchema } from "./schema/from-schema.ts"
export type { FromStandard, FromStandardSchemaOptions } from "./schema/from-schema.ts"
