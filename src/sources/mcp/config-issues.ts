import { CallError } from "../../core/errors.ts"

/** The error for an invalid config. It never contains values, which may be secrets. */
export function configError(
  server: string,
  field: string | undefined,
  message: string,
  cause?: unknown,
): CallError<"VALIDATION_ERROR"> {
  const place = field === undefined ? "" : ` "${field}"`
  return new CallError("VALIDATION_ERROR", `MCP server "${server}":${place} ${message}`, {
    details: { server, ...(field !== undefined && { field }) },
    ...(cause !== undefined && { cause }),
  })
}

/** Reads and validates the fields of one config. */
export class ConfigFields {
  readonly server: string
  readonly #fields: Readonly<Record<string, unknown>>

  constructor(server: string, fields: Readonly<Record<string, unknown>>) {
    this.server = server
    this.#fields = fields
  }

  fail(field: string | undefined, message: string, cause?: unknown): never {
    throw configError(this.server, field, message, cause)
  }

  get(field: string): unknown {
    return Object.hasOwn(this.#fields, field) ? (this.#fields[field] ?? undefined) : undefined
  }

  has(field: string): boolean {
    return this.get(field) !== undefined
  }

  text(field: string): string | undefined {
    const value = this.get(field)
    if (value === undefined) return undefined
    if (typeof value !== "string" || value === "") {
      return this.fail(field, "must be a text that is not empty.")
    }
    if (value.includes("\0")) return this.fail(field, "must not contain the character NUL.")
    return value
  }

  texts(field: string): readonly string[] | undefined {
    const value = this.get(field)
    if (value === undefined) return undefined
    if (!Array.isArray(value)) return this.fail(field, `must be a list of texts, such as ["a"].`)
    for (const [index, item] of value.entries()) {
      if (typeof item !== "string") return this.fail(`${field}[${index}]`, "must be a text.")
      if (item.includes("\0")) {
        return this.fail(`${field}[${index}]`, "must not contain the character NUL.")
      }
    }
    return Object.freeze([...(value as string[])])
  }

  /** An object with string values. */
  record(field: string): Readonly<Record<string, string>> | undefined {
    const value = this.get(field)
    if (value === undefined) return undefined
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return this.fail(field, "must be an object with texts.")
    }
    for (const [key, item] of Object.entries(value)) {
      if (typeof item !== "string") this.fail(`${field}.${key}`, "must be a text.")
    }
    return Object.freeze({ ...(value as Record<string, string>) })
  }

  flag(field: string): boolean {
    const value = this.get(field)
    if (value !== undefined && typeof value !== "boolean") {
      this.fail(field, "must be true or false.")
    }
    return value === true
  }

  /** Milliseconds; `Infinity` for no limit. */
  duration(field: string, otherwise: number): number {
    const value = this.get(field) ?? otherwise
    if (typeof value === "number" && value > 0) return value
    return this.fail(field, "must be a number of milliseconds above 0; Infinity for no limit.")
  }

  count(field: string, otherwise: number): number {
    const value = this.get(field) ?? otherwise
    if (
      typeof value === "number" &&
      value >= 1 &&
      (Number.isInteger(value) || value === Infinity)
    ) {
      return value
    }
    return this.fail(field, "must be a whole number of at least 1.")
  }

  oneOf<TValue extends string>(field: string, values: readonly TValue[]): TValue | undefined {
    const value = this.get(field)
    if (value === undefined) return undefined
    const match = values.find((allowed) => allowed === value)
    if (match !== undefined) return match
    return this.fail(field, `must be one of ${values.map((allowed) => `"${allowed}"`).join(", ")}.`)
  }

  /** A function; its signature is not checked. */
  callable<TFunction>(field: string): TFunction | undefined {
    const value = this.get(field)
    if (value !== undefined && typeof value !== "function") this.fail(field, "must be a function.")
    return value as TFunction | undefined
  }
}
