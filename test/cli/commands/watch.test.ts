import { EventEmitter } from "node:events"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { ResponseEnvelope } from "../../../src/core/envelope.ts"
import { localEnvelope } from "../../../src/core/envelope.ts"
import type { CommandIO } from "../../../src/cli/model.ts"
import { printItem } from "../../../src/cli/result/items.ts"
import { toFile } from "../../../src/type.ts"
import { testIO } from "../support/run.ts"
import { runCommand } from "../../support/command-io.ts"
import type { Ran, RunOptions } from "../../support/command-io.ts"

const root = resolve(import.meta.dirname, "../../..")
const OPERATIONS = join(root, "test/fixtures/cli/operations")

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "operations-watch-"))
})

afterAll(async () => {
  await rm(folder, { recursive: true })
})

function watch(args: readonly string[], options?: RunOptions): Promise<Ran> {
  return runCommand(["watch", "--scan", OPERATIONS, ...args], { cwd: folder, ...options })
}

describe("operations watch", () => {
  test("prints an item a line, and stops the producer at --limit", async () => {
    const stopped = join(folder, "limit")
    const { code, stdout, stderr } = await watch(["live.ticks", `stopped=${stopped}`, "-n", "3"])
    expect(stdout).toBe('tick 1\\nof many\n{"tick":2}\ntick 3\\nof many\n')
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    expect(await readFile(stopped, "utf8")).toBe("stopped")
  })

  test("--json is an envelope a line, --data the data a line", async () => {
    const args = ["live.ticks", `stopped=${join(folder, "json")}`, "first=2", "--limit", "2"]
    const json = await watch([...args, "--json"])
    const lines = json.stdout.trimEnd().split("\n")
    expect(lines.map((line) => (JSON.parse(line) as ResponseEnvelope).data)).toEqual([
      { tick: 2 },
      "tick 3\nof many",
    ])
    expect(JSON.parse(lines[0] as string)).toMatchObject({ meta: { source: "local" } })
    const data = await watch([...args, "--data"])
    expect(data.stdout).toBe('{"tick":2}\n"tick 3\\nof many"\n')
  })

  test("prints an empty line for an item without data, and null only as JSON of the data", async () => {
    const printed: string[] = []
    for (const form of ["people", "data", "envelope"] as const) {
      const io = testIO()
      await printItem(localEnvelope(undefined, "a.b"), form, io)
      printed.push(io.stdout.text)
    }
    const [people, data, envelope = ""] = printed
    expect([people, data]).toEqual(["\n", "null\n"])
    expect(JSON.parse(envelope)).not.toHaveProperty("data")
  })

  test("prints a file as base64 text, though it is a stream", async () => {
    const io = testIO()
    const file = toFile(new Blob(["hello"]).stream(), { name: "a.txt", type: "text/plain" })
    for (const form of ["people", "data", "envelope"] as const) {
      await printItem(localEnvelope(file, "a.b"), form, io)
    }
    const [people, data, envelope = ""] = io.stdout.text.split("\n")
    expect([people, data]).toEqual(['"aGVsbG8="', '"aGVsbG8="'])
    expect(JSON.parse(envelope)).toMatchObject({
      data: "aGVsbG8=",
      binary: { "": { type: "text/plain", name: "a.txt" } },
    })
  })

  test("Ctrl-C stops the producer, and is no failure", async () => {
    const stopped = join(folder, "signal")
    const stop = new AbortController()
    const { code, stdout } = await watch(["live.ticks", `stopped=${stopped}`], {
      signal: stop.signal,
      onOutput: () => stop.abort("SIGINT"),
    })
    expect(code).toBe(0)
    expect(stdout).toBe("tick 1\\nof many\n")
    expect(await readFile(stopped, "utf8")).toBe("stopped")
  })

  test("a signal other than Ctrl-C determines the exit code of watch", async () => {
    const stop = new AbortController()
    const { code } = await watch(["live.ticks", `stopped=${join(folder, "term")}`], {
      signal: stop.signal,
      onOutput: () => stop.abort("SIGTERM"),
    })
    expect(code).toBe(143)
  })

  test("--limit 0 starts nothing", async () => {
    const stopped = join(folder, "none")
    expect(await watch(["live.ticks", `stopped=${stopped}`, "-n", "0"])).toMatchObject({
      code: 0,
      stdout: "",
    })
    await expect(readFile(stopped)).rejects.toThrow("ENOENT")
  })

  test("items before a failure are printed, and the failure is reported", async () => {
    const { code, stdout, stderr } = await watch(["live.breaks"])
    expect({ code, stdout }).toEqual({ code: 1, stdout: "1\n2\n" })
    expect(stderr).toContain("The cable is out.")
  })

  test("says what is wrong with an input by its path", async () => {
    const { code, stderr } = await watch(["live.ticks", "first=x"])
    expect(code).toBe(2)
    expect(stderr).toContain("  /stopped is required\n  /first must be integer, got string\n")
  })

  test.each([
    [
      ["task.text"],
      `"task.text" answers once. Call it: operations call --scan ${OPERATIONS} task.text`,
    ],
    [["live.tiks"], 'Did you mean "live.ticks"?'],
    [["live.ticks", "--limit", "-1"], "--limit"],
    [["live.ticks", "--limit", "some"], "--limit"],
  ])("%j is a wrong command: exit 2 and the cure", async (args, cure) => {
    const { code, stdout, stderr } = await watch(args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" })
    expect(stderr).toContain(cure)
  })
})

describe("printItem", () => {
  test("waits for a slow reader, and no longer than until Ctrl-C", async () => {
    const stop = new AbortController()
    const stdout = Object.assign(new EventEmitter(), { write: () => false })
    const io = { stdout, stderr: stdout, signal: stop.signal, env: {} }
    const write = (data: number): Promise<void> =>
      printItem(localEnvelope(data, "a.b"), "data", io as unknown as CommandIO)
    const first = write(1)
    expect(stdout.listenerCount("drain")).toBe(1)
    stdout.emit("drain")
    await first
    expect(stdout.listenerCount("drain")).toBe(0)
    const second = write(2)
    stop.abort("SIGINT")
    await second
    await write(3)
    expect(stdout.listenerCount("drain")).toBe(0)
  })
})
