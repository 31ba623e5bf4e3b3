import { spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { join } from "node:path"
import { onTestFinished } from "vitest"
import { program } from "../sources/mcp/support/program.ts"
import type { BusWorkerSettings } from "./bus-worker.ts"
import { kill } from "./support.ts"

/** Starts a worker behind a broker as a process, which ends with its test; resolves once it takes calls. */
export async function startBusWorker(
  url: string,
  settings: BusWorkerSettings,
): Promise<ChildProcess> {
  const script = program(join(import.meta.dirname, "bus-worker.ts"))
  const child = spawn(process.execPath, [script, url, JSON.stringify(settings)], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  onTestFinished(() => kill(child))
  await new Promise<void>((resolve, reject) => {
    child.stdout?.once("data", () => resolve())
    child.once("exit", (code) => reject(new Error(`A worker ended with ${code}`)))
  })
  return child
}
