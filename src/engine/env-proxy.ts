import type { OperationCall, OperationEnv } from "../core/infer.ts"
import type { RegisteredOperations } from "../core/types.ts"

/** The part of a registry that an env needs, mostly for inspection. */
export interface EnvDirectory {
  namespaces(): Iterable<string>
  /** The names of the queries and mutations of a namespace. */
  names(namespace: string): Iterable<string>
  hasNamespace(namespace: string): boolean
  has(id: string): boolean
}

type AnyCall = (id: string, input?: unknown, options?: unknown) => Promise<unknown>

/**
 * An env over a registry: objects that create a function when one is read.
 *
 * It costs the same for ten operations and for a hundred thousand, and includes those registered later.
 */
export function createEnv<TOperations = RegisteredOperations>(
  directory: EnvDirectory,
  call: OperationCall<never>,
  allowedNamespaces?: ReadonlySet<string>,
): OperationEnv<TOperations> {
  const invoke = call as AnyCall
  const isOpen = (namespace: string): boolean => allowedNamespaces?.has(namespace) ?? true
  const namespaces = new Map<string, object>()
  return lazyObject({
    read(namespace) {
      if (!isOpen(namespace)) return undefined
      if (isProbe(namespace) && !directory.hasNamespace(namespace)) return undefined
      let names = namespaces.get(namespace)
      if (names === undefined) {
        names = namespaceObject(namespace, directory, invoke)
        namespaces.set(namespace, names)
      }
      return names
    },
    keys: () => [...directory.namespaces()].filter(isOpen),
  }) as OperationEnv<TOperations>
}

function namespaceObject(namespace: string, directory: EnvDirectory, invoke: AnyCall): object {
  return lazyObject({
    read: (name) => operationOrGroup(`${namespace}.${name}`, name, directory, invoke),
    keys: () => [...directory.names(namespace)],
  })
}

/** A function. One that is not registered has members: `env.shop.orders.get` calls `shop.orders.get`. */
function operationOrGroup(
  id: string,
  key: string,
  directory: EnvDirectory,
  invoke: AnyCall,
): unknown {
  const isRegistered = directory.has(id)
  if (isProbe(key) && !isRegistered) return undefined
  // An unknown name returns a function too: calling it fails with the unknown id.
  const call = (input?: unknown, options?: unknown): unknown => invoke(id, input, options)
  if (isRegistered) return call
  return new Proxy(call, {
    get: (_target, name) =>
      typeof name === "string"
        ? operationOrGroup(`${id}.${name}`, name, directory, invoke)
        : undefined,
  })
}

/** Keys that the language or tools read on every object; a `then` would make an env a promise. */
function isProbe(key: string): boolean {
  return key === "then" || key === "toJSON" || key in Object.prototype
}

function lazyObject(source: {
  readonly read: (key: string) => unknown
  readonly keys: () => string[]
}): object {
  const read = (key: string | symbol): unknown =>
    typeof key === "string" ? source.read(key) : undefined
  return new Proxy(Object.create(null) as object, {
    get: (_target, key) => read(key),
    has: (_target, key) => typeof key === "string" && source.keys().includes(key),
    ownKeys: () => source.keys(),
    getOwnPropertyDescriptor: (_target, key) =>
      typeof key === "string" && source.keys().includes(key)
        ? { value: read(key), enumerable: true, configurable: true, writable: false }
        : undefined,
    set: () => false,
    defineProperty: () => false,
    deleteProperty: () => false,
    setPrototypeOf: () => false,
  })
}
