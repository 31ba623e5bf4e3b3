import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { describe, expect, test } from "vitest"
import { collectGarbage, growthOf } from "../../tools/scripts/soak/growth.ts"
import { PROCESS_PATIENCE } from "../support/patience.ts"

const ROOT = join(import.meta.dirname, "../..")

function growing(name: string, values: readonly number[]): boolean {
  const [only] = growthOf(values.map((value) => ({ [name]: value })))
  return only?.grows ?? false
}

describe("growthOf", () => {
  test("finds one socket that is left behind every few rounds", () => {
    expect(growing("sockets", [3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5])).toBe(true)
  })

  test("finds a heap that grows by more than it may, and by nothing that is noise", () => {
    const leak = Array.from({ length: 30 }, (_, at) => 60 + at * 0.1 + (at % 3) * 0.2)
    const noise = Array.from({ length: 30 }, (_, at) => 60 + (at % 3) * 0.4)
    expect([growing("heap (MB)", leak), growing("heap (MB)", noise)]).toEqual([true, false])
  })

  test("takes growth that ends, and single samples that stand out, for none", () => {
    expect(growing("sockets", [3, 3, 3, 5, 5, 5, 5, 5, 5])).toBe(false)
    expect(growing("timers", [1, 1, 1, 1, 1, 1, 1, 9, 1])).toBe(false)
  })
})

test("collectGarbage collects what finalizers hold", async () => {
  setFlagsFromString("--expose-gc")
  globalThis.gc ??= runInNewContext("gc") as typeof globalThis.gc
  const finalizers = new FinalizationRegistry<object>(() => undefined)
  const held = Array.from({ length: 100 }, () => {
    const value = {}
    finalizers.register({}, value)
    return new WeakRef(value)
  })
  await collectGarbage()
  expect(held.filter((one) => one.deref() !== undefined)).toEqual([])
})

// In each of which processes start again.
const ROUNDS = 3
// The whole: `npm run soak`, ten minutes.
test(
  "a hub serves all surfaces while its sources break",
  async () => {
    const args = ["--expose-gc", "--import", "tsx", "tools/scripts/soak.ts", "--quick"]
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT })
    expect(stdout).toContain("MCP, single requests")
  },
  ROUNDS * PROCESS_PATIENCE,
)
