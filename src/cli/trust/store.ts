import { readFile, stat } from "node:fs/promises"
import type { CommandIO } from "../model.ts"
import { hashOf, readState, writeState } from "../state.ts"

const FILE = "trusted.json"

/** Trusted configurations: the hash of the content by path. */
type Trusted = Readonly<Record<string, string>>

/** Whether the user trusts a file with its current content. */
export async function isTrusted(file: string, { env }: CommandIO): Promise<boolean> {
  const trusted = await readTrusted(env)
  return Object.hasOwn(trusted, file) && trusted[file] === (await hashOfFile(file))
}

/** Stores that the user trusts a file with its current content. */
export async function trustFile(file: string, { env }: CommandIO): Promise<void> {
  const trusted = await readTrusted(env)
  await writeState(env, FILE, { ...trusted, [file]: await hashOfFile(file) })
}

/** Removes the trust in a file; `false` when it was not trusted. */
export async function distrustFile(file: string, { env }: CommandIO): Promise<boolean> {
  const { [file]: hash, ...others } = await readTrusted(env)
  if (hash === undefined) return false
  await writeState(env, FILE, others)
  return true
}

/** All files that are trusted with their current or an earlier content. */
export async function trustedFiles({ env }: CommandIO): Promise<readonly string[]> {
  return Object.keys(await readTrusted(env)).toSorted()
}

/** Keeps the trust in a file that a command changes. */
export async function keepingTrust<TResult>(
  file: string,
  io: CommandIO,
  change: () => Promise<TResult>,
): Promise<TResult> {
  const trusted = await isTrusted(file, io).catch(() => false)
  const result = await change()
  if (trusted) await trustFile(file, io)
  return result
}

/** Whether a file belongs to another user; root's files count as one's own. */
export async function isOfAnother(file: string): Promise<boolean> {
  const own = process.getuid?.()
  if (own === undefined) return false
  const { uid } = await stat(file)
  return uid !== own && uid !== 0
}

async function readTrusted(env: CommandIO["env"]): Promise<Trusted> {
  const state = await readState(env, FILE)
  if (typeof state !== "object" || state === null) return {}
  return Object.fromEntries(Object.entries(state).filter(([, hash]) => typeof hash === "string"))
}

async function hashOfFile(file: string): Promise<string> {
  return hashOf(await readFile(file))
}
