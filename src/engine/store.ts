import type { OperationRecord } from "./record.ts"
import { splitId } from "./ids.ts"
import { nearest } from "../internal/suggest.ts"
import { shapeOf } from "../core/rest-route.ts"
import type { RestRoute } from "../core/types.ts"

/** The records of a registry, by id and by namespace. */
export class RecordStore {
  readonly #records = new Map<string, OperationRecord>()
  readonly #namespaces = new Map<string, Map<string, OperationRecord>>()
  /** Operations with routes, by the shape of their paths. */
  readonly #routed = new Map<string, Set<OperationRecord>>()

  /** Called with each record that is removed. */
  onDrop: ((record: OperationRecord) => void) | undefined

  get(id: string): OperationRecord | undefined {
    return this.#records.get(id)
  }

  values(): Iterable<OperationRecord> {
    return this.#records.values()
  }

  set(record: OperationRecord): void {
    const { namespace, name, route } = record.spec
    this.#leaveRoute(this.#records.get(record.id))
    this.#records.set(record.id, record)
    if (route !== undefined) {
      this.#routed.set(shapeOf(route), new Set(this.withShapeOf(route)).add(record))
    }
    let names = this.#namespaces.get(namespace)
    if (names === undefined) this.#namespaces.set(namespace, (names = new Map()))
    names.set(name, record)
  }

  delete(record: OperationRecord): void {
    const { namespace, name } = record.spec
    this.#records.delete(record.id)
    this.#leaveRoute(record)
    const names = this.#namespaces.get(namespace)
    names?.delete(name)
    if (names?.size === 0) this.#namespaces.delete(namespace)
    this.onDrop?.(record)
  }

  namespaces(): Iterable<string> {
    return this.#namespaces.keys()
  }

  hasNamespace(namespace: string): boolean {
    return this.#namespaces.has(namespace)
  }

  inNamespace(namespace: string): Iterable<OperationRecord> {
    return this.#namespaces.get(namespace)?.values() ?? []
  }

  /** The operations whose routes have a path of the same shape. */
  withShapeOf(route: RestRoute): ReadonlySet<OperationRecord> {
    return this.#routed.get(shapeOf(route)) ?? NONE
  }

  #leaveRoute(record: OperationRecord | undefined): void {
    const route = record?.spec.route
    if (record === undefined || route === undefined) return
    const shape = shapeOf(route)
    const left = this.#routed.get(shape)
    if (left?.delete(record) === true && left.size === 0) this.#routed.delete(shape)
  }

  /** The most similar id, among those that a caller may know. */
  suggest(id: string, mayKnow: (record: OperationRecord) => boolean): string | undefined {
    const namespace = splitId(id)?.namespace ?? ""
    const names = this.#namespaces.get(namespace)
    if (names === undefined) return this.#suggestNamespace(id, mayKnow)
    return nearest(id, idsOf(names.values(), mayKnow))
  }

  #suggestNamespace(id: string, mayKnow: (record: OperationRecord) => boolean): string | undefined {
    const parts = splitId(id)
    if (parts === undefined) return undefined
    const namespace = nearest(parts.namespace, this.#namespaces.keys())
    if (namespace === undefined) return undefined
    const names = this.#namespaces.get(namespace)?.values() ?? []
    return nearest(`${namespace}.${parts.name}`, idsOf(names, mayKnow))
  }
}

const NONE: ReadonlySet<OperationRecord> = new Set()

function* idsOf(
  records: Iterable<OperationRecord>,
  mayKnow: (record: OperationRecord) => boolean,
): Iterable<string> {
  let seen = 0
  for (const record of records) {
    // Skipped records count too: a wrong id must not walk a large namespace.
    if (++seen > 512) return
    if (mayKnow(record)) yield record.id
  }
}
