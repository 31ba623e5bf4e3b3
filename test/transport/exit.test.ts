import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { expect, test } from "vitest"

test("a program that closes its transports ends by itself, and so does its worker", async () => {
  const script = fileURLToPath(new URL("./exit-run.ts", import.meta.url))

  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ["--import", "tsx", script],
    { timeout: 100_000 },
  )

  expect(stderr).toBe("")
  expect(JSON.parse(stdout)).toEqual({
    threads: "Hello, Ada, 1000 items",
    sockets: "Hello, Ada, 1000 items",
  })
})
