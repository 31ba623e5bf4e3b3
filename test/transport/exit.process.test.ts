// @isolated: it counts the timers, listeners or processes that are left, also those of other files.
import { execFile } from "node:child_process"
import { resolve } from "node:path"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { program } from "../sources/mcp/support/program.ts"
import { PROCESS_PATIENCE } from "../support/patience.ts"

test("a program that closes its transports ends by itself, and so does its worker", async () => {
  const [script, worker] = ["exit-run.ts", "exit-worker.ts"].map((name) =>
    program(resolve(import.meta.dirname, name)),
  ) as [string, string]

  const { stdout, stderr } = await promisify(execFile)(process.execPath, [script, worker], {
    timeout: PROCESS_PATIENCE,
  })

  expect(stderr).toBe("")
  expect(JSON.parse(stdout)).toEqual({
    threads: "Hello, Ada, 1000 items",
    sockets: "Hello, Ada, 1000 items",
  })
})
