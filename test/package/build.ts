import { execFile } from "node:child_process"
import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, dirname, join, resolve } from "node:path"
import { promisify } from "node:util"
import { buildOnce } from "../support/build-once.ts"
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
  /** The path of the tarball itself. It is shared: do not change it. */
  readonly tarball: string
}

type Packed = Pick<BuiltPackage, "files" | "size">

/** What a build is made of. Not all of `tools/`: other tests install programs there at the same time. */
const SOURCES = /^(src|console|package\.json|tsconfig.*\.json|.*\.md|LICENSE.*)$/

async function sources(): Promise<string[]> {
  return [...(await readdir(root)).filter((name) => SOURCES.test(name)), "tools/scripts"]
}

/** The files beside the packed ones: the list of them, and the tarball. */
const LISTING = "packed.json"
const TARBALL = "package.tgz"

/** Time for a build, in milliseconds: it starts compilers and npm. */
export const BUILD_TIMEOUT = 180_000

/**
 * Builds and packs the package, once for all tests, and installs it in an application in a temporary folder.
 *
 * It is built from a copy of the sources, so that a stale or missing `dist` plays no part. The application lies outside
 * of the repository: what the package does not bring or depend on is not found.
 */
export async function buildPackage(): Promise<BuiltPackage> {
  const from = await sources()
  const packed = await buildOnce({ name: "operations-package", from, build: pack })
  const { files, size } = JSON.parse(await readFile(join(packed, LISTING), "utf8")) as Packed
  const folder = await realpath(await mkdtemp(join(tmpdir(), "operations-package-")))
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true })
  try {
    const app = join(folder, "app")
    const installed = join(app, "node_modules", manifest.name)
    for (const file of files) await cp(join(packed, file), join(installed, file))
    await linkDependencies(app)
    await cp(resolve(root, "test/package/consumer"), app, { recursive: true })
    const tarball = join(packed, TARBALL)
    return { files, size, app, installed, tarball, [Symbol.asyncDispose]: remove }
  } catch (error) {
    await remove()
    throw error
  }
}

/** Builds in a folder, and leaves there what is packed beside its listing. */
async function pack(folder: string): Promise<void> {
  const stage = await realpath(await mkdtemp(join(tmpdir(), "operations-stage-")))
  try {
    for (const name of await sources()) {
      await cp(resolve(root, name), join(stage, name), { recursive: true })
    }
    await symlink(resolve(root, "node_modules"), join(stage, "node_modules"), "junction")
    // CI has just built it in a folder without an older one.
    if (process.env["OPERATIONS_BUILT"] === "1") {
      await cp(resolve(root, "dist"), join(stage, "dist"), { recursive: true })
    } else {
      await run("tsc", ["-p", "tsconfig.build.json"], stage)
      await run("tsx", ["tools/scripts/bundle.ts"], stage)
      await run("tsx", ["tools/scripts/build-console.ts"], stage)
    }
    const packed = await packedFiles(stage, join(folder, TARBALL))
    for (const file of packed.files) await cp(join(stage, file), join(folder, file))
    await writeFile(join(folder, LISTING), JSON.stringify(packed))
  } finally {
    await rm(stage, { recursive: true, force: true })
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

async function packedFiles(stage: string, target: string): Promise<Packed> {
  const output = await run("npm", ["pack", "--json", "--ignore-scripts"], stage)
  const [tarball] = JSON.parse(output) as {
    filename: string
    files: { path: string }[]
    size: number
  }[]
  if (tarball === undefined) throw new Error("npm pack lists no tarball.")
  await cp(join(stage, basename(tarball.filename)), target)
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
