/** Finds a Chromium or installs one. */
import { execFile } from "node:child_process"
import { accessSync, constants, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, isAbsolute, join } from "node:path"
import { promisify } from "node:util"

/** Where a browser is, or why there is none. */
export type Chromium =
  | { readonly path: string; readonly reason?: undefined }
  | { readonly path?: undefined; readonly reason: string }

type Environment = Readonly<Record<string, string | undefined>>

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]

const run = promisify(execFile)

/** The first browser there is: `CHROMIUM_PATH`, or one of the usual names on `PATH`. */
export function findChromium(env: Environment = process.env): string | undefined {
  const given = env["CHROMIUM_PATH"]
  if (given !== undefined && given !== "") return isProgram(given) ? given : undefined
  return findOnPath(NAMES, env)
}

/**
 * A browser for the tests that need one; installed from the system's packages where that is possible.
 *
 * Without one it says so on stderr, once, and the tests are to be skipped. Where `CI` is set it throws:
 * a check that did not run must not look like one that passed.
 */
export async function provideChromium(
  env: Environment = process.env,
  isRoot: boolean = process.getuid?.() === 0,
): Promise<Chromium> {
  const found = findChromium(env)
  if (found !== undefined) return { path: found }
  const failure = await install(env, isRoot)
  const installed = findChromium(env)
  if (installed !== undefined) return { path: installed }
  const reason = `No Chromium: ${failure} Set CHROMIUM_PATH, or install it: apt-get install chromium`
  if (env["CI"] !== undefined && env["CI"] !== "" && env["CI"] !== "false") throw new Error(reason)
  process.stderr.write(`SKIPPED browser tests. ${reason}\n`)
  return { reason }
}

/** Installs the package; gives what went wrong. */
async function install(env: Environment, isRoot: boolean): Promise<string> {
  const given = env["CHROMIUM_PATH"]
  if (given !== undefined && given !== "") return `CHROMIUM_PATH "${given}" is no program.`
  if (!isRoot) return "none is on PATH, and only root can install one."
  const [apt, flock] = [findOnPath(["apt-get"], env), findOnPath(["flock"], env)]
  if (apt === undefined || flock === undefined) return "none is on PATH, and there is no apt-get."
  const package_ = `"$0" install -y --no-install-recommends -o DPkg::Lock::Timeout=300 chromium`
  // The lock is the kernel's: several runs wait for one installation, and one that dies frees it.
  const lock = join(tmpdir(), "operations-chromium.lock")
  const script = `command -v chromium || ${package_} || { "$0" update && ${package_}; }`
  try {
    await run(flock, [lock, "sh", "-c", script, apt], {
      env: { ...env, DEBIAN_FRONTEND: "noninteractive" },
      timeout: 600_000,
      maxBuffer: 64 * 1024 * 1024,
    })
    return "it was installed, and still is not on PATH."
  } catch (error) {
    const { stderr = "", message } = error as { stderr?: string; message: string }
    const last = stderr.trim().split("\n").at(-1)
    return `none is on PATH, and apt-get could not install it (${last || message}).`
  }
}

function findOnPath(names: readonly string[], env: Environment): string | undefined {
  const folders = (env["PATH"] ?? "").split(delimiter).filter(isAbsolute)
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
