export type SchemaNode = Readonly<Record<string, unknown>> | boolean

/** Inputs leave out what is read-only, outputs what is write-only. */
export type View = "input" | "output"
