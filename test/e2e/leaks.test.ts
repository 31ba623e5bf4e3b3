import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { expect, test } from "vitest"

const run = promisify(execFile)

test(
  "100,000 calls, 10,000 aborts and 1,000 streams left early leave nothing behind",
  { timeout: 180_000 },
  async () => {
    const script = fileURLToPath(new URL("../support/leak-run.ts", import.meta.url))
    const { stdout } = await run(process.execPath, ["--expose-gc", "--import", "tsx", script])
    const result = JSON.parse(stdout) as Record<string, number>
    expect(result).toMatchObject({ listeners: 0, aborted: 10_000 })
    expect(result["resources"]).toBeLessThanOrEqual(0)
    expect(result["grownKilobytes"]).toBeLessThan(5 * 1024)
    // The last one may still be on the stack of the loop that made it.
    expect(result["registriesAlive"]).toBeLessThanOrEqual(1)
  },
)
