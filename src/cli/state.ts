import { createHash } from "node:crypto"
import { mkdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import type { CommandIO } from "./model.ts"
import { replaceFile } from "../node/replace-file.ts"

type Env = CommandIO["env"]

/** The user's state folder; `undefined` when the environment does not define one. */
function stateFolder(env: Env): string | undefined {
  const base = filled(env["XDG_STATE_HOME"]) ?? filled(env["LOCALAPPDATA"])
  if (base !== undefined) return join(base, "operations")
  const home = filled(env["HOME"]) ?? filled(env["USERPROFILE"])
  return home === undefined ? undefined : join(home, ".local", "state", "operations")
}

/** Reads a file of the state folder; `undefined` when it is missing or not JSON. */
export async function readState(env: Env, name: string): Promise<unknown> {
  const folder = stateFolder(env)
  if (folder === undefined) return undefined
  try {
    return JSON.parse(await readFile(join(folder, name), "utf8")) as unknown
  } catch {
    return undefined
  }
}

/** Writes a file of the state folder, readable by its user only. Rejects when that fails. */
export async function writeState(env: Env, name: string, value: unknown): Promise<void> {
  const folder = stateFolder(env)
  if (folder === undefined) {
    throw new Error("There is no folder to remember it in: set HOME or XDG_STATE_HOME.")
  }
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const text = `${JSON.stringify(value, undefined, 2)}\n`
  await replaceFile(join(folder, name), text, { mode: 0o600 })
}

/** The path of a file in the state folder; `undefined` when there is none. */
export function statePath(env: Env, name: string): string | undefined {
  const folder = stateFolder(env)
  return folder === undefined ? undefined : join(folder, name)
}

/** The SHA-256 of data, as hex. */
export function hashOf(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex")
}

function filled(text: string | undefined): string | undefined {
  return text === undefined || text === "" ? undefined : text
}
