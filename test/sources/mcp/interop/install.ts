/** Other people's clients, installed from `tools/interop/` when they are first needed. */
import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { lock } from "../../../support/build-once.ts"
import { root } from "../../../support/manifest.ts"

const folder = join(root, "tools/interop")

/** Where the clients are, or why they are not there. */
export type Clients =
  | { readonly folder: string; readonly reason?: undefined }
  | { readonly folder?: undefined; readonly reason: string }

/**
 * Installs what `tools/interop/package-lock.json` says, once.
 *
 * Without a way to do so it says on stderr what is skipped; where `CI` is set it throws.
 */
export async function provideClients(): Promise<Clients> {
  if (isInstalled()) return { folder }
  const cache = join(root, "node_modules/.cache")
  await mkdir(cache, { recursive: true })
  await using _lock = await lock(join(cache, "interop.lock"))
  if (isInstalled()) return { folder }
  try {
    await promisify(execFile)("npm", ["ci", "--no-audit", "--no-fund", "--prefix", folder], {
      timeout: 300_000,
    })
  } catch (error) {
    const { stderr = "", message } = error as { stderr?: string; message: string }
    const last = stderr.trim().split("\n").at(-1)
    const reason = `The clients of other people could not be installed (${last || message}). Try: npm ci --prefix tools/interop`
    const { CI } = process.env
    if (CI !== undefined && CI !== "" && CI !== "false") throw new Error(reason, { cause: error })
    process.stderr.write(`SKIPPED tests with other people's MCP clients. ${reason}\n`)
    return { reason }
  }
  return { folder }
}

function isInstalled(): boolean {
  // npm writes this file last.
  return existsSync(`${folder}/node_modules/.package-lock.json`)
}
