export type SchemaNode = Readonly<Record<string, unknown>> | boolean

/** Inputs hide read-only properties, outputs hide write-only ones. */
export type View = "input" | "output"
