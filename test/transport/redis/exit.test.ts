import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { provideRedis, startRedis } from "../../support/brokers.ts"

const isThere = await provideRedis()

test.skipIf(!isThere)("a program that closes its transports ends by itself", async () => {
  await using broker = await startRedis()
  const script = fileURLToPath(new URL("./exit-run.ts", import.meta.url))

  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ["--import", "tsx", script, broker.url],
    { timeout: 100_000 },
  )

  expect(stderr).toBe("")
  const { before, after, ...rest } = JSON.parse(stdout) as Record<string, unknown>
  expect(after).toEqual(before)
  expect(rest).toEqual({ answers: 100, held: "ABORTED" })
})
