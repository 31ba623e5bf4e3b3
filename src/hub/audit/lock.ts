import { randomUUID } from "node:crypto"
import { readFile, rename, rm, stat, writeFile } from "node:fs/promises"
import { hostname } from "node:os"
import { systemClock, wallTimeOf } from "../../internal/clock.ts"
import { CallError } from "../../core/errors.ts"
import { parseLine } from "./chain.ts"

/** The writer of an audit log. */
export const WRITER: { readonly host: string; readonly pid: number } = {
  host: hostname(),
  pid: process.pid,
}

/**
 * Makes this the only process that writes a file; returns a function that ends it. Rejects if another one is.
 *
 * The lock of a process of this machine that has ended is taken over.
 */
export async function lockFile(file: string): Promise<() => Promise<void>> {
  const path = `${file}.lock`
  const own = JSON.stringify({ ...WRITER, id: randomUUID() })
  for (let isRepeated = false; ; isRepeated = true) {
    try {
      await writeFile(path, own, { flag: "wx", mode: 0o600 })
      return async () => {
        if ((await readFile(path, "utf8").catch(() => "")) === own) await rm(path, { force: true })
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
    }
    const holder = await readFile(path, "utf8").catch(() => "")
    if (isRepeated || !(await isAbandoned(holder, path))) throw inUse(file, path, holder)
    const taken = `${path}.${randomUUID()}`
    await rename(path, taken).catch(() => undefined)
    const isOther = (await readFile(taken, "utf8").catch(() => holder)) !== holder
    // Another process was faster, and this is its new lock.
    if (isOther) await rename(taken, path)
    else await rm(taken, { force: true })
  }
}

async function isAbandoned(holder: string, path: string): Promise<boolean> {
  const { host, pid } = parseLine(holder) ?? {}
  if (host !== WRITER.host || typeof pid !== "number") return false
  if (pid === WRITER.pid) {
    // Containers give the same number again: then the lock is older than this process.
    const { mtimeMs } = await stat(path)
    return mtimeMs < wallTimeOf(systemClock) - process.uptime() * 1000
  }
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH"
  }
}

function inUse(file: string, path: string, holder: string): CallError {
  const { host, pid } = parseLine(holder) ?? {}
  const who =
    pid === undefined
      ? "Another process"
      : `Process ${JSON.stringify(pid)} of ${JSON.stringify(host)}`
  const cure = `Call through that process, or give each its own file, such as "audit.${WRITER.pid}.jsonl". If it has ended, delete "${path}".`
  return new CallError("UNAVAILABLE", `${who} writes the audit log "${file}". ${cure}`, {
    retryable: false,
  })
}
