import { readFile, stat } from "node:fs/promises"
import type { CommandIO } from "../model.ts"
import { hashOf, readState, writeState } from "../state.ts"

const FILE = "trusted.json"

/** Configurations that the user trusts: the hash of what a file held then, by its path. */
type Trusted = Readonly<Record<string, string>>

/** Whether the user has trusted a file, as it is now. */
export async function isTrusted(file: string, { env }: CommandIO): Promise<boolean> {
  const trusted = await readTrusted(env)
  return Object.hasOwn(trusted, file) && trusted[file] === (await hashOfFile(file))
}

/** Remembers that the user trusts a file, as it is now. */
export async function trustFile(file: string, { env }: CommandIO): Promise<void> {
  const trusted = await readTrusted(env)
  await writeState(env, FILE, { ...trusted, [file]: await hashOfFile(file) })
}

/** Forgets that the user trusts a file; false when it was not trusted. */
export async function distrustFile(file: string, { env }: CommandIO): Promise<boolean> {
  const { [file]: known, ...others } = await readTrusted(env)
  if (known === undefined) return false
  await writeState(env, FILE, others)
  return true
}

/** Every file that is trusted as it was once. */
export async function trustedFiles({ env }: CommandIO): Promise<readonly string[]> {
  return Object.keys(await readTrusted(env)).toSorted()
}

/** Keeps a file trusted that a command of the user changes; one that was not trusted stays so. */
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

/** Whether a file is another user's; root's are as good as one's own. */
export async function isOfAnother(file: string): Promise<boolean> {
  const own = process.getuid?.()
  if (own === undefined) return false
  const { uid } = await stat(file)
  return uid !== own && uid !== 0
}

async function readTrusted(env: CommandIO["env"]): Promise<Trusted> {
  const found = await readState(env, FILE)
  if (typeof found !== "object" || found === null) return {}
  return Object.fromEntries(Object.entries(found).filter(([, hash]) => typeof hash === "string"))
}

async function hashOfFile(file: string): Promise<string> {
  return hashOf(await readFile(file))
}
