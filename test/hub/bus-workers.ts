import { spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { buildSync } from "esbuild"
import { onTestFinished } from "vitest"
import type { BusWorkerSettings } from "./bus-worker.ts"
import { kill } from "./support.ts"

/** The program of a worker, as one file: it is there in a tenth of the time that its sources take to load. */
export class BusWorkers {
  readonly #folder = mkdtempSync(join(tmpdir(), "operations-hub-workers-"))
  readonly #program = join(this.#folder, "bus-worker.mjs")

  constructor() {
    buildSync({
      entryPoints: [join(import.meta.dirname, "bus-worker.ts")],
      outfile: this.#program,
      bundle: true,
      platform: "node",
      target: "node20",
      format: "esm",
      // Packages among them that are no modules ask for others by `require`.
      banner: {
        js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
      },
      logLevel: "error",
    })
  }

  /** Starts a worker, which ends with its test; resolves once it takes calls. */
  async start(url: string, settings: BusWorkerSettings): Promise<ChildProcess> {
    const child = spawn(process.execPath, [this.#program, url, JSON.stringify(settings)], {
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
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
