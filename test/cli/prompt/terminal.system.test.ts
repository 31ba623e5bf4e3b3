// What a person sees: the real program in a real terminal.
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { program } from "../../sources/mcp/support/program.ts"
import { startServe } from "../support/served.ts"
import { provideTmux, Screen } from "../../support/tmux.ts"
import { waitFor } from "../../support/wait-for.ts"

const root = resolve(import.meta.dirname, "../../..")
const OPERATIONS = join(root, "test/fixtures/cli/operations")
const PROGRAM = [process.execPath, program(join(root, "src/cli/bin.ts"))]

const hasTmux = await provideTmux()
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "operations-terminal-"))
})

afterAll(async () => {
  await rm(folder, { recursive: true })
})

function start(...args: readonly string[]): Promise<Screen> {
  const [command = "", ...rest] = args
  return Screen.open([...PROGRAM, command, "--scan", OPERATIONS, ...rest], { cwd: root })
}

describe.runIf(hasTmux)("operations list on a narrow terminal", () => {
  test("has rows that fit, in plain words", async () => {
    const argv = [...PROGRAM, "list", "task", "--scan", OPERATIONS]
    await using screen = await Screen.open(argv, { cwd: root, columns: 44 })
    const text = await screen.until("exit 0")
    expect(text).toMatch(/^task\.create +mutation +Creates a task$/m)
    expect(text).toMatch(
      /^task\.findTasksOfOwnerByState\n {2}query {2}Finds the tasks of an owner & thei…$/m,
    )
  })
})

const ORDER = `export default [{
  namespace: "shop",
  name: "order",
  version: "1.0.0",
  type: "mutation",
  description: "Places an order",
  accessControl: { requiredScopes: [] },
  inputSchema: ${JSON.stringify(
    objectOf({
      customer: objectOf({
        address: objectOf({ street: { type: "string", description: "Where it goes" } }),
      }),
      items: {
        type: "array",
        items: objectOf({ sku: { type: "string", description: "What is ordered" } }),
      },
    }),
  )},
  outputSchema: {},
  handler: () => null,
}]`

function objectOf(properties: Readonly<Record<string, unknown>>): object {
  return { type: "object", properties, required: Object.keys(properties) }
}

/** A configuration with sources that fail, one of them for want of a variable, and its folder. */
async function failing(): Promise<{ cwd: string; env: Record<string, string> }> {
  const cwd = await mkdtemp(join(folder, "failing-"))
  const sources = {
    api: { openapi: "./nowhere.json" },
    keyed: { openapi: "http://127.0.0.1:1/api.json", auth: "${env:NO_SUCH_KEY}" },
    tasks: { scan: OPERATIONS },
    shop: { scan: "./shop" },
  }
  await mkdir(join(cwd, "shop"))
  await writeFile(join(cwd, "shop/shop.mjs"), ORDER)
  await writeFile(join(cwd, "operations.config.json"), JSON.stringify({ sources }))
  return { cwd, env: { OPERATIONS_TRUST: "1", XDG_STATE_HOME: join(cwd, "state") } }
}

describe.runIf(hasTmux)("sources that failed, on a terminal", () => {
  test("are one line before what a command prints", async () => {
    const options = await failing()
    const argv = [...PROGRAM, "list", "task", "--config", "operations.config.json"]
    await using screen = await Screen.open(argv, options)
    const text = await screen.until("exit 0")
    // Above it may stand that a source takes long to open.
    expect(text).toMatch(/^2 sources failed: api, keyed\. See why: .* doctor\ntask\./m)
    expect(text.match(/failed/g)).toHaveLength(1)
  })

  test("are tried again where serve says so, and not without a variable", async () => {
    const options = await failing()
    const argv = [...PROGRAM, "serve", "--config", "operations.config.json", "--port", "0"]
    await using screen = await Screen.open(argv, { ...options, columns: 250 })
    const text = await screen.until("Ctrl-C stops it.")
    expect(text).toMatch(/^✗ api {4}.*nowhere\.json.* It is tried again\.$/m)
    expect(text).toMatch(/^✗ keyed {2}.*NO_SUCH_KEY.* set it, then restart\.$/m)
    await screen.press("C-c")
    await screen.until(/exit \d+/)
  })
})

