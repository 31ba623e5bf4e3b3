import { getOwn, isPlainRecord, setOwn } from "../../../schema/json.ts"
import { parsePointer } from "../../../internal/pointer.ts"
import type { OperationSpec } from "../../../core/types.ts"

/** The input of an operation that is called page by page. */
export type PageInput = Readonly<Record<string, unknown>>

/** An input that selects a page. */
export interface InputTarget {
  /** Its name in the request; for operations other than HTTP, its key. */
  readonly name: string
  /** The keys from the top of the input: one, or several within a body. */
  readonly path: readonly string[]
  readonly schema: Readonly<Record<string, unknown>>
  readonly isQuery: boolean
}

/** Finds the inputs of an operation by name. */
export class PageInputs {
  /** The path of an HTTP operation. */
  readonly path: string | undefined
  /** The pagination hint of the operation's source. */
  readonly hint: unknown
  readonly #targets: readonly InputTarget[]
  readonly #schema: unknown

  constructor(spec: OperationSpec | undefined) {
    const openapi = spec?._meta === undefined ? undefined : getOwn(spec._meta, "openapi")
    const meta = isPlainRecord(openapi) ? openapi : {}
    const path = getOwn(meta, "path")
    this.path = typeof path === "string" ? path : undefined
    this.hint = getOwn(meta, "pagination")
    this.#schema = spec?.inputSchema
    const inputs = getOwn(meta, "inputs")
    this.#targets = [
      ...(Array.isArray(inputs) ? inputs.flatMap((input) => this.#declared(input)) : this.#plain()),
      ...this.#inside("body"),
    ]
  }

  /** The first input with one of these names. */
  find(names: readonly string[]): InputTarget | undefined {
    for (const name of names) {
      const found = this.#targets.find((target) => target.name === name)
      if (found !== undefined) return found
    }
    return undefined
  }

  /** The query parameter of that name. */
  query(name: string): InputTarget | undefined {
    return this.#targets.find((target) => target.isQuery && target.name === name)
  }

  /** Finds an input that the user named: a key, or a JSON pointer into the input. */
  named(where: string): InputTarget {
    const path = where.startsWith("/") ? (parsePointer(where) ?? [where]) : [where]
    const [key = where] = path
    const schema = path.length === 1 ? this.#property(this.#schema, key) : {}
    return { name: where, path, schema, isQuery: false }
  }

  #declared(input: unknown): InputTarget[] {
    if (!isPlainRecord(input)) return []
    const { key, name, in: location } = input
    if (typeof key !== "string" || typeof name !== "string") return []
    if (location !== "query" && location !== "header") return []
    const schema = this.#property(this.#schema, key)
    return [{ name, path: [key], schema, isQuery: location === "query" }]
  }

  #plain(): InputTarget[] {
    return this.#names(this.#schema).map((name) => ({
      name,
      path: [name],
      schema: this.#property(this.#schema, name),
      isQuery: true,
    }))
  }

  #inside(key: string): InputTarget[] {
    const body = this.#property(this.#schema, key)
    return this.#names(body).map((name) => ({
      name,
      path: [key, name],
      schema: this.#property(body, name),
      isQuery: false,
    }))
  }

  #names(schema: unknown): string[] {
    const properties = isPlainRecord(schema) ? getOwn(schema, "properties") : undefined
    return isPlainRecord(properties) ? Object.keys(properties) : []
  }

  #property(schema: unknown, name: string): Readonly<Record<string, unknown>> {
    const properties = isPlainRecord(schema) ? getOwn(schema, "properties") : undefined
    const property = isPlainRecord(properties) ? getOwn(properties, name) : undefined
    if (!isPlainRecord(property)) return {}
    const ref = getOwn(property, "$ref")
    const definition = typeof ref === "string" ? /^#\/\$defs\/([^/]+)$/.exec(ref)?.[1] : undefined
    const defs = isPlainRecord(this.#schema) ? getOwn(this.#schema, "$defs") : undefined
    const target =
      definition !== undefined && isPlainRecord(defs) ? getOwn(defs, definition) : undefined
    return isPlainRecord(target) ? target : property
  }
}

/** The value of an input. */
export function readInput(input: PageInput, { path }: InputTarget): unknown {
  let value: unknown = input
  for (const key of path) value = isPlainRecord(value) ? getOwn(value, key) : undefined
  return value
}

/** Copies an input with one value changed. */
export function withInput(
  input: PageInput,
  { path }: Pick<InputTarget, "path">,
  value: unknown,
): PageInput {
  const [key, ...rest] = path
  if (key === undefined) return input
  const copy: Record<string, unknown> = {}
  for (const [name, item] of Object.entries(input)) setOwn(copy, name, item)
  const inner = getOwn(input, key)
  setOwn(
    copy,
    key,
    rest.length === 0 ? value : withInput(isPlainRecord(inner) ? inner : {}, { path: rest }, value),
  )
  return copy
}

/** Converts a value to the type of the input. */
export function fitInput(value: string | number, { schema }: InputTarget): unknown {
  const types = typesOf(schema)
  const isNumber = types.includes("integer") || types.includes("number")
  if (typeof value === "number") return isNumber || !types.includes("string") ? value : `${value}`
  if (isNumber && value.trim() !== "" && Number.isFinite(Number(value))) return Number(value)
  if (types.includes("boolean") && (value === "true" || value === "false")) return value === "true"
  return types.includes("array") ? value.split(",") : value
}

function typesOf(schema: Readonly<Record<string, unknown>>): readonly unknown[] {
  const type = getOwn(schema, "type")
  if (type !== undefined) return Array.isArray(type) ? type : [type]
  const branches = getOwn(schema, "anyOf") ?? getOwn(schema, "oneOf")
  if (!Array.isArray(branches)) return []
  return branches.flatMap((branch: unknown) => (isPlainRecord(branch) ? typesOf(branch) : []))
}
