import { isRecord } from "../internal/guards.ts"
import type { CallPolicy } from "./types.ts"

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

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1
}
