import { execFile } from "node:child_process"
import { resolve } from "node:path"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { program } from "../../sources/mcp/support/program.ts"
import { provideRedis, startRedis } from "../../support/brokers.ts"
import { PROCESS_PATIENCE } from "../../support/patience.ts"

const isThere = await provideRedis()

test.skipIf(!isThere)("a program that closes its transports ends by itself", async () => {
  await using broker = await startRedis()
  const script = program(resolve(import.meta.dirname, "exit-run.ts"))

  const { stdout, stderr } = await promisify(execFile)(process.execPath, [script, broker.url], {
    timeout: PROCESS_PATIENCE,
  })

  expect(stderr).toBe("")
  const { before, after, ...rest } = JSON.parse(stdout) as Record<string, unknown>
  expect(after).toEqual(before)
  expect(rest).toEqual({ answers: 100, held: "ABORTED" })
})
