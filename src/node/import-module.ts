import { createRequire } from "node:module"
import { pathToFileURL } from "node:url"

/** How modules are loaded; replaced in tests. */
export interface ModuleLoaders {
  /** Node's own `import()`. */
  readonly load: (url: string) => Promise<unknown>
  /** What loads TypeScript, found from a module; rejects when it is not installed. */
  readonly findTypeScript: (url: string) => Promise<(url: string) => Promise<unknown>>
}

/** Errors of Node for a file that it cannot read as JavaScript. */
const NOT_JAVASCRIPT: ReadonlySet<unknown> = new Set([
  "ERR_UNKNOWN_FILE_EXTENSION",
  "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX",
])

const nodeLoaders: ModuleLoaders = {
  load: (url) => import(/* @vite-ignore */ url) as Promise<unknown>,
  findTypeScript: findTsx,
}

/**
 * Loads a module. TypeScript that Node cannot run goes through the package "tsx" where that is
 * installed, and is an error that says what to do where it is not.
 */
export async function importModule(
  url: string,
  { load, findTypeScript }: ModuleLoaders = nodeLoaders,
): Promise<unknown> {
  try {
    return await load(url)
  } catch (cause) {
    if (!NOT_JAVASCRIPT.has((cause as { code?: unknown } | null)?.code)) throw cause
    const loadTypeScript = await findTypeScript(url).catch(() => undefined)
    if (loadTypeScript === undefined) {
      throw new Error(
        `Node ${process.versions.node} cannot run this TypeScript. Install tsx (npm install tsx), start the program with it (npx tsx), or build first and scan the built folder`,
        { cause },
      )
    }
    return await loadTypeScript(url)
  }
}

interface TsxApi {
  register(options: { namespace: string }): {
    import(specifier: string, parent: string): Promise<unknown>
  }
}

let tsx: Promise<(url: string) => Promise<unknown>> | undefined

/** The tsx of the project that a module belongs to, or the one beside this package. */
async function findTsx(url: string): Promise<(url: string) => Promise<unknown>> {
  tsx ??= loadTsx(url).catch((error: unknown) => {
    // Another module may lie where it can be found.
    tsx = undefined
    throw error
  })
  return await tsx
}

async function loadTsx(url: string): Promise<(url: string) => Promise<unknown>> {
  const name = "tsx/esm/api"
  let api: TsxApi | undefined
  for (const from of [url, pathToFileURL(`${process.cwd()}/`).href, import.meta.url]) {
    try {
      const path = createRequire(from).resolve(name)
      api = (await import(/* @vite-ignore */ pathToFileURL(path).href)) as TsxApi
      break
    } catch (error) {
      if ((error as { code?: unknown }).code !== "MODULE_NOT_FOUND") throw error
    }
  }
  if (api === undefined) throw new Error(`The package "tsx" is not installed.`)
  // One namespace for all: modules that import each other meet the same instances.
  const scoped = api.register({ namespace: "@alkdev/operations" })
  return (specifier) => scoped.import(specifier, specifier)
}
