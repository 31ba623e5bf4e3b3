import nodeModule from "node:module"
import { fileURLToPath } from "node:url"
import { importModule } from "../../node/import-module.ts"

const STAMP = "operations-fresh"

/**
 * Passes the stamp of a module on to what it imports, outside of node_modules, so that Node loads all of
 * them again. TypeScript is always loaded as an ES module, whatever its package says: tsx follows
 * these hooks if they are registered first.
 */
const HOOKS = `
const STAMP = /[?&]${STAMP}=(\\d+)/
const TYPESCRIPT = /\\.m?tsx?(?:[?#]|$)/
const isNative = Boolean(process.features.typescript)
export async function resolve(specifier, context, next) {
  const resolved = await next(specifier, context)
  const mark = STAMP.exec(context.parentURL ?? "") ?? STAMP.exec(specifier)
  const isTheirs = resolved.url.startsWith("file:") && !resolved.url.includes("/node_modules/")
  if (mark === null || !isTheirs) return resolved
  const sign = resolved.url.includes("?") ? "&" : "?"
  const url = STAMP.test(resolved.url) ? resolved.url : resolved.url + sign + "${STAMP}=" + mark[1]
  return { ...resolved, url, format: TYPESCRIPT.test(url) ? formatOf(resolved, context) : resolved.format }
}
function formatOf({ format, url }, { parentURL = "" }) {
  if (format === "commonjs") return "module"
  if (format === "commonjs-typescript") return "module-typescript"
  if (format) return format
  if (isNative) return "module-typescript"
  // Only tsx can read it. It resolves with its namespace in the URL, or a module against itself.
  const isAsking = parentURL.includes("tsx-namespace=") || plain(parentURL) === plain(url)
  return isAsking ? "module" : format
}
function plain(url) {
  return url.split("?", 1)[0]
}
`

// webpack would replace a call of the imported function.
const { cache } = nodeModule.createRequire(import.meta.url)
let imports = 0
let isHooked = false

/**
 * Imports modules as their files are now, with everything they import outside of node_modules, which they share.
 *
 * Modules cannot be unloaded, so each import adds to the memory in use. Meant for reloading files that
 * a person edits.
 */
export function freshImporter(): (url: string) => Promise<unknown> {
  const query = `?${STAMP}=${++imports}`
  const forgotten = new Set<string>()
  return async (url) => {
    if (!isHooked) nodeModule.register(`data:text/javascript,${encodeURIComponent(HOOKS)}`)
    isHooked = true
    forget(fileURLToPath(url), forgotten)
    return await importModule(`${url}${query}`)
  }
}

/** Removes the stamp from module paths in the text of an error. */
export function withoutStamp(text: string): string {
  return text.replaceAll(new RegExp(`[?&](?:${STAMP}=\\d+|tsx-namespace=[^&:\\s'")]*)`, "g"), "")
}

/** Removes a CommonJS module and its children from the cache, which ignores the stamp. */
function forget(path: string, seen: Set<string>): void {
  const cached = cache[path]
  if (cached === undefined || seen.has(path) || /[\\/]node_modules[\\/]/.test(path)) return
  seen.add(path)
  delete cache[path]
  for (const child of cached.children) forget(child.filename, seen)
}
