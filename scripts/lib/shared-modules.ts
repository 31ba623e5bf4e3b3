import type { Metafile, Plugin } from "esbuild"
import { readFile } from "node:fs/promises"
import { dirname, resolve } from "node:path"

/** Chunks below this size, in bytes, are not worth a file of their own. */
const SMALL = 16_000

/**
 * The modules of small chunks that can be part of every entry: what they import is, too.
 *
 * A bundler makes a chunk for each set of entries that share something; with eight entries that is a
 * file for a hundred lines here and there.
 */
export function smallSharedModules(metafile: Metafile): string[] {
  const chunks = Object.values(metafile.outputs).filter(
    ({ entryPoint }) => entryPoint === undefined,
  )
  const small = chunks.filter(
    ({ bytes, inputs }) => bytes < SMALL && Object.keys(inputs).length > 0,
  )
  const shared = new Set(small.flatMap(({ inputs }) => Object.keys(inputs)))
  for (let before = -1; before !== shared.size;) {
    before = shared.size
    for (const file of shared) {
      const imports = metafile.inputs[file]?.imports ?? []
      // What loads an optional package on demand stays where that is expected.
      const isClosed = imports.every(({ path, kind }) => {
        return kind === "import-statement" && shared.has(path)
      })
      if (!isClosed) shared.delete(file)
    }
  }
  return [...shared].toSorted()
}

/** Makes modules part of every entry, and so of one chunk. */
export function sharedByAll(
  root: string,
  entries: readonly string[],
  modules: readonly string[],
): Plugin {
  const isEntry = new Set(entries)
  const isShared = new Set(modules.map((file) => resolve(root, file)))
  return {
    name: "shared-by-all",
    setup(pass) {
      // The package says that its modules have no side effects: an import of nothing would be dropped.
      pass.onResolve({ filter: /^shared:/ }, ({ path }) => ({
        path: path.slice("shared:".length),
        sideEffects: true,
      }))
      pass.onLoad({ filter: /\.js$/ }, async ({ path }) => {
        if (!isEntry.has(path)) return undefined
        const text = await readFile(path, "utf8")
        const imports = [...isShared].map((file) => `import ${JSON.stringify(`shared:${file}`)}`)
        return { contents: `${text}\n${imports.join("\n")}\n`, resolveDir: dirname(path) }
      })
    },
  }
}
