import type { Identity } from "./types.ts"

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
