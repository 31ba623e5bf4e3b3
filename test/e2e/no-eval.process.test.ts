import { execFile } from "node:child_process"
import { resolve } from "node:path"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { program } from "../sources/mcp/support/program.ts"

const run = promisify(execFile)

test("everything is right where code cannot be made from strings", async () => {
  const script = program(resolve(import.meta.dirname, "../support/no-eval-run.ts"))
  const flag = "--disallow-code-generation-from-strings"
  const { stdout } = await run(process.execPath, [flag, script])
  expect(JSON.parse(stdout)).toEqual({
    isForbidden: true,
    result: { n: 1, list: [] },
    refused: `Input for "a.b" is invalid: /n must be number, got string.`,
    verdicts: [true, false, true, false, false],
    faults: [{ path: "/c", message: expect.any(String) }],
  })
})
