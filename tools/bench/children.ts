import { spawnSync } from "node:child_process"
import { resolve } from "node:path"

/** The result of a child process, or why it has none. */
export type ChildResult<TValue> = { readonly value: TValue } | { readonly failure: string }

const program = (name: string): string => resolve(import.meta.dirname, name)

/** Runs one task of `openapi-child.ts`; it is stopped after a timeout. */
export function inChild<TValue>(args: readonly string[], seconds = 120): ChildResult<TValue> {
  return inProcess(["--import", "tsx", program("openapi-child.ts"), ...args], seconds)
}

/** Runs `openapi-fresh.mjs`, which needs the built package. */
export function inFreshProcess<TValue>(args: readonly string[]): ChildResult<TValue> {
  return inProcess([program("openapi-fresh.mjs"), ...args], 120)
}

function inProcess<TValue>(args: readonly string[], seconds: number): ChildResult<TValue> {
  const { error, status, signal, stdout, stderr } = spawnSync(
    process.execPath,
    ["--expose-gc", ...args],
    {
      encoding: "utf8",
      timeout: seconds * 1000,
      killSignal: "SIGKILL",
      maxBuffer: 64 * 1024 * 1024,
    },
  )
  if (error !== undefined && "code" in error && error.code === "ETIMEDOUT") {
    return { failure: `stopped after ${seconds} s` }
  }
  if (status === 0) {
    // Output of a peer comes before the result.
    return { value: JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as TValue }
  }
  const reason = /^\w*Error.*$/m.exec(stderr)?.[0] ?? /FATAL ERROR.*$/m.exec(stderr)?.[0]
  return { failure: reason ?? error?.message ?? `ended with ${signal ?? status}` }
}

/** The value of a result; throws if it has none. */
export function readResult<TValue>(result: ChildResult<TValue>, what: string): TValue {
  if ("failure" in result) throw new Error(`${what}: ${result.failure}`)
  return result.value
}
