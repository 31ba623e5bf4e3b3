import { spawnSync } from "node:child_process"
import { resolve } from "node:path"

const root = resolve(import.meta.dirname, "../..")

let isBuilt = false

/** Builds the package as it is published, once in a run. */
export function buildPackage(): void {
  if (!isBuilt) npm("run", "build")
  isBuilt = true
}

/** Runs npm in the package; returns what it prints. */
export function npm(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync("npm", args, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  })
  if (status !== 0) throw new Error(`npm ${args.join(" ")} failed:\n${stdout}${stderr}`)
  return stdout
}
