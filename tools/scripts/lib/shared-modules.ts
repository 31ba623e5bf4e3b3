import type { Metafile, Plugin } from "esbuild"
import { readFile } from "node:fs/promises"
import { dirname, join, relative, resolve } from "node:path"

/** Modules to import in addition, by the file that gets the imports. */
export type AddedImports = ReadonlyMap<string, ReadonlySet<string>>

/** Chunks below this size, in bytes, are not worth a separate file. */
const SMALL = 16_000

/**
 * The modules of small chunks that can be part of every entry: what they import is, too.
 *
 * A bundler makes a chunk for each set of entries that share something; with eight entries that is a
 * file for a hundred lines here and there.
 */
export function smallSharedModules(
  metafile: Metafile,
  apart: readonly string[] = [],
): ReadonlySet<string> {
  const chunks = Object.values(metafile.outputs).filter(
    ({ entryPoint }) => entryPoint === undefined,
  )
  const small = chunks.filter(
    ({ bytes, inputs }) => bytes < SMALL && Object.keys(inputs).length > 0,
  )
  const shared = new Set(small.flatMap(({ inputs }) => Object.keys(inputs).filter(isFile)))
  for (const file of apart) shared.delete(file)
  for (let before = -1; before !== shared.size;) {
    before = shared.size
    for (const file of shared) {
      const imports = metafile.inputs[file]?.imports ?? []
      // Modules that load an optional package on demand stay in their own chunks.
      const isClosed = imports.every(({ path, kind }) => {
        return kind === "import-statement" && shared.has(path)
      })
      if (!isClosed) shared.delete(file)
    }
  }
  return shared
}

/**
 * The imports that make programs load the library's chunks whole.
 *
 * A bundler groups modules by who reaches them. A program with many commands, each loaded on demand,
 * reaches other parts of the library than its entries do, and would cut every chunk to pieces. If what
 * reaches one module of a chunk reaches all of them, the chunk stays as it is.
 */
export function importsOfWholeChunks(library: Metafile, all: Metafile): AddedImports {
  const chunkOf = new Map<string, readonly string[]>()
  for (const { inputs } of Object.values(library.outputs)) {
    const modules = Object.keys(inputs)
    for (const file of modules) chunkOf.set(file, modules)
  }
  const added = new Map<string, ReadonlySet<string>>()
  for (const root of rootsOf(all)) {
    if (chunkOf.has(root)) continue
    const needed = new Set<string>([root])
    // A set that grows while it is walked is walked to its end.
    for (const file of needed) {
      for (const module of chunkOf.get(file) ?? []) needed.add(module)
      for (const { path, kind } of all.inputs[file]?.imports ?? []) {
        if (kind === "import-statement") needed.add(path)
      }
    }
    added.set(root, new Set([...needed].filter((file) => chunkOf.has(file) && isFile(file))))
  }
  return added
}

/** What is loaded by itself: entries, and what is imported on demand. */
export function rootsOf({ inputs, outputs }: Metafile): ReadonlySet<string> {
  const points = Object.values(outputs).flatMap(({ entryPoint }) => entryPoint ?? [])
  const onDemand = Object.values(inputs).flatMap(({ imports }) =>
    imports.filter(({ kind, external }) => kind === "dynamic-import" && external !== true),
  )
  return new Set([...points, ...onDemand.map(({ path }) => path)])
}

/** Adds imports to files, after everything that they import themselves. */
export function addImports(root: string, added: AddedImports): Plugin {
  const byFile = new Map([...added].map(([file, modules]) => [resolve(root, file), modules]))
  const dist = resolve(root, "dist")
  return {
    name: "add-imports",
    setup(pass) {
      // The package says that its modules have no side effects, so an import of nothing would be dropped.
      // What a plugin resolves is taken to have some.
      pass.onResolve({ filter: /^(?:\.{1,2})?\// }, ({ path, resolveDir }) => {
        const file = resolve(resolveDir, path)
        return file.startsWith(dist) ? { path: file } : undefined
      })
      pass.onResolve({ filter: /^shared:/ }, ({ path }) => ({ path: path.slice("shared:".length) }))
      pass.onLoad({ filter: /\.js$/ }, async ({ path }) => {
        const modules = byFile.get(path)
        if (modules === undefined) return undefined
        return { contents: await withImports(root, path, modules), resolveDir: dirname(path) }
      })
    },
  }
}

async function withImports(
  root: string,
  path: string,
  modules: ReadonlySet<string>,
): Promise<string> {
  const imports = [...modules]
    .toSorted()
    .map((file) => `import ${JSON.stringify(`shared:${resolve(root, file)}`)}`)
  return `${await readFile(path, "utf8")}\n${imports.join("\n")}\n`
}

/** Whether an input is a file, not a copy. */
function isFile(input: string): boolean {
  return !input.startsWith(`${COPIES}:`)
}

const COPIES = "on-demand"

/**
 * Copies modules into what is imported on demand, where entries contain them, too.
 *
 * A bundler such as esbuild puts every module that a page could import into the page, if anything needs it: also those that
 * only a module needs which is imported on demand. A copy is imported by that module alone. Imports are added as by
 * `addImports`, which has to follow.
 */
export function copyOnDemand(
  root: string,
  copied: readonly string[],
  added: AddedImports = new Map(),
): Plugin {
  const namespace = COPIES
  const isCopied = (file: string): boolean => copied.some((one) => file.startsWith(join(root, one)))
  return {
    name: namespace,
    setup(pass) {
      pass.onResolve({ filter: /^[.a-z@]/ }, ({ path, resolveDir, kind, namespace: from }) => {
        const ofPackage = copied.find((one) => one.startsWith(`node_modules/${path}/`))
        if (ofPackage === undefined && !path.startsWith(".")) return undefined
        const file = ofPackage === undefined ? resolve(resolveDir, path) : join(root, ofPackage)
        const isCopy = isCopied(file) && (kind === "dynamic-import" || from === namespace)
        // Relative, since comments of the bundle contain it.
        return isCopy ? { path: relative(root, file), namespace, sideEffects: false } : undefined
      })
      pass.onLoad({ filter: /\.js$/, namespace }, async ({ path }) => {
        const file = join(root, path)
        const imports = added.get(`${namespace}:${path}`) ?? new Set()
        return { contents: await withImports(root, file, imports), resolveDir: dirname(file) }
      })
    },
  }
}
