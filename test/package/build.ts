import { execFile } from "node:child_process"
import { cp, mkdir, mkdtemp, readdir, realpath, rm, symlink } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { promisify } from "node:util"
import { manifest, root } from "../support/manifest.ts"

/** The package as it would be published, installed in an application of its own. */
export interface BuiltPackage extends AsyncDisposable {
  /** The files of the tarball, relative to the package. */
  readonly files: readonly string[]
  /** The size of the tarball, in bytes. */
  readonly size: number
  /** Where the application is: run `node` here to use the package like anyone would. */
  readonly app: string
  /** The installed package: `app/node_modules/@alkdev/operations`. */
  readonly installed: string
}

/** Time for a build, in milliseconds: it starts compilers and npm. */
export const BUILD_TIMEOUT = 180_000

/**
 * Builds and packs the package in a temporary folder, so that a stale or missing `dist` plays no part.
 *
 * The folder lies outside of the repository: what the package does not bring or depend on is not found.
 */
export async function buildPackage(): Promise<BuiltPackage> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "operations-package-")))
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true })
  try {
    const stage = join(folder, "stage")
    const app = join(folder, "app")
    const installed = join(app, "node_modules", manifest.name)
    await copyCheckout(stage)
    await run("tsc", ["-p", "tsconfig.build.json"], stage)
    await run("tsx", ["scripts/bundle.ts"], stage)
    await run("tsx", ["scripts/build-console.ts"], stage)
    const { files, size } = await packedFiles(stage)
    for (const file of files) await cp(join(stage, file), join(installed, file))
    await linkDependencies(app)
    await cp(resolve(root, "test/package/consumer"), app, { recursive: true })
    return { files, size, app, installed, [Symbol.asyncDispose]: remove }
  } catch (error) {
    await remove()
    throw error
  }
}

/** Runs a program that npm installed (`tsc`), or `node` and `npm`. Throws with all that it printed. */
export async function run(program: string, args: string[], cwd: string): Promise<string> {
  const command =
    program === "node"
      ? process.execPath
      : program === "npm"
        ? program
        : program === "tsc"
          ? // Several compilers are installed: only one of them can be in `.bin`.
            resolve(root, "node_modules/typescript/bin/tsc")
          : resolve(root, "node_modules/.bin", program)
  try {
    return (await promisify(execFile)(command, args, { cwd, maxBuffer: 2 ** 26 })).stdout
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string }
    throw new Error(`${program} ${args.join(" ")} failed:\n${stdout}${stderr}`, { cause: error })
  }
}

async function copyCheckout(stage: string): Promise<void> {
  await mkdir(stage)
  for (const name of await readdir(root)) {
    if (/^(src|console|scripts|package\.json|tsconfig.*\.json|.*\.md|LICENSE.*)$/.test(name)) {
      await cp(resolve(root, name), join(stage, name), { recursive: true })
    }
  }
  await symlink(resolve(root, "node_modules"), join(stage, "node_modules"), "junction")
}

async function packedFiles(stage: string): Promise<{ files: string[]; size: number }> {
  const output = await run("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], stage)
  const [tarball] = JSON.parse(output) as { files: { path: string }[]; size: number }[]
  if (tarball === undefined) throw new Error("npm pack lists no tarball.")
  return { files: tarball.files.map((file) => file.path).toSorted(), size: tarball.size }
}

/** Only what the package declares: an undeclared import must fail here as it would elsewhere. */
async function linkDependencies(app: string): Promise<void> {
  for (const name of Object.keys(manifest.dependencies ?? {})) {
    const link = join(app, "node_modules", name)
    await mkdir(dirname(link), { recursive: true })
    await symlink(resolve(root, "node_modules", name), link, "junction")
  }
}
