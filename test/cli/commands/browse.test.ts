import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { COMMANDS } from "../../../src/cli/commands/index.ts"
import { resolveConfig } from "../../../src/config.ts"
import { silentLogger } from "../../../src/testing.ts"
import { createHub, serveHTTP, serveHub } from "../../../src/node.ts"
import type { ServedHTTP } from "../../../src/node.ts"
import { hubRegistry } from "../support/hub-operations.ts"
import { showOperations } from "../../../src/cli/commands/list.ts"
import { run, testIO } from "../support/run.ts"
import type { Ran, RunOptions } from "../support/run.ts"

const registry = hubRegistry()
let served: ServedHTTP

beforeAll(async () => {
  served = await serveHTTP(registry, { port: 0, websocket: false })
})

afterAll(async () => {
  await served.close()
  await registry.close()
})

function onHub(argv: readonly string[], options?: RunOptions): Promise<Ran> {
  return run([...argv, "--hub", served.url], options)
}

describe("operations list", () => {
  test("prints a line each, parted by tabs, for programs", async () => {
    const { code, stdout, stderr } = await onHub(["list", "task"])

    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    expect(stdout).toBe("task.create\tmutation\tCreate a task\ntask.fail\tquery\tFails.\n")
  })

  test("prints columns that fit, and how many there are, for people", async () => {
    const { stdout, stderr } = await onHub(["list"], { columns: 60, env: { NO_COLOR: "1" } })

    expect(stdout).toMatch(/^task\.create {4}mutation {6}Create a task$/m)
    expect(stdout.split("\n").every((line) => line.length <= 60)).toBe(true)
    expect(stderr).toBe("9 operations\n")
  })

  test("prints rows that fit a narrow terminal, and no HTML", async () => {
    const { stdout } = await onHub(["list"], { columns: 40, env: { NO_COLOR: "1" } })

    expect(stdout).toMatch(/^task\.create\n {2}mutation {2}Create a task$/m)
    expect(stdout.split("\n").every((line) => line.length <= 40)).toBe(true)
    expect(stdout).toMatch(/^file\.much\n {2}query {2}So many characters\.$/m)
  })

  test("lets no text of an operation command the terminal", async () => {
    const { stdout } = await onHub(["list", "x"], { columns: 200 })

    expect(stdout).toContain("(deprecated) Looks\\u001b[2J harmless and is\\u202e not.")
    expect(stdout).not.toContain("\u001B[2J")
  })

  test("--json is one value", async () => {
    const { stdout } = await onHub(["list", "--json", "--type", "subscription", "--limit", "1"])

    expect(JSON.parse(stdout)).toMatchObject({ operations: [{ id: "clock.endless" }], total: 2 })
    expect(stdout.trimEnd()).not.toContain("\n")
  })

  test("says when there is more, and when there is nothing", async () => {
    expect((await onHub(["list", "--limit", "2"])).stderr).toBe("7 more: give a larger --limit.\n")
    expect((await onHub(["list", "--limit", "2", "-q"])).stderr).toBe("")
    expect(await onHub(["list", "tas"])).toEqual({
      code: 0,
      stdout: "",
      stderr: 'No operation id is "tas" or starts with "tas.".\n',
    })
  })

  test("a hub that is not there fails the command", async () => {
    const { code, stdout, stderr } = await run(["list", "--hub", "127.0.0.1:9"])

    expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
    expect(stderr).toContain("127.0.0.1:9")
  })
})

test("a row shows the description where the title only repeats the name", () => {
  const io = testIO()
  const row = { type: "query", description: "Adds <b>two</b> numbers" } as const
  const titles = ["Get Sum Tool", "getSum", "Sum of numbers", undefined, ""]
  const rows = titles.map((title) => ({ ...row, id: "calc.get-sum", title }))
  const bare = { ...row, id: "calc.get-sum", title: "Get Sum", description: "" }
  showOperations(io, [...rows, bare], rows.length + 1)
  expect(io.stdout.text.split("\n").map((line) => line.split("\t")[2])).toEqual([
    "Adds two numbers",
    "Adds two numbers",
    "Sum of numbers",
    "Adds two numbers",
    "Adds two numbers",
    "Get Sum",
    undefined,
  ])
})

describe("operations search", () => {
  test("gives the best first", async () => {
    const { code, stdout } = await onHub(["search", "create", "task"])

    expect(code).toBe(0)
    expect(stdout).toMatch(/^task\.create\t/)
  })

  test("finds nothing without failing", async () => {
    const { code, stdout, stderr } = await onHub(["search", "zzzzzz"])

    expect({ code, stdout }).toEqual({ code: 0, stdout: "" })
    expect(stderr).toBe(`Nothing found. See what there is: operations list --hub ${served.url}\n`)
    expect(JSON.parse((await onHub(["search", "zzzzzz", "--json"])).stdout)).toEqual({
      operations: [],
      total: 0,
    })
  })

  test("needs words", async () => {
    expect((await onHub(["search"])).code).toBe(2)
    expect((await onHub(["search", " "])).stderr).toContain("needs words")
  })
})

