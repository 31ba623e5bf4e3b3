// Schemas beyond those of definitions: compiled ones, parts of our own, and the forms on the wire.

export { compileSchema } from "./schema/compiled.ts"
export type { CompiledSchema } from "./schema/compiled.ts"
export { schemaDiagnostics } from "./schema/from-schema.ts"
export type { SchemaDiagnostic, SchemaDiagnosticCode } from "./schema/admit.ts"
export {
  ErrorDefinitionSchema,
  IdentitySchema,
  OperationAnnotationsSchema,
  OperationDeprecationSchema,
  OperationTypeSchema,
} from "./core/spec-schemas.ts"
export { MCPAnnotationsSchema } from "./core/envelope-schemas.ts"
export { decodeEnvelope, encodeEnvelope } from "./core/envelope-codec.ts"
export type { BinaryKind, FileKind, WireEnvelope } from "./core/envelope-codec.ts"
export { decodeCallEvent, encodeCallEvent } from "./core/event-codec.ts"
