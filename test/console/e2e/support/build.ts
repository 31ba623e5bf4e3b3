import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { root } from "../../../support/manifest.ts"

const FOLDER = join(root, "node_modules/.cache/operations-console")

/**
 * The folder of a console that is built from its sources as they are now.
 *
 * Kept under a name made of what it was built from: the first test builds it, the others find it.
 * `CONSOLE_FOLDER` names one that is built already.
 */
export async function builtConsole(): Promise<string> {
  const given = process.env["CONSOLE_FOLDER"]
  if (given !== undefined && given !== "") return given
  const folder = join(FOLDER, fingerprint())
  if (existsSync(join(folder, "index.html"))) return folder
  const own = `${folder}.${process.pid}`
  await build(own)
  try {
    renameSync(own, folder)
  } catch {
    // Another test was first.
    rmSync(own, { recursive: true, force: true })
  }
  return folder
}

/** Builds in a process of its own: React's production build wants another `NODE_ENV` than tests have. */
async function build(outDir: string): Promise<void> {
  const vite = join(dirname(createRequire(import.meta.url).resolve("vite/package.json")), "bin")
  mkdirSync(FOLDER, { recursive: true })
  const argv = [join(vite, "vite.js"), "build", "console", "--outDir", outDir, "--logLevel", "warn"]
  await promisify(execFile)(process.execPath, argv, {
    cwd: root,
    env: { ...process.env, NODE_ENV: "production" },
  })
}

function fingerprint(): string {
  const hash = createHash("sha256")
  const source = join(root, "console")
  const files = readdirSync(source, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  for (const file of [...files.toSorted(), join(root, "package-lock.json")]) {
    hash.update(file.slice(root.length)).update(readFileSync(file))
  }
  return hash.digest("hex").slice(0, 16)
}