describe("operations describe", () => {
  test("shows what an operation takes, gives, and how it is called", async () => {
    const { code, stdout } = await onHub(["describe", "create"])

    expect(code).toBe(0)
    expect(stdout).toBe(
      `task.create  mutation, version 1.2.0

Create a task
Writes a task down.

Input:
  title      string          What is to be done
  labels?    string[]
  priority?  "low" | "high"

Output:
  id     integer
  title  string

Errors:
  TASK_EXISTS  There is one

Example:
  operations call --hub ${served.url} task.create title=example
`,
    )
  })

  test("streams are watched", async () => {
    expect((await onHub(["describe", "clock.ticks"])).stdout).toContain(
      `operations watch --hub ${served.url} clock.ticks to=1`,
    )
  })

  test("lets no text command the terminal", async () => {
    const { stdout } = await onHub(["describe", "x.hostile"], { columns: 100 })

    expect(stdout).not.toContain("\u001B[2J")
    expect(stdout).not.toContain("\u001B[31m")
  })

  test("--json has the schemas", async () => {
    const { stdout } = await onHub(["describe", "task.create", "--json"])

    expect(JSON.parse(stdout)).toMatchObject({
      id: "task.create",
      type: "mutation",
      inputSchema: { type: "object", required: ["title"] },
      outputSchema: { properties: { id: { type: "integer" } } },
    })
  })

  test("an unknown operation is reported with a suggestion and where to look", async () => {
    const { code, stdout, stderr } = await onHub(["describe", "task.creat"])

    expect({ code, stdout }).toEqual({ code: 2, stdout: "" })
    expect(stderr).toBe(
      'Operation "task.creat" is not registered. Did you mean "task.create"?\n' +
        `See what there is: operations list --hub ${served.url}\n`,
    )
    const { stderr: json } = await onHub(["describe", "task.creat", "--json"])
    expect(JSON.parse(json)).toMatchObject({ error: { code: "OPERATION_NOT_FOUND" } })
  })
})

describe("completion", () => {
  let home: string
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), "completion-"))
  })
  afterAll(async () => await rm(home, { recursive: true }))

  function complete(...words: string[]): Promise<Ran> {
    return run(["__complete", "--", ...words], { env: { HOME: home } })
  }

  test.each([["bash"], ["zsh"], ["fish"]])("prints a script for %s", async (shell) => {
    const { code, stdout } = await run(["completion", shell])

    expect(code).toBe(0)
    expect(stdout).toContain("__complete --")
  })

  test("knows three shells", async () => {
    const { code, stderr } = await run(["completion", "tcsh"])

    expect(code).toBe(2)
    expect(stderr).toContain("bash, zsh and fish")
  })

  test.each<[string[], string]>([
    [["de"], "describe\n"],
    [["list", "--typ"], "--type\n"],
    [["list", "--type", "q"], "query\n"],
    [["--json", "li"], "list\n"],
    [["list", "--config", ""], ":file\n"],
    [["list", "--scan", ""], ":directory\n"],
    [["completion", ""], "bash\nzsh\nfish\n"],
    [["help", "wa"], "watch\n"],
    [["--vers"], "--version\n"],
    [["nothing", ""], ""],
    [["list", "--broken", "--also", ""], ""],
    [[], `${Object.keys(COMMANDS).join("\n")}\n`],
  ])("offers for %j: %j", async (words, offered) => {
    expect(await complete(...words)).toEqual({ code: 0, stderr: "", stdout: offered })
  })

  test("offers operations, and the names of their inputs", async () => {
    const hub = ["--hub", served.url]
    await run(["list", ...hub], { env: { HOME: home } })
    await run(["describe", ...hub, "task.create"], { env: { HOME: home } })

    expect((await complete("describe", ...hub, "task.")).stdout).toBe("task.create\ntask.fail\n")
    expect((await complete("call", ...hub, "task.create", "")).stdout).toBe(
      "title=\nlabels=\npriority=\n",
    )
    expect((await complete("call", ...hub, "task.create", "ti")).stdout).toBe("title=\n")
  })

  test("offers nothing that a shell could take for a command", async () => {
    await run(["describe", "--hub", served.url, "x.hostile"], { env: { HOME: home } })
    const { stdout } = await complete("call", "--hub", served.url, "x.hostile", "")

    expect(stdout).toBe("")
  })

  test("completion does not fail without a reachable hub", async () => {
    expect(await complete("describe", "--hub", "127.0.0.1:9", "x")).toEqual({
      code: 0,
      stdout: "",
      stderr: "",
    })
  })
})

describe("a source that a hub elsewhere could not open", () => {
  test("is named with the reason by what lists or looks for operations", async () => {
    const sources = { gone: { openapi: "./nowhere.yaml" } }
    const config = resolveConfig({ sources }, { baseDir: import.meta.dirname })
    await using hub = createHub(config, { logger: silentLogger })
    await hub.ready().catch(() => undefined)
    await using there = await serveHub(hub, { port: 0 })
    const reason = /Source "gone" failed: .*nowhere\.yaml/
    for (const argv of [["list"], ["search", "pets"]]) {
      const { code, stderr } = await run([...argv, "--hub", there.url])
      expect(code).toBe(1)
      expect(stderr).toMatch(reason)
    }
    const { stderr } = await run(["describe", "gone.pets", "--hub", there.url])
    expect(stderr).toMatch(/source "gone" could not be opened.*nowhere\.yaml/s)
  })
})
