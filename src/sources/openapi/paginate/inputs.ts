import { isRecord } from "../../../internal/guards.ts"
import { getOwn, setOwn } from "../../../schema/json.ts"
import { viewOf, type SchemaView } from "../../../schema/read/view.ts"
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
  readonly view: SchemaView
  readonly isQuery: boolean
}

/** Finds the inputs of an operation by name. */
export class PageInputs {
  /** The path of an HTTP operation. */
  readonly path: string | undefined
  /** The pagination hint of the operation's source. */
  readonly hint: unknown
  readonly #targets: readonly InputTarget[]
  readonly #view: SchemaView

  constructor(spec: OperationSpec | undefined) {
    const openapi = spec?._meta === undefined ? undefined : getOwn(spec._meta, "openapi")
    const meta = isRecord(openapi) ? openapi : {}
    const path = getOwn(meta, "path")
    this.path = typeof path === "string" ? path : undefined
    this.hint = getOwn(meta, "pagination")
    this.#view = viewOf(spec?.inputSchema)
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
    const view = path.length === 1 ? this.#view.property(key) : viewOf({})
    return { name: where, path, view, isQuery: false }
  }

  #declared(input: unknown): InputTarget[] {
    if (!isRecord(input)) return []
    const { key, name, in: location } = input
    if (typeof key !== "string" || typeof name !== "string") return []
    if (location !== "query" && location !== "header") return []
    return [{ name, path: [key], view: this.#view.property(key), isQuery: location === "query" }]
  }

  #plain(): InputTarget[] {
    return this.#view.names.map((name) => ({
      name,
      path: [name],
      view: this.#view.property(name),
      isQuery: true,
    }))
  }

  #inside(key: string): InputTarget[] {
    const body = this.#view.property(key)
    return body.names.map((name) => ({
      name,
      path: [key, name],
      view: body.property(name),
      isQuery: false,
    }))
  }
}

/** The value of an input. */
export function readInput(input: PageInput, { path }: InputTarget): unknown {
  let value: unknown = input
  for (const key of path) value = isRecord(value) ? getOwn(value, key) : undefined
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
    rest.length === 0 ? value : withInput(isRecord(inner) ? inner : {}, { path: rest }, value),
  )
  return copy
}

/** Converts a value to the type of the input. */
export function fitInput(value: string | number, { view }: InputTarget): unknown {
  const { types } = view
  const isNumber = types.has("integer") || types.has("number")
  if (typeof value === "number") return isNumber || !types.has("string") ? value : `${value}`
  if (isNumber && value.trim() !== "" && Number.isFinite(Number(value))) return Number(value)
  if (types.has("boolean") && (value === "true" || value === "false")) return value === "true"
  return types.has("array") ? value.split(",") : value
}
