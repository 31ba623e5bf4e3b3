import { findTsx } from "./tsx.ts"

/** How modules are loaded; replaced in tests. */
export interface ModuleLoaders {
  /** Node's own `import()`. */
  readonly load: (url: string) => Promise<unknown>
  /** Finds a loader of TypeScript for a module; `undefined` when none is installed. */
  readonly findTypeScript: (url: string) => Promise<((url: string) => Promise<unknown>) | undefined>
}

/** Error codes of Node for a file that is not JavaScript. */
const NOT_JAVASCRIPT: ReadonlySet<unknown> = new Set([
  "ERR_UNKNOWN_FILE_EXTENSION",
  "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX",
])

const nodeLoaders: ModuleLoaders = {
  load: (url) => import(/* @vite-ignore */ url) as Promise<unknown>,
  findTypeScript: findTsx,
}

/**
 * Loads a module. TypeScript that Node cannot run is loaded with the package "tsx" if that is
 * installed; otherwise the error says what to do.
 */
export async function importModule(
  url: string,
  { load, findTypeScript }: ModuleLoaders = nodeLoaders,
): Promise<unknown> {
  try {
    return await load(url)
  } catch (cause) {
    if (!NOT_JAVASCRIPT.has((cause as { code?: unknown } | null)?.code)) throw cause
    const loadTypeScript = await findTypeScript(url)
    if (loadTypeScript !== undefined) return await loadTypeScript(url)
    throw new Error(
      `Node ${process.versions.node} cannot run this TypeScript. Install tsx (npm install tsx), start the program with it (npx tsx), or build first and scan the built folder`,
      { cause },
    )
  }
}
