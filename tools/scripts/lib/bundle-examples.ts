import { build } from "esbuild"
import type { Plugin } from "esbuild"
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { dirname, join, resolve, sep } from "node:path"
import { pathToFileURL } from "node:url"

/** Examples as JavaScript files. The caller disposes of them. */
export interface BundledExamples extends AsyncDisposable {
  /** The file of an example. */
  fileOf(name: string): string
  /** Maps the names of the package to bundles, for programs that examples start from their sources. */
  readonly tsconfig: string
}

const root = resolve(import.meta.dirname, "../../..")

/**
 * Bundles examples with what the `paths` of their tsconfig.json map names to: each loads a few files, not hundreds of
 * sources. Other packages stay outside, and files beside an example are found where they are.
 */
export async function bundleExamples(
  folder: string,
  names: readonly string[],
): Promise<BundledExamples> {
  const original = resolve(folder, "tsconfig.json")
  const { compilerOptions } = JSON.parse(await readFile(original, "utf8")) as {
    compilerOptions?: { paths?: Record<string, string[]> }
  }
  const { peerDependencies } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as {
    peerDependencies: Record<string, string>
  }
  const mapped = Object.entries(compilerOptions?.paths ?? {}).map(([name, [path = ""]], at) => ({
    name,
    in: resolve(folder, path),
    out: `package/${at}`,
  }))
  // Below the packages, so that bundles find those that stay outside.
  const cache = join(root, "node_modules/.cache")
  await mkdir(cache, { recursive: true })
  const outdir = await mkdtemp(join(cache, "operations-examples-"))
  const dispose = (): Promise<void> => rm(outdir, { recursive: true, force: true })
  try {
    await build({
      entryPoints: [
        ...names.map((name) => ({ in: resolve(folder, `${name}.ts`), out: name })),
        ...mapped.map(({ in: file, out }) => ({ in: file, out })),
      ],
      outdir,
      outExtension: { ".js": ".mjs" },
      bundle: true,
      splitting: true,
      platform: "node",
      format: "esm",
      target: "node20",
      tsconfig: original,
      external: Object.keys(peerDependencies),
      plugins: [inPlace(folder, new Set(mapped.map(({ name }) => name)))],
      logLevel: "warning",
    })
    const paths = Object.fromEntries(
      mapped.map(({ name, out }) => [name, [join(outdir, `${out}.mjs`)]]),
    )
    const tsconfig = join(outdir, "tsconfig.json")
    await writeFile(tsconfig, JSON.stringify({ extends: original, compilerOptions: { paths } }))
    const fileOf = (name: string): string => join(outdir, `${name}.mjs`)
    return { fileOf, tsconfig, [Symbol.asyncDispose]: dispose }
  } catch (error) {
    await dispose()
    throw error
  }
}

/** Keeps the packages of examples external, and tells the bundled files their original paths. */
function inPlace(folder: string, mapped: ReadonlySet<string>): Plugin {
  const isOwn = (file: string): boolean => file.startsWith(folder + sep)
  return {
    name: "in place",
    setup(bundler) {
      bundler.onResolve({ filter: /^[^./]/ }, ({ path, importer }) =>
        isOwn(importer) && !mapped.has(path) ? { path, external: true } : undefined,
      )
      bundler.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        if (!isOwn(path)) return undefined
        const text = await readFile(path, "utf8")
        const contents = text
          .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href))
          .replaceAll("import.meta.dirname", JSON.stringify(dirname(path)))
        return { contents, loader: "ts" }
      })
    },
  }
}
