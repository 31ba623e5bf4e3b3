/** Problems of a schema that is still usable. */
export type SchemaDiagnosticCode =
  | "unresolved-ref"
  | "ref-loop"
  | "bad-pattern"
  | "unsafe-pattern"
  | "slow-pattern"
  | "too-deep"
  | "too-large"
  | "malformed-keyword"
  | "not-json"

/** One part of a schema that could not be used as written. */
export interface SchemaDiagnostic {
  readonly code: SchemaDiagnosticCode
  /** JSON pointer into the source. */
  readonly path: string
  /** What is wrong there, what was done about it, and what to write instead. */
  readonly message: string
}

/** Receives diagnostics while a schema is admitted. */
export type Report = (code: SchemaDiagnosticCode, path: string, message: string) => void
