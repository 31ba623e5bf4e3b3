import { fileURLToPath } from "node:url"
import {
  type ScannedDefinition,
  scanDefinitions,
  type ScanOptions,
} from "../sources/scan/scanner.ts"
import { nodeFS } from "./fs.ts"

/**
 * Loads the operations in a folder with their handlers: `registerAll(await scanDirectory("operations"))`.
 *
 * Takes a path from the working folder, or a URL: `new URL("./operations/", import.meta.url)`. See
 * `scanDefinitions`.
 */
export async function scanDirectory(
  dir: string | URL,
  options?: ScanOptions,
): Promise<ScannedDefinition[]> {
  return await scanDefinitions(dir instanceof URL ? fileURLToPath(dir) : dir, nodeFS, options)
}
