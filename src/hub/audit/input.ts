import { createHash, createHmac } from "node:crypto"
import type { ObservableCall } from "../../engine/observe.ts"
import { jsonKey } from "../../internal/json-key.ts"
import { capture } from "../activity/recorder.ts"
import type { AuditOptions } from "./options.ts"
import type { AuditKey } from "./chain.ts"

const MAX_INPUT = 65_536

/** Reads an input at once, because its caller may change it; returns a function for the members of a line about it. */
export function readInput(
  input: unknown,
  { record: { spec } }: ObservableCall,
  { key, record = key === undefined ? "none" : "fingerprint" }: AuditOptions,
): (key: AuditKey | undefined) => object | undefined {
  if (record === "none" || input === undefined) return () => undefined
  if (record === "redacted") {
    const { json, removed, isOmitted } = capture(input, () => spec.inputSchema, MAX_INPUT)
    return () => ({
      input: json === undefined ? undefined : (JSON.parse(json) as unknown),
      removed: removed.length === 0 ? undefined : removed,
      inputOmitted: isOmitted ? true : undefined,
    })
  }
  const hash = hashOf(input)
  return (own) => ({ input: hash === undefined ? "not JSON" : fingerprintOf(hash, own) })
}

/** The fingerprint of an input: shows that it was this one, and nothing else without the key. `undefined` if it is not JSON. */
export function fingerprint(input: unknown, key: AuditKey): string | undefined {
  const hash = hashOf(input)
  return hash && fingerprintOf(hash, key)
}

function fingerprintOf(hash: string, key: AuditKey | undefined): string {
  return createHmac("sha256", key ?? "")
    .update(`input ${hash}`)
    .digest("base64url")
    .slice(0, 22)
}

function hashOf(input: unknown): string | undefined {
  try {
    const text = jsonKey(input)
    return text && createHash("sha256").update(text).digest("base64url")
  } catch {
    // A getter or a Proxy of a caller in this process threw.
    return undefined
  }
}
