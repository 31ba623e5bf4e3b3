import { addToList } from "../../internal/lists.ts"
import { trimEnd } from "../../internal/trim-end.ts"

const MAX_NAME = 128
/** The registry's limit; generated names leave room for a number. */
const MAX_OWN_NAME = 256
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*$/

/**
 * Derives the name of an operation from its id in the document: letters, digits, `_`, `-` and inner dots.
 *
 * Without a usable id it is made of the method and the path.
 */
export function operationName(operationId: unknown, method: string, path: string): string {
  const name = typeof operationId === "string" ? safeName(operationId) : ""
  return name === "" ? pathName(method, path) : name
}

/**
 * The id that a document of this library gives an operation, `task.create`, as a name in its own
 * namespace: `create`. `undefined` in any other, where the whole id is its name.
 */
export function nameWithin(namespace: string, id: unknown): string | undefined {
  if (typeof id !== "string" || !id.startsWith(`${namespace}.`)) return undefined
  const name = id.slice(namespace.length + 1)
  return NAME.test(name) && name.length <= MAX_OWN_NAME ? name : undefined
}

/** Converts a text to a name; "" when nothing usable is left. */
function safeName(text: string): string {
  if (NAME.test(text) && text.length <= MAX_NAME) return text
  const joined = text
    .replaceAll(/[^A-Za-z0-9_.-]+/g, "_")
    .replaceAll(/_{2,}/g, "_")
    .replaceAll(/[._-]+/g, (run) => (run.includes(".") ? "." : run))
    .replace(/^[._-]+/, "")
  const safe = trimEnd(joined, "._-")
  // Names that are cut get a hash, so that they stay different.
  if (safe.length <= MAX_NAME) return safe
  return `${trimEnd(safe.slice(0, MAX_NAME - 9), "._-")}_${hash(text)}`
}

/** `get_users_by_id` for `GET /users/{id}`, `get_root` for `GET /`. */
function pathName(method: string, path: string): string {
  const words = path
    .replaceAll(/\{([^{}]*)\}/g, " by $1 ")
    .replaceAll(/[^A-Za-z0-9]+/g, "_")
    .replaceAll(/^_|_$/g, "")
  return safeName(`${method.toLowerCase()}_${words === "" ? "root" : words}`)
}

/** An item with a name; its place in the document decides which of several keeps it. */
export interface Named {
  name: string
  readonly operation: { readonly path: string; readonly method: string }
}

/**
 * Makes names unique. Of several equal names, the first by path and method keeps it and the others are numbered
 * in that order, so that reordering the document changes nothing.
 */
export function makeUnique(items: readonly Named[]): void {
  const taken = new Set<string>()
  for (let index = 0; index < items.length; index++) taken.add((items[index] as Named).name)
  if (taken.size === items.length) return
  const groups = new Map<string, Named[]>()
  for (const item of items) addToList(groups, item.name, item)
  for (const [wanted, group] of groups) {
    if (group.length === 1) continue
    group.sort(compare)
    let count = 1
    for (const item of group.slice(1)) {
      let name: string
      do name = `${wanted}_${++count}`
      while (taken.has(name))
      taken.add(name)
      item.name = name
    }
  }
}

function compare({ operation: left }: Named, { operation: right }: Named): number {
  if (left.path !== right.path) return left.path < right.path ? -1 : 1
  return left.method < right.method ? -1 : 1
}

/** A hash of eight characters. */
function hash(text: string): string {
  let value = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193) >>> 0
  }
  return value.toString(16).padStart(8, "0")
}
