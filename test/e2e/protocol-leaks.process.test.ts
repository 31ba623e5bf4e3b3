import { execFile } from "node:child_process"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { program } from "../sources/mcp/support/program.ts"

const run = promisify(execFile)

test(
  "100,000 calls, 10,000 aborts, 1,000 streams left and 400 killed peers leave nothing behind",
  { timeout: 300_000 },
  async () => {
    const support = resolve(import.meta.dirname, "../support")
    const script = program(join(support, "protocol-leak-run.ts"))
    const worker = program(join(support, "protocol-leak-worker.ts"))
    const { stdout } = await run(process.execPath, ["--expose-gc", script, worker])
    const result = JSON.parse(stdout) as {
      readonly grownKilobytes: number
      readonly resourcesBefore: readonly string[]
      readonly resourcesAtFirst: readonly string[]
    }
    expect(result).toMatchObject({
      aborted: 10_000,
      left: 1000,
      // A call and a stream each.
      workersLost: 400,
      socketsLost: 400,
    })
    expect(result).toMatchObject({ pending: 0, serving: 0, running: 0, warnings: [] })
    // The one that was there all the time, and none when all is closed.
    expect(result).toMatchObject({
      connections: [1, 1, 0, 0],
      resourcesAfter: result.resourcesBefore,
    })
    expect(result).toMatchObject({ targetGrown: 0, targetListeners: 0, signalListeners: 0 })
    expect(result).toMatchObject({ resourcesAtLast: result.resourcesAtFirst })
    expect(result.grownKilobytes).toBeLessThan(8 * 1024)
  },
)