describe.runIf(hasTmux)("operations describe on a terminal", () => {
  test("lists inputs to their full depth", async () => {
    const argv = [
      ...PROGRAM,
      "describe",
      "shop.order",
      "--config",
      "operations.config.json",
      "--quiet",
    ]
    await using screen = await Screen.open(argv, await failing())
    const text = await screen.until("exit 0")
    expect(text).toMatch(/^ {2}customer +object$/m)
    expect(text).toMatch(/^ {2}customer\.address\.street +string +Where it goes$/m)
    expect(text).toMatch(/^ {2}items\[\]\.sku +string +What is ordered$/m)
  })
})

describe.runIf(hasTmux)("the completion of a shell", () => {
  test("offers the names of inputs, also inside of objects", async () => {
    const { cwd, env } = await failing()
    const bin = join(cwd, "bin")
    await mkdir(bin)
    const [node = "", script = ""] = PROGRAM
    const shim = `#!/bin/sh\nexec '${node}' '${script}' "$@"\n`
    await writeFile(join(bin, "operations"), shim, { mode: 0o755 })
    const path = `${bin}:${process.env["PATH"]}`
    const shell = ["env", `PATH=${path}`, "bash", "--norc", "--noprofile", "-i"]
    await using screen = await Screen.open(shell, { cwd, env })
    await screen.type('eval "$(operations completion bash)" && echo loaded')
    await screen.until(/^loaded$/m)
    await screen.type("operations describe shop.order && echo remembered")
    await screen.until(/^remembered$/m)
    await screen.write("operations call shop.order customer.addr")
    await screen.press("Tab")
    const completed = "call shop.order customer.address.street="
    expect(await screen.until(completed)).toContain(completed)
  })
})

