import { spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { mkdtempSync, writeFileSync } from "node:fs"
import { rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { onTestFinished } from "vitest"
import type { ResolvedSource } from "../../src/config/model.ts"
import { createHub } from "../../src/hub/create-hub.ts"
import type { Hub, HubOptions, SourceStatus } from "../../src/hub/model.ts"
import { silentLogger } from "../../src/internal/logger.ts"
import { program } from "../sources/mcp/support/program.ts"
import { configOf, ROOT } from "./plain.ts"
import { PROCESS_PATIENCE } from "../support/patience.ts"

export { configOf, EVERYTHING, sourceOf } from "./plain.ts"
export const FLAKY: string = join(import.meta.dirname, "flaky-server.mjs")

/** A hub that is closed with its test. */
export function hubOf(sources: readonly ResolvedSource[], options: HubOptions = {}): Hub {
  const hub = createHub(configOf(sources), { logger: silentLogger, ...options })
  onTestFinished(() => hub.close())
  return hub
}

/** A folder that is gone after its test. */
export function folder(files: Readonly<Record<string, string>> = {}): string {
  const path = mkdtempSync(join(tmpdir(), "hub-"))
  writeFileSync(join(path, "package.json"), '{ "type": "module" }')
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text)
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

/** The text of a module with one operation. */
export function operationText(id: string, handler: string, more = ""): string {
  const [namespace, name] = id.split(".")
  return `export default {
  namespace: "${namespace}", name: "${name}", version: "1.0.0", type: "query", description: "Says something",
  inputSchema: { type: "object" }, outputSchema: {}, accessControl: { requiredScopes: [] },
  handler: ${handler}, ${more}
}
`
}

/** Settles when a source is in a state, or fails after a time in which nothing can take so long. */
export async function untilSource(
  hub: Hub,
  name: string,
  isIt: (status: SourceStatus) => boolean,
): Promise<SourceStatus> {
  const now = hub.sources.find((source) => source.name === name)
  if (now !== undefined && isIt(now)) return now
  return await new Promise<SourceStatus>((resolve, reject) => {
    const timer = setTimeout(() => {
      stop()
      reject(new Error(`Still ${JSON.stringify(hub.sources.find((one) => one.name === name))}`))
    }, PROCESS_PATIENCE)
    const stop = hub.onStatus((status) => {
      if (status.name !== name || !isIt(status)) return
      clearTimeout(timer)
      stop()
      resolve(status)
    })
  })
}

/** A program of this folder in a process of its own; ends with its test. */
export async function start(
  name: string,
  args: readonly string[],
): Promise<{ readonly child: ChildProcess; readonly line: string }> {
  const script = program(join(import.meta.dirname, name))
  const child = spawn(process.execPath, [script, ...args], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "inherit"],
  })
  onTestFinished(() => kill(child))
  const line = await new Promise<string>((resolve, reject) => {
    let text = ""
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk
      if (text.includes("\n")) resolve(text.slice(0, text.indexOf("\n")))
    })
    child.once("exit", (code) => reject(new Error(`${name} ended with ${code}`)))
  })
  return { child, line }
}

export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once("exit", resolve))
  child.kill("SIGKILL")
  await gone
}
