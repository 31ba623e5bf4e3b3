import type * as jose from "jose"
import { importError } from "./import-peer.ts"

/** Loads the package that signs and verifies tokens; rejects with a `MissingPackage` when it is not installed. */
export async function loadJose(user: string): Promise<typeof jose> {
  try {
    return await import("jose")
  } catch (error) {
    throw importError(user, "jose", error)
  }
}
