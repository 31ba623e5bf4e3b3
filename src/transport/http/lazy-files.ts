import { NotReady } from "../../core/not-ready.ts"
import type * as FilesModule from "./files.ts"

type Files = typeof FilesModule

let files: Files | undefined

/** Loads what only requests and answers with bytes need. */
export async function loadFiles(): Promise<Files> {
  return (files ??= await import("./files.ts"))
}

/** The same if it is already loaded; throws `NotReady` otherwise. */
export function loadedFiles(): Files {
  if (files !== undefined) return files
  throw new NotReady("The module for files was not loaded.", async () => void (await loadFiles()))
}
