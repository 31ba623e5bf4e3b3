import { NotReady } from "../../core/not-ready.ts"

// No return type: it is the type of the module.
const importFiles = () => import("./files.ts")

type Files = Awaited<ReturnType<typeof importFiles>>

let files: Files | undefined

/** Loads what only requests and answers with bytes need. */
export async function loadFiles(): Promise<Files> {
  return (files ??= await importFiles())
}

/** The same where it was loaded; throws `NotReady` elsewhere. */
export function loadedFiles(): Files {
  if (files !== undefined) return files
  throw new NotReady("The module for files was not loaded.", async () => void (await loadFiles()))
}
