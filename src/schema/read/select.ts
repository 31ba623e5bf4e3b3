import { isRecord } from "../../internal/guards.ts"
import { isFileLike } from "../files.ts"
import { didYouMean } from "../../internal/suggest.ts"
import { viewOf, type SchemaView } from "./view.ts"

/** The chosen members of a value; `true` for the value as a whole. */
export type Selection = true | ReadonlyMap<string, Selection>

type Tree = Map<string, Tree | true>

/** A path that a result cannot have, by its place in the list. */
export interface SelectIssue {
  readonly path: string
  readonly message: string
}

const MAX_PATHS = 200
const MAX_PATH = 500
/** Schemas that may apply at one place; a recursive schema could have any number. */
const MAX_VIEWS = 16
/** Names that a message lists. */
const MAX_SHOWN = 20
/** Every member of an object whose names are not declared. */
const ANY = "*"

/**
 * Reads paths such as `assignees.login` and checks them against the schema of the result.
 *
 * Lists are passed through: `number` selects the numbers of all items. `*` stands for each member of an object with
 * any names. Where the schema says nothing, every path is accepted.
 */
export function readSelection(
  paths: unknown,
  schema: unknown,
): { readonly selection: Selection } | { readonly issues: readonly SelectIssue[] } {
  if (!Array.isArray(paths) || paths.length === 0 || paths.length > MAX_PATHS) {
    const message = `must be a list of 1 to ${MAX_PATHS} paths, such as ["number", "assignees.login"]`
    return { issues: [{ path: "/select", message }] }
  }
  const issues: SelectIssue[] = []
  const chosen: Tree = new Map()
  const root = viewOf(schema)
  for (const [index, path] of (paths as unknown[]).entries()) {
    const names = typeof path === "string" && path.length <= MAX_PATH ? namesOf(path, root) : ""
    if (typeof names !== "string") add(chosen, names)
    else {
      const message = names || `must be a path of at most ${MAX_PATH} characters`
      issues.push({ path: `/select/${index}`, message })
    }
  }
  return issues.length > 0 ? { issues } : { selection: chosen }
}

/** The selected part of a value. Values that are not objects stay whole, and so do files, bytes and dates. */
export function pick(value: unknown, selection: Selection): unknown {
  if (selection === true) return value
  if (Array.isArray(value)) return value.map((item) => pick(item, selection))
  if (!isRecord(value) || isWhole(value)) return value
  const rest = selection.get(ANY)
  const picked: [string, unknown][] = []
  for (const key of Object.keys(value)) {
    const own = selection.get(key) ?? atDots(selection, key) ?? rest
    if (own !== undefined) picked.push([key, pick(value[key], own)])
  }
  return Object.fromEntries(picked)
}

function isWhole(value: Readonly<Record<string, unknown>>): boolean {
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer || isFileLike(value)) return true
  return typeof value["toJSON"] === "function"
}

/** The selection of a name with dots, which a path cannot tell from several names. */
function atDots(selection: Selection, name: string): Selection | undefined {
  if (!name.includes(".")) return undefined
  let at: Selection | undefined = selection
  for (const part of name.split(".")) at = at === true ? undefined : at?.get(part)
  return at
}

/** The names of a path, or what is wrong with it. */
function namesOf(path: string, root: SchemaView): readonly string[] | string {
  const names: string[] = []
  let views: readonly SchemaView[] = throughLists(root)
  let left = path
  for (;;) {
    const declared = [...new Set(views.flatMap((view) => [...view.names]))]
    const [first = ""] = left.split(".", 1)
    // A name may have dots itself.
    let name =
      declared.find((one) => one.includes(".") && (left === one || left.startsWith(`${one}.`))) ??
      first
    const next = views.flatMap((view) => memberOf(view, name))
    if (!declared.includes(name) && next.length > 0 && next.every(isScalar)) name = left
    if (name === "" || next.length === 0) return missing(name, names, declared, views)
    names.push(name)
    if (left.length === name.length) return names
    left = left.slice(name.length + 1)
    views = next.flatMap(throughLists).slice(0, MAX_VIEWS)
  }
}

/** The schemas of a value, and those of its items if it is a list, or a list of lists. */
function throughLists(view: SchemaView): readonly SchemaView[] {
  const views = [view]
  for (let item = view, depth = 0; item.types.has("array") && depth < 8; depth++) {
    if (item.isTuple) return [...views, viewOf({})]
    item = item.item(0)
    views.push(item)
  }
  return views
}

function memberOf(view: SchemaView, name: string): readonly SchemaView[] {
  if (view.types.size > 0 && !view.types.has("object")) return []
  const own = view.declared(name) ?? view.rest
  return [...(own === undefined ? [] : [own]), ...(view.isFree ? [viewOf({})] : [])]
}

function isScalar({ types }: SchemaView): boolean {
  return types.size > 0 && !types.has("object") && !types.has("array")
}

function missing(
  name: string,
  before: readonly string[],
  declared: readonly string[],
  views: readonly SchemaView[],
): string {
  const place = before.length === 0 ? "The result" : `"${before.join(".")}"`
  if (declared.length === 0) {
    const types = [...new Set(views.flatMap((view) => [...view.types]))].filter(
      (type) => type !== "array",
    )
    return `${place} has no members${types.length > 0 ? `: it is ${types.join(" or ")}` : ""}`
  }
  const hint = didYouMean(name, declared)
  const shown = declared.slice(0, MAX_SHOWN).join(", ")
  const more = declared.length > MAX_SHOWN ? `, and ${declared.length - MAX_SHOWN} more` : ""
  return `${place} has no "${name.slice(0, 100)}".${hint} It has: ${shown}${more}`
}

function add(tree: Tree, names: readonly string[]): void {
  const [name = "", ...rest] = names
  const inner = tree.get(name)
  if (inner === true) return
  if (rest.length === 0) tree.set(name, true)
  else if (inner === undefined) {
    const made: Tree = new Map()
    tree.set(name, made)
    add(made, rest)
  } else add(inner, rest)
}
