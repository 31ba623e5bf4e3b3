import nodeModule from "node:module"
import { pathToFileURL } from "node:url"

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
  load: (url) => {
    resolveTypeScript()
    return import(/* @vite-ignore */ /* webpackIgnore: true */ url) as Promise<unknown>
  },
  findTypeScript: findTsx,
}

type Resolve = (specifier: string, context: { readonly parentURL?: string | undefined }) => unknown

/** The part of `node:module` since Node 22.15 that is used. */
interface SynchronousHooks {
  registerHooks?(hooks: {
    resolve(...args: readonly [...Parameters<Resolve>, next: Resolve]): unknown
  }): unknown
}

let isResolving = false

/**
 * Lets Node find "./a.ts" where TypeScript imports it as "./a.js", the name that a compiler gives it: Node runs
 * TypeScript, but finds files only by their own names.
 */
function resolveTypeScript(): void {
  const { typescript } = process.features as { readonly typescript?: unknown }
  if (isResolving || !typescript) return
  isResolving = true
  const hooks = nodeModule as SynchronousHooks
  hooks.registerHooks?.({
    resolve(specifier, context, next) {
      try {
        return next(specifier, context)
      } catch (error) {
        const isFromTypeScript =
          /^\.\.?\//.test(specifier) && /\.[mc]?ts(?:[?#]|$)/.test(context.parentURL ?? "")
        const compiled = /\.[mc]?js$/.exec(specifier)?.[0]
        if (!isFromTypeScript || compiled === undefined) throw error
        const source = specifier.slice(0, -compiled.length) + compiled.replace("j", "t")
        try {
          return next(source, context)
        } catch {
          throw error
        }
      }
    },
  })
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

/** Loads a TypeScript module by its URL. */
type LoadTypeScript = (url: string) => Promise<unknown>

/** The part of "tsx/esm/api" that is used. */
interface TsxApi {
  register(options: { namespace: string }): {
    import(specifier: string, parent: string): Promise<unknown>
  }
}

const loaders = new Map<string, Promise<LoadTypeScript>>()

/**
 * Finds the tsx of the project that a module belongs to, of the working folder, or of this package;
 * `undefined` when none of them has it.
 */
export async function findTsx(url: string): Promise<LoadTypeScript | undefined> {
  for (const from of [url, pathToFileURL(`${process.cwd()}/`).href, import.meta.url]) {
    const path = resolveApi(from)
    if (path === undefined) continue
    const loader = loaders.get(path) ?? loadApi(path)
    loaders.set(path, loader)
    return await loader
  }
  return undefined
}

function resolveApi(from: string): string | undefined {
  try {
    // The ES module next to it: the CommonJS one does not find its own hooks when imported.
    return nodeModule
      .createRequire(from)
      .resolve("tsx/esm/api")
      .replace(/\.cjs$/, ".mjs")
  } catch {
    return undefined
  }
}

async function loadApi(path: string): Promise<LoadTypeScript> {
  const api = (await import(
    /* @vite-ignore */ /* webpackIgnore: true */ pathToFileURL(path).href
  )) as TsxApi
  // One namespace for all, so that modules share instances.
  const scope = api.register({ namespace: "alkdev-operations" })
  return (url) => scope.import(url, url)
}
