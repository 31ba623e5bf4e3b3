import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { expect, test } from "vitest"

const run = promisify(execFile)

test("everything is right where code cannot be made from strings", async () => {
  const script = fileURLToPath(new URL("../support/no-eval-run.ts", import.meta.url))
  const { stdout } = await run(process.execPath, [
    "--disallow-code-generation-from-strings",
    "--import",
    "tsx",
    script,
  ])
  expect(JSON.parse(stdout)).toEqual({
    isForbidden: true,
    result: { n: 1, list: [] },
    refused: `Input for "a.b" is invalid: /n must be number, got string.`,
    verdicts: [true, false, true, false, false],
    faults: [{ path: "/c", message: expect.any(String) }],
  })
})
