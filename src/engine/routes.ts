import { isDefinedOperation, type AnyOperation } from "../core/define.ts"
import type { OperationRoutes } from "../core/infer.ts"
import { reading } from "../internal/brands.ts"
import { isPlainObject, isRecord, isThenable } from "../internal/guards.ts"
import { quote } from "../internal/message-text.ts"

/** Maximum number of keys in front of an operation; an object that contains itself has more. */
const MAX_DEPTH = 16

const WHAT = "createRegistry(operations)"

/**
 * The operations of an object, named by its keys: `{ shop: { orders: { get } } }` has `shop.orders.get`, with the
 * namespace `shop`.
 *
 * Throws a `TypeError` that names the place where something else is.
 */
export function readRoutes(routes: OperationRoutes): AnyOperation[] {
  const found = new Map<string, AnyOperation>()
  const visit = (node: Readonly<Record<string, unknown>>, path: readonly string[]): void => {
    for (const key of Object.keys(node)) {
      const value = node[key]
      const place = [...path, key]
      const id = place.join(".")
      if (!isOperation(value)) visit(groupAt(id, value, place), place)
      else if (!found.has(id)) found.set(id, named(value, place))
      else throw new TypeError(`${WHAT}: two keys lead to "${id}": one has a dot, one is nested.`)
    }
  }
  reading(`${WHAT}: operations`, () => {
    if (isGroup(routes) && !isOperation(routes)) return visit(routes, [])
    throw new TypeError(
      `${WHAT}: must be an object of namespaces, { task: { create } }, or a list of operations, got ${shown(routes)}.`,
    )
  })
  return [...found.values()]
}

function isOperation(value: unknown): value is AnyOperation {
  return (
    isDefinedOperation(value) ||
    (isRecord(value) &&
      (typeof value["type"] === "string" || typeof value["handler"] === "function"))
  )
}

/** Whether a value may hold operations. A promise, a `Map` or a registry has no keys. */
function isGroup(value: unknown): value is Readonly<Record<string, unknown>> {
  return isPlainObject(value) || (isRecord(value) && Object.keys(value).length > 0)
}

function shown(value: unknown): string {
  if (isThenable(value)) return "a promise: await it"
  if (isOperation(value)) return "an operation"
  return isRecord(value) ? `an instance of ${value.constructor.name}` : quote(value)
}

function groupAt(
  id: string,
  value: unknown,
  place: readonly string[],
): Readonly<Record<string, unknown>> {
  if (!isGroup(value)) {
    throw new TypeError(
      `${WHAT}: "${id}" must be an operation or an object of operations, got ${shown(value)}.`,
    )
  }
  if (place.at(-1)?.includes(".")) {
    throw new TypeError(
      `${WHAT}: "${id}" contains operations, so its key must have no dot. Nest an object instead.`,
    )
  }
  if (place.length > MAX_DEPTH) {
    throw new TypeError(
      `${WHAT}: the object at "${place[0]}" contains itself, or is nested deeper than ${MAX_DEPTH} levels.`,
    )
  }
  return value
}

function named(operation: AnyOperation, place: readonly string[]): AnyOperation {
  const [namespace = "", ...rest] = place
  const name = rest.join(".")
  if (rest.length === 0) {
    throw new TypeError(
      `${WHAT}: the operation "${namespace}" has no namespace. Put it into one: { task: { ${namespace} } }.`,
    )
  }
  for (const [field, expected] of Object.entries({ namespace, name })) {
    const own = operation[field as "namespace" | "name"] as unknown
    if (own !== undefined && own !== expected) {
      throw new TypeError(
        `${WHAT}: the operation at "${place.join(".")}" says ${field}: ${quote(own)}, its keys say ${quote(expected)}. Remove the field, or let them agree.`,
      )
    }
  }
  return operation.namespace === undefined || operation.name === undefined
    ? { ...operation, namespace, name }
    : operation
}
