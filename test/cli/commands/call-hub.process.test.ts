// `call` and `watch` as processes with pipes, against a hub in another process.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { root } from "../../support/manifest.ts"
import { operations, shell } from "../support/child.ts"
import { startServe } from "../support/served.ts"
import type { Served } from "../support/served.ts"
import { PATIENCE } from "../../support/patience.ts"

let folder: string
let hub: Served
let env: Record<string, string>

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "operations-hub-"))
  hub = await startServe(["--scan", join(root, "test/fixtures/cli/operations"), "--port", "0"])
  env = { OPERATIONS_HUB: hub.url }
})

afterAll(async () => {
  await hub[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

/** Waits until a producer in the hub has said that it was stopped. */
async function written(path: string): Promise<string> {
  const end = Date.now() + PATIENCE
  for (;;) {
    const text = await readFile(path, "utf8").catch(() => "")
    if (text !== "") return text
    if (Date.now() > end) throw new Error(`Nothing was written to ${path}.`)
    await sleep(50)
  }
}

describe("operations call, of a hub elsewhere", () => {
  test("reads stdin, writes the result to a pipe", async () => {
    const line = `printf %s '{"text":"from a pipe"}' | operations call task.text -i - | tr a-z A-Z`
    expect(await shell(line, { env, cwd: folder })).toMatchObject({
      code: 0,
      stdout: "FROM A PIPE\n",
      stderr: "",
    })
  })

  test("bytes survive the way", async () => {
    const line = "operations call task.bytes > out.bin"
    expect(await shell(line, { env, cwd: folder })).toMatchObject({ code: 0, stderr: "" })
    expect(await readFile(join(folder, "out.bin"))).toEqual(Buffer.from([0, 255, 27, 10]))
  })

  test("--json prints one envelope, or an error as one JSON line on stderr", async () => {
    await writeFile(join(folder, "input.json"), '{"text":"x"}')
    const args = ["call", "task.text", "--input", "input.json", "--json"]
    const { code, stdout } = await operations(args, { env, cwd: folder })
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ data: "x", meta: { source: "local" } })
    const failed = await operations(["call", "task.create", "--json"], { env })
    expect(failed).toMatchObject({ code: 2, stdout: "" })
    expect(JSON.parse(failed.stderr)).toMatchObject({ error: { code: "VALIDATION_ERROR" } })
  })

  test("issues by path, failures and unknown names are reported as for local calls", async () => {
    const wrong = await operations(["call", "task.create", "hours=0"], { env })
    expect(wrong.code).toBe(2)
    expect(wrong.stderr).toContain("  /hours must be >= 1\n")
    const failed = await operations(["call", "task.fail"], { env })
    expect(failed.code).toBe(1)
    expect(failed.stderr).not.toBe("")
    const unknown = await operations(["call", "task.txt"], { env })
    expect(unknown.code).toBe(2)
    expect(unknown.stderr).toContain('Did you mean "task.text"?')
  })

  test("an unreachable hub is reported", async () => {
    const args = ["call", "--hub", "http://127.0.0.1:9", "task.text"]
    const { code, stdout, stderr } = await operations(args)
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
    expect(stderr).toContain("http://127.0.0.1:9")
  })
})

describe("operations watch, of a hub elsewhere", () => {
  test("a reader that has enough stops the producer", async () => {
    const stopped = join(folder, "head")
    const line = `operations watch live.ticks stopped=${stopped} first=2 --data | head -n 2`
    const { stdout, stderr } = await shell(line, { env })
    expect({ stdout, stderr }).toEqual({ stdout: '{"tick":2}\n"tick 3\\nof many"\n', stderr: "" })
    expect(await written(stopped)).toBe("stopped")
  })

  test("SIGINT stops the producer and is no failure", async () => {
    const stopped = join(folder, "sigint")
    const { code, stderr } = await operations(["watch", "live.ticks", `stopped=${stopped}`], {
      env,
      onStart: (child) => child.stdout?.once("data", () => child.kill("SIGINT")),
    })
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    expect(await written(stopped)).toBe("stopped")
  })

  test("--json is an envelope a line", async () => {
    const args = ["watch", "live.ticks", `stopped=${join(folder, "json")}`, "-n", "2", "--json"]
    const { code, stdout } = await operations(args, { env })
    expect(code).toBe(0)
    const lines = stdout.trimEnd().split("\n")
    expect(lines.map((line) => (JSON.parse(line) as { data: unknown }).data)).toEqual([
      "tick 1\nof many",
      { tick: 2 },
    ])
  })
})