describe.runIf(hasTmux)("operations call on a terminal", () => {
  test("prints JSON in colours by type", async () => {
    await using screen = await start("call", "task.findTasksOfOwnerByState", "owner=Ada")
    await screen.until("exit 0")
    const text = await screen.colours()
    const colourOf = (token: string): string | undefined => {
      const [before] = text.split(token)
      return before === text ? undefined : before?.slice(before.lastIndexOf("\u001B["))
    }
    expect(colourOf('"sort"')).toBeDefined()
    expect(colourOf('"title"')).toBeDefined()
    expect(colourOf('"title"')).not.toBe(colourOf('"sort"'))
  })

  test("asks for each missing input in its own way, and calls", async () => {
    await using screen = await start("call", "task.create", "note=typed")

    await screen.until(/title: What is to be done \(text\)\n>/)
    await screen.type("ab")
    await screen.until("must be at least 3 characters")
    await screen.type("Buy milk")

    const choices = await screen.until("1-3>")
    expect(choices).toMatch(
      /priority: How urgent it is \(one of these\)\n {2}1\) low\n {2}2\) normal\n {2}3\) high\n1-3>/,
    )
    await screen.type("7")
    await screen.until('"7" is none of them. Type a number from 1 to 3.')
    await screen.type("2")

    await screen.until(/hours: How long it takes \(whole number\)\n>/)
    await screen.type("many")
    await screen.until("must be integer, got string")
    await screen.type("0")
    await screen.until("must be >= 1")
    await screen.type(" 2 ")

    await screen.until(/urgent: \(yes or no\)\ny\/n>/)
    await screen.type("perhaps")
    await screen.until("Type y or n.")
    await screen.type("y")

    await screen.until(/labels: \(one a line, an empty line ends\)\n>/)
    await screen.type("home")
    await screen.type("größe")
    await screen.press("Enter")

    await screen.until(/owner\.name: Who does it \(text\)\n>/)
    await screen.type("Ada")

    const text = await screen.until("exit 0")
    const json = text.slice(text.indexOf("{\n"), text.lastIndexOf("}") + 1)
    expect(JSON.parse(json)).toEqual({
      created: {
        note: "typed",
        title: "Buy milk",
        priority: "normal",
        hours: 2,
        urgent: true,
        labels: ["home", "größe"],
        owner: { name: "Ada" },
      },
    })
  })

  test("asks for what has no default, and takes the rest", async () => {
    await using screen = await start("call", "task.findTasksOfOwnerByState")
    await screen.until(/owner: Whose tasks \(text\)\n>/)
    await screen.type("Ada")
    const text = await screen.until("exit 0")
    expect(text).not.toContain("sort:")
    expect(text).toContain(`"sort": "title"`)
  })

  test("shows progress in place, and a list of objects as a table", async () => {
    await using screen = await start("call", "live.steps")
    await screen.until(/█{10}░{10} 1\/2 Half \d/)
    await screen.until(/█{20} 2\/2 Done \d/)
    const text = await screen.until("exit 0")
    expect(text).not.toContain("Half")
    expect(text).not.toContain("Done")
    expect(text).toMatch(/^name {3}age {2}tags\nAda {4}36 {3}\["a", "b"\]\nGrace {2}85\n/m)
  })

  test("what is hidden is nowhere to be seen", async () => {
    await using screen = await start("call", "task.signIn")
    await screen.until(/password: Your password \(hidden\)\n>/)
    await screen.type("canary-7531")
    expect(await screen.until("exit 0")).toContain("11 characters")
    expect(await screen.text()).not.toContain("canary")
  })

  test("the tab key completes a choice", async () => {
    await using screen = await start(
      ...["call", "task.create", "title=abc", "hours=1", "urgent=true"],
      ...["labels[]=x", "owner.name=Ada"],
    )
    await screen.until("1-3>")
    await screen.press("n", "Tab")
    await screen.until("1-3> normal")
    await screen.press("Enter")
    expect(await screen.until("exit 0")).toContain('"priority": "normal"')
  })

  test("Ctrl-C at a question ends with 130, and calls nothing", async () => {
    await using screen = await start("call", "task.create")
    await screen.until("title:")
    await screen.press("C-c")
    expect(await screen.until(/exit \d+/)).toMatch(/exit 130$/)
    expect(await screen.text()).not.toContain("created")
  })

  test("Ctrl-D at a question is a command without an answer", async () => {
    await using screen = await start("call", "task.signIn")
    await screen.until(/password.*\n>/)
    await screen.press("C-d")
    expect(await screen.until(/exit \d+/)).toMatch(/Nothing more was typed[^]*exit 2$/)
  })

  test("Ctrl-C while the operation runs ends with 130", async () => {
    await using screen = await start("call", "live.wait")
    await screen.until("1 Waiting")
    await screen.press("C-c")
    expect(await screen.until(/exit \d+/)).toMatch(/exit 130$/)
  })

  test("--no-input asks nothing and lists what is missing", async () => {
    await using screen = await start("call", "task.create", "--no-input", "title=x")
    const text = await screen.until("exit 2")
    expect(text).toContain('Input for "task.create" is invalid:')
    expect(text).toContain("  /title must be at least 3 characters")
    expect(text).toContain("  /owner is required")
    expect(text.replaceAll("\n", " ")).toMatch(/See what it takes: .* describe .*task\.create/)
  })

  test("what the operation asks is answered at the terminal", async () => {
    await using screen = await start("call", "live.ask")
    const asked = await screen.until("Answer it? y/n>")
    expect(asked).toContain("1/2 Thinking")
    expect(asked).toContain("The operation asks: Who are you?")
    await screen.type("y")
    await screen.until(/name: Your name \(text\)\n>/)
    await screen.type("Ada")
    await screen.until(/colour: \(one of these, optional\)/)
    await screen.press("Enter")
    await screen.until(/age: \(whole number, optional\)/)
    await screen.type("36")
    const text = await screen.until("exit 0")
    expect(text).toMatch(/"action": "accept"[^]*"name": "Ada"[^]*"age": 36/)
    expect(text).not.toContain('"colour"')
  })

  test("a question can be declined, and Ctrl-C at one ends the call", async () => {
    await using declining = await start("call", "live.ask")
    await declining.until("Answer it? y/n>")
    await declining.type("n")
    expect(await declining.until("exit 0")).toContain('"action": "decline"')

    await using stopping = await start("call", "live.ask")
    await stopping.until("Answer it? y/n>")
    await stopping.press("C-c")
    expect(await stopping.until(/exit \d+/)).toMatch(/exit 130$/)
  })
})

