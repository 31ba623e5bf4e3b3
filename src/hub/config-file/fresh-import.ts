import { createRequire, register } from "node:module"
import { fileURLToPath } from "node:url"
import { importModule } from "../../node/import-module.ts"

const STAMP = "operations-fresh"

/**
 * Hands the mark of a module on to what it imports, outside of node_modules, so that Node takes all of
 * them for new ones. TypeScript is a module by itself, whatever the package around it says: tsx takes
 * the word of these hooks for it, if they are there first.
 */
const HOOKS = `
const STAMP = /[?&]${STAMP}=(\\d+)/
const TYPESCRIPT = /\\.m?tsx?(?:[?#]|$)/
const isNative = Boolean(process.features.typescript)
export async function resolve(specifier, context, next) {
  const found = await next(specifier, context)
  const mark = STAMP.exec(context.parentURL ?? "") ?? STAMP.exec(specifier)
  const isTheirs = found.url.startsWith("file:") && !found.url.includes("/node_modules/")
  if (mark === null || !isTheirs) return found
  const sign = found.url.includes("?") ? "&" : "?"
  const url = STAMP.test(found.url) ? found.url : found.url + sign + "${STAMP}=" + mark[1]
  return { ...found, url, format: TYPESCRIPT.test(url) ? formatOf(found, context) : found.format }
}
function formatOf({ format, url }, { parentURL = "" }) {
  if (format === "commonjs") return "module"
  if (format === "commonjs-typescript") return "module-typescript"
  if (format) return format
  if (isNative) return "module-typescript"
  // Only tsx can read it, and it asks with its mark, or for a module on its own behalf.
  const isAsking = parentURL.includes("tsx-namespace=") || plain(parentURL) === plain(url)
  return isAsking ? "module" : format
}
function plain(url) {
  return url.split("?", 1)[0]
}
`

const { cache } = createRequire(import.meta.url)
let imports = 0
let isHooked = false

/**
 * Imports a module as its file is now, with everything it imports outside of node_modules.
 *
 * Modules cannot be unloaded: each import keeps what the one before loaded. Meant for reloading what a
 * person edits.
 */
export async function importFresh(url: string): Promise<unknown> {
  return await freshImporter()(url)
}

/** The same for several modules, which share what they import. */
export function freshImporter(): (url: string) => Promise<unknown> {
  const mark = `?${STAMP}=${++imports}`
  const forgotten = new Set<string>()
  return async (url) => {
    if (!isHooked) register(`data:text/javascript,${encodeURIComponent(HOOKS)}`)
    isHooked = true
    forget(fileURLToPath(url), forgotten)
    return await importModule(`${url}${mark}`)
  }
}

/** The path of a module without the mark, where an error names it. */
export function withoutStamp(text: string): string {
  return text.replaceAll(new RegExp(`[?&](?:${STAMP}=\\d+|tsx-namespace=[^&:\\s'")]*)`, "g"), "")
}

/** CommonJS keeps modules by path, whatever the mark. */
function forget(path: string, seen: Set<string>): void {
  const known = cache[path]
  if (known === undefined || seen.has(path) || /[\\/]node_modules[\\/]/.test(path)) return
  seen.add(path)
  delete cache[path]
  for (const child of known.children) forget(child.filename, seen)
}
