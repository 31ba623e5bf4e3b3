import { execFile } from "node:child_process"
import { resolve } from "node:path"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { program } from "../sources/mcp/support/program.ts"

const run = promisify(execFile)

test(
  "100,000 calls, 10,000 aborts and 1,000 streams left early leave nothing behind",
  { timeout: 180_000 },
  async () => {
    const script = program(resolve(import.meta.dirname, "../support/leak-run.ts"))
    const { stdout } = await run(process.execPath, ["--expose-gc", script])
    const result = JSON.parse(stdout) as Record<string, number>
    expect(result).toMatchObject({ listeners: 0, aborted: 10_000 })
    expect(result["resources"]).toBeLessThanOrEqual(0)
    expect(result["grownKilobytes"]).toBeLessThan(5 * 1024)
    // The last one may still be on the stack of the loop that made it.
    expect(result["registriesAlive"]).toBeLessThanOrEqual(1)
  },
)
