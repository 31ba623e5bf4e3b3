import { spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { onTestFinished } from "vitest"
import { BusWorkerProgram } from "./bus-worker-program.ts"
import type { BusWorkerSettings } from "./bus-worker.ts"
import { kill } from "./support.ts"

/** Workers behind brokers, in processes of their own. */
export class BusWorkers {
  readonly #program = new BusWorkerProgram()

  /** Starts a worker, which ends with its test; resolves once it takes calls. */
  async start(url: string, settings: BusWorkerSettings): Promise<ChildProcess> {
    const child = spawn(process.execPath, [this.#program.path, url, JSON.stringify(settings)], {
      stdio: ["ignore", "pipe", "inherit"],
    })
    onTestFinished(() => kill(child))
    await new Promise<void>((resolve, reject) => {
      child.stdout?.once("data", () => resolve())
      child.once("exit", (code) => reject(new Error(`A worker ended with ${code}`)))
    })
    return child
  }

  close(): void {
    this.#program.close()
  }
}
