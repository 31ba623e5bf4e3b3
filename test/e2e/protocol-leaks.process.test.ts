import { execFile } from "node:child_process"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { isNightly } from "../support/nightly.ts"
import { program } from "../sources/mcp/support/program.ts"

const run = promisify(execFile)

test(
  "many calls, aborts, streams left and killed peers leave nothing behind",
  { timeout: 300_000 },
  async () => {
    const support = resolve(import.meta.dirname, "../support")
    const script = program(join(support, "protocol-leak-run.ts"))
    const worker = program(join(support, "protocol-leak-worker.ts"))
    const load = isNightly ? 100 : 20
    const { stdout } = await run(process.execPath, ["--expose-gc", script, worker, String(load)])
    const result = JSON.parse(stdout) as {
      readonly grownKilobytes: number
      readonly resourcesBefore: readonly string[]
      readonly resourcesAtFirst: readonly string[]
    }
    expect(result).toMatchObject({
      aborted: load * 100,
      left: load * 10,
      // A call and a stream each.
      workersLost: load * 4,
      socketsLost: load * 4,
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
