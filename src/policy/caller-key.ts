// Who calls, as a part of the keys of caches and of idempotency. Remote callers can set none of it.
import type { MiddlewareCall } from "../core/middleware.ts"
import { jsonKey } from "../internal/json-key.ts"

/** What decides what a caller may see: the identity with its rights, and the values that middleware provided. */
export function viewerKey({ identity, metadata }: MiddlewareCall): string {
  const who = identity === undefined ? "-" : identityKey(identity)
  return metadata === undefined ? who : who + providedKey(metadata, (value) => referenceKey(value))
}

/** The owner of an idempotency key, equal in every process: without rights, and values that are not data. */
export function ownerKey({ identity, metadata = {} }: MiddlewareCall): string {
  return JSON.stringify(identity?.id ?? null) + providedKey(metadata, () => "")
}

/** The values of `defineContextValue`: the keys of these are symbols, which are never sent. */
function providedKey(metadata: object, otherKey: (value: unknown) => string): string {
  const values = metadata as Readonly<Record<symbol, unknown>>
  return Object.getOwnPropertySymbols(metadata)
    .map(
      (key) =>
        `,${JSON.stringify(key.description)}:${jsonKey(values[key]) ?? otherKey(values[key])}`,
    )
    .join("")
}

const references = new WeakMap<object, number>()
let lastReference = 0

/** Equal for the same object or function, in this process. */
export function referenceKey(value: unknown): string {
  if (Object(value) !== value) return String(value)
  const reference = references.get(value as object) ?? ++lastReference
  references.set(value as object, reference)
  return `#${reference}`
}

const identityKeys = new WeakMap<object, string>()

/** An identity is a frozen copy, so that its key does not change. */
function identityKey(identity: NonNullable<MiddlewareCall["identity"]>): string {
  const cached = identityKeys.get(identity)
  if (cached !== undefined) return cached
  const { id, scopes, resources } = identity
  const key = JSON.stringify([id, scopes, jsonKey(resources)])
  identityKeys.set(identity, key)
  return key
}
