import { createRequire } from "node:module"
import { pathToFileURL } from "node:url"

/** Loads a TypeScript module by its URL. */
export type LoadTypeScript = (url: string) => Promise<unknown>

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
    return createRequire(from)
      .resolve("tsx/esm/api")
      .replace(/\.cjs$/, ".mjs")
  } catch {
    return undefined
  }
}

async function loadApi(path: string): Promise<LoadTypeScript> {
  const api = (await import(/* @vite-ignore */ pathToFileURL(path).href)) as TsxApi
  // One namespace for all, so that modules share instances.
  const scope = api.register({ namespace: "alkdev-operations" })
  return (url) => scope.import(url, url)
}