describe.runIf(hasTmux)("questions of a running operation", () => {
  test("Ctrl-C at one shows no other, and ends with 130", async () => {
    await using screen = await start("call", "live.insist")
    await screen.until(/Question \d\?\nAnswer it\? y\/n>/)
    await screen.press("C-c")
    const text = await screen.until(/exit \d+/)
    expect(text).toMatch(/exit 130$/)
    expect(text.match(/Answer it\?/g)).toHaveLength(1)
  })

  test("progress and the result wait for the answer", async () => {
    const done = join(folder, "done")
    await using screen = await start("call", "live.hurry", `done=${done}`)
    await screen.until("Tell it? y/n>")
    await waitFor(() => readFile(done))
    expect(await screen.text()).toMatch(/Tell it\? y\/n>$/)
    expect(await screen.text()).not.toContain("Working")
    await screen.type("n")
    expect(await screen.until(/exit \d+/)).toMatch(/Tell it\? y\/n> n\nthe result\n\nexit 0$/)
  })
})

describe.runIf(hasTmux)("operations call of a hub on a terminal", () => {
  test("asks what the operation asks", async () => {
    await using hub = await startServe(["--scan", OPERATIONS, "--port", "0"])
    await using screen = await Screen.open([...PROGRAM, "call", "--hub", hub.url, "live.ask"], {
      cwd: root,
    })
    const asked = await screen.until("Answer it? y/n>")
    expect(asked).toContain("1/2 Thinking")
    expect(asked).toContain("The operation asks: Who are you?")
    await screen.type("y")
    await screen.until(/name: Your name \(text\)\n>/)
    await screen.type("Ada")
    await screen.until(/colour: \(one of these, optional\)/)
    await screen.press("Enter")
    await screen.until(/age: \(whole number, optional\)/)
    await screen.press("Enter")
    expect(await screen.until("exit 0")).toMatch(/"action": "accept"[^]*"name": "Ada"/)

    await using stopping = await Screen.open([...PROGRAM, "call", "--hub", hub.url, "live.ask"], {
      cwd: root,
    })
    await stopping.until("Answer it? y/n>")
    await stopping.press("C-c")
    expect(await stopping.until(/exit \d+/)).toMatch(/exit 130$/)
  })
})

describe.runIf(hasTmux)("an MCP server that asks", () => {
  test("is answered at the terminal", async () => {
    const server = join(root, "node_modules/@modelcontextprotocol/server-everything/dist/index.js")
    await using screen = await Screen.open(
      [...PROGRAM, "call", "--mcp", `${process.execPath} ${server}`, "trigger-elicitation-request"],
      { cwd: root },
    )
    // It asks for folders as well, sooner or later.
    for (let asked = 1; ; asked++) {
      const text = await screen.until(new RegExp(`(?:y/n>[^]*){${asked}}|exit \\d+`))
      if (/exit \d+/.test(text)) break
      await screen.type("n")
    }
    const text = await screen.text()
    expect(text).toContain("Answer it? y/n> n")
    expect(text).toMatch(/declined[^]*exit 0$/)
  })
})

describe.runIf(hasTmux)("operations watch on a terminal", () => {
  test("prints items as they come, and Ctrl-C stops the producer", async () => {
    const stopped = join(folder, "stopped")
    await using screen = await start("watch", "live.ticks", "first=1")
    await screen.until(/stopped: The file to write when it is stopped \(text\)\n>/)
    await screen.type(stopped)
    const text = await screen.until('{"tick":4}')
    expect(text).toContain(String.raw`tick 1\nof many`)
    await screen.press("C-c")
    expect(await screen.until(/exit \d+/)).toMatch(/exit 0$/)
    expect(await readFile(stopped, "utf8")).toBe("stopped")
  })
})
