import { execFile } from "node:child_process"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { buildOnce } from "../../../support/build-once.ts"
import { root } from "../../../support/manifest.ts"

/**
 * The folder of a console that is built from its sources as they are now, once for all tests.
 *
 * `CONSOLE_FOLDER` names one that is built already.
 */
export async function builtConsole(): Promise<string> {
  const given = process.env["CONSOLE_FOLDER"]
  if (given !== undefined && given !== "") return given
  return await buildOnce({ name: "operations-console", from: ["console", "src"], build })
}

/** Builds in a process of its own: React's production build wants another `NODE_ENV` than tests have. */
async function build(outDir: string): Promise<void> {
  const vite = join(dirname(createRequire(import.meta.url).resolve("vite/package.json")), "bin")
  const argv = [join(vite, "vite.js"), "build", "console", "--outDir", outDir, "--logLevel", "warn"]
  await promisify(execFile)(process.execPath, argv, {
    cwd: root,
    env: { ...process.env, NODE_ENV: "production" },
  })
}
