// Who calls, as a part of the keys of caches and of idempotency. Remote callers can set none of it.
import type { MiddlewareCall } from "../core/middleware.ts"
import { jsonKey, referenceKey } from "./json-key.ts"

type Caller = Pick<MiddlewareCall, "identity" | "metadata">

/** What decides what a caller may see: the identity with its rights, and the values that middleware provided. */
export function viewerKey({ identity, metadata }: Caller): string {
  return `${identity === undefined ? "-" : identityKey(identity)}${providedKey(metadata, referenceKey)}`
}

/**
 * The owner of an idempotency key, whatever its rights: the same in every process, so that values that are not data
 * are left out.
 */
export function ownerKey({ identity, metadata }: Caller): string {
  return `${JSON.stringify(identity?.id ?? null)}${providedKey(metadata, (value) => jsonKey(value) ?? "")}`
}

/** The values of `defineContextValue`: their keys are symbols, and the names of these are in the code. */
function providedKey(metadata: Caller["metadata"], keyOf: (value: unknown) => string): string {
  let text = ""
  for (const symbol of metadata === undefined ? [] : Object.getOwnPropertySymbols(metadata)) {
    const value = (metadata as Readonly<Record<symbol, unknown>>)[symbol]
    text += `,${JSON.stringify(symbol.description)}:${keyOf(value)}`
  }
  return text
}

const identityKeys = new WeakMap<object, string>()

/** An identity is a frozen copy, so that its key does not change. */
function identityKey(identity: NonNullable<Caller["identity"]>): string {
  const cached = identityKeys.get(identity)
  if (cached !== undefined) return cached
  const { id, scopes, resources } = identity
  const key = JSON.stringify([id, scopes, jsonKey(resources)])
  identityKeys.set(identity, key)
  return key
}
