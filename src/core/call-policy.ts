import { isRecord } from "../internal/guards.ts"
import type { CallPolicy, Identity } from "./types.ts"

/**
 * Reads the policy options of a remote caller. Unknown options are ignored, because the caller may be newer.
 */
export function readCallPolicy(value: unknown): CallPolicy | undefined {
  if (!isRecord(value)) return undefined
  const { retry, cache, hedge } = value
  const attempts = isRecord(retry) ? retry["attempts"] : undefined
  return {
    ...(retry === false && { retry }),
    ...(isCount(attempts) && { retry: { attempts } }),
    ...((cache === "skip" || cache === "refresh") && { cache }),
    ...(hedge === false && { hedge }),
  }
}

/** Whether a value can be the `idempotencyKey` of a call. */
export function isIdempotencyKey(value: unknown): value is string {
  return typeof value === "string" && value.length >= 1 && value.length <= 255
}

/**
 * The key of a caller for a system that knows only us: two callers with the same key do not share it. That of an
 * anonymous caller stays as it is.
 */
export async function keyForOthers(
  key: string,
  identity: Pick<Identity, "id"> | undefined,
): Promise<string> {
  if (identity === undefined) return key
  // Loaded on use: pages that import registries should not pay for it.
  const { sha256Hex } = await import("../internal/sha256.ts")
  return sha256Hex(JSON.stringify([identity.id, key]))
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1
}
