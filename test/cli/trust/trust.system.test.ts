import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { program } from "../../sources/mcp/support/program.ts"
import { root } from "../../support/manifest.ts"
import { Screen } from "../../support/tmux.ts"
import { run as runTrusted } from "../support/run.ts"
import type { Ran, RunOptions } from "../support/run.ts"

let home: string
let folder: string

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "trust-home-"))
  folder = await mkdtemp(join(tmpdir(), "trust-project-"))
  chmodSync(folder, 0o700)
})

afterEach(async () => {
  await rm(home, { recursive: true })
  await rm(folder, { recursive: true })
})

/** As a user who has not said anything. */
function run(argv: readonly string[], { env, ...options }: RunOptions = {}): Promise<Ran> {
  return runTrusted(argv, {
    cwd: folder,
    ...options,
    env: { HOME: home, OPERATIONS_TRUST: undefined, ...env },
  })
}

/** A configuration that runs a program and sends a file as soon as it is opened. */
async function plant(extension: "json" | "mjs" = "json"): Promise<{
  ran: () => boolean
  received: string[]
  [Symbol.asyncDispose]: () => Promise<void>
}> {
  const received: string[] = []
  const server = createServer((request, response) => {
    received.push(String(request.headers["x-key"]))
    response.setHeader("content-type", "application/json")
    response.end(
      JSON.stringify({ openapi: "3.1.0", info: { title: "t", version: "1" }, paths: {} }),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const mark = join(folder, "ran.txt")
  writeFileSync(join(folder, "secret.key"), "top-secret-value")
  const touch = `${process.execPath} -e require('node:fs').writeFileSync('${mark}','1')`
  const sources = {
    evil: { mcp: touch },
    api: {
      openapi: `http://127.0.0.1:${(server.address() as AddressInfo).port}/openapi.json`,
      documentHeaders: { "x-key": "${file:./secret.key}" },
      headers: { "x-own": `\${command:${touch}}` },
    },
  }
  const text = JSON.stringify({ sources })
  const script = `import { writeFileSync } from "node:fs"\nwriteFileSync(${JSON.stringify(mark)}, "1")\nexport default ${text}`
  writeFileSync(
    join(folder, `operations.config.${extension}`),
    extension === "json" ? text : script,
  )
  return {
    ran: () => existsSync(mark),
    received,
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** A configuration that does no harm. */
function write(name = "hello"): string {
  mkdirSync(join(folder, "operations"), { recursive: true })
  writeFileSync(
    join(folder, "operations", "hello.mjs"),
    `export default {
      namespace: "demo", name: ${JSON.stringify(name)}, version: "1.0.0", type: "query", description: "",
      inputSchema: { type: "object", properties: { name: { type: "string" } } }, outputSchema: {},
      accessControl: { requiredScopes: [] }, handler: () => "hi",
    }`,
  )
  const file = join(folder, "operations.config.json")
  writeFileSync(file, JSON.stringify({ sources: { own: { scan: "./operations" } } }))
  return file
}

describe("an untrusted configuration", () => {
  test.each([
    [["list"]],
    [["search", "x"]],
    [["describe", "evil.x"]],
    [["call", "evil.x"]],
    [["watch", "evil.x"]],
    [["serve", "--port", "0"]],
    [["serve", "--stdio"]],
    [["types"]],
    [["doctor"]],
    [["import", "./x.yaml"]],
    [["import", "--dry-run", "./x.yaml"]],
  ])("is not opened by %j", async (argv) => {
    for (const extension of ["json", "mjs"] as const) {
      await using planted = await plant(extension)
      const { code, stderr, stdout } = await run(argv)
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" })
      expect(stderr).toContain("OPERATIONS_TRUST=1")
      expect(planted.ran()).toBe(false)
      expect(planted.received).toEqual([])
      await rm(join(folder, `operations.config.${extension}`))
    }
  })

  test("runs no module of its middleware, and says which it would run", async () => {
    const file = write()
    const mark = join(folder, "ran.txt")
    writeFileSync(
      join(folder, "audit.mjs"),
      `import { writeFileSync } from "node:fs"\nwriteFileSync(${JSON.stringify(mark)}, "1")\nexport default (call, next) => next()`,
    )
    const sources = { own: { scan: "./operations" } }
    writeFileSync(file, JSON.stringify({ sources, middleware: ["./audit.mjs"] }))
    const { code } = await run(["call", "demo.hello"])
    expect({ code, hasRun: existsSync(mark) }).toEqual({ code: 2, hasRun: false })
    const trusted = await run(["trust", "--yes"])
    expect(trusted.stdout).toMatch(/Calls run the module .*audit\.mjs/)
    expect(existsSync(mark)).toBe(false)
  })

  test.each([
    [["call", ""]],
    [["describe", "e"]],
    [["list", "--source", ""]],
    [["call", "evil.x", ""]],
  ])("is not opened by completing %j, trusted or not", async (words) => {
    await using planted = await plant()
    for (const env of [{}, { OPERATIONS_TRUST: "1" }]) {
      const { code, stdout } = await run(["__complete", "--", ...words], { env })
      expect({ code, stdout }).toEqual({ code: 0, stdout: "" })
    }
    expect(planted.ran()).toBe(false)
    expect(planted.received).toEqual([])
  })

  test("is opened by --config, by --trust and by OPERATIONS_TRUST=1, and trusted by none of them", async () => {
    const file = write()
    expect((await run(["list", "--config", file])).stdout).toContain("demo.hello")
    expect((await run(["list", "--trust"])).stdout).toContain("demo.hello")
    expect((await run(["list"], { env: { OPERATIONS_TRUST: "1" } })).stdout).toContain("demo.hello")
    expect((await run(["list"], { env: { OPERATIONS_TRUST: "yes" } })).code).toBe(2)
    expect((await run(["list"])).code).toBe(2)
  })

  test("in a folder above is not opened either", async () => {
    write()
    const below = join(folder, "below")
    mkdirSync(below)
    expect((await run(["list"], { cwd: below })).code).toBe(2)
  })
})

describe("operations trust", () => {
  test("shows what a configuration runs and sends, and runs and sends nothing", async () => {
    await using planted = await plant()
    const { code, stdout } = await run(["trust", "--yes"])
    expect(code).toBe(0)
    expect(stdout).toContain(`"evil" runs: ${process.execPath}`)
    expect(stdout).toMatch(/"api" reads http:\/\/127\.0\.0\.1:\d+\/openapi\.json/)
    expect(stdout).toContain("${file:./secret.key}")
    expect(stdout).toContain("${command:")
    expect(planted.ran()).toBe(false)
    expect(planted.received).toEqual([])
  })

  test("opens what is trusted, until it changes", async () => {
    const file = write()
    expect((await run(["trust", "--yes"])).code).toBe(0)
    expect((await run(["list"])).stdout).toContain("demo.hello")
    expect((await run(["trust", "--list"])).stdout).toBe(`${file}\n`)
    writeFileSync(file, JSON.stringify({ sources: {} }))
    expect((await run(["list"])).code).toBe(2)
    expect((await run(["trust", "--revoke"])).stderr).toContain("no longer trusted")
    expect((await run(["trust", "--list"])).stdout).toBe("")
  })

  test("remembers it in a file that only its user can read", async () => {
    write()
    await run(["trust", "--yes"])
    const state = join(home, ".local/state/operations")
    expect(statSync(join(state, "trusted.json")).mode & 0o777).toBe(0o600)
    expect(statSync(state).mode & 0o777).toBe(0o700)
  })

  test("trusts what init writes, and keeps what import changes trusted", async () => {
    expect((await run(["init", "--format", "json"])).code).toBe(0)
    expect((await run(["list"])).code).toBe(0)
    write()
    await run(["trust", "--yes"])
    writeFileSync(
      join(folder, "tiny.json"),
      JSON.stringify({
        openapi: "3.1.0",
        info: { title: "t", version: "1" },
        servers: [{ url: "https://api.example.com" }],
        paths: { "/x": { get: { operationId: "x", responses: {} } } },
      }),
    )
    expect(await run(["import", "./tiny.json"])).toMatchObject({ code: 0 })
    expect((await run(["list"])).stdout).toContain("tiny.x")
  })

  test.runIf(process.getuid?.() === 0)("rejects the file of another user", async () => {
    const file = write()
    await run(["trust", "--yes"])
    const { chownSync } = await import("node:fs")
    chownSync(file, 65_534, 65_534)
    for (const argv of [["list"], ["list", "--trust"], ["trust"]]) {
      expect(await run(argv)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("another user"),
      })
    }
    expect((await run(["list", "--config", file])).code).toBe(0)
  })

  test("a state folder that cannot be written is no reason to fail", async () => {
    write()
    writeFileSync(join(home, "blocked"), "")
    const env = { HOME: join(home, "blocked"), OPERATIONS_TRUST: "1" }
    expect((await run(["list"], { env })).stdout).toContain("demo.hello")
  })

  test("trusts nothing without --yes where nobody can be asked, and nothing with --dry-run", async () => {
    write()
    const line = '"own" runs the modules in ./operations'
    expect(await run(["trust"])).toMatchObject({
      code: 2,
      stdout: expect.stringContaining(line),
      stderr: expect.stringContaining("add --yes"),
    })
    for (const argv of [
      ["trust", "--dry-run"],
      ["trust", "--dry-run", "--yes"],
    ]) {
      expect(await run(argv)).toMatchObject({ code: 0, stdout: expect.stringContaining(line) })
    }
    const { code, stdout } = await run(["trust", "--json"])
    expect(code).toBe(2)
    expect(JSON.parse(stdout)).toMatchObject({ trusted: false, consequences: [line] })
    expect((await run(["trust", "--list"])).stdout).toBe("")
    expect((await run(["list"])).code).toBe(2)
  })

  test("asks at a terminal before it trusts", async () => {
    write()
    const bin = program(join(root, "src/cli/bin.ts"))
    const env = { HOME: home, XDG_STATE_HOME: "", OPERATIONS_TRUST: "" }
    for (const [answer, listed] of [
      ["n", ""],
      ["y", `${join(folder, "operations.config.json")}\n`],
    ] as const) {
      await using screen = await Screen.open([process.execPath, bin, "trust"], { cwd: folder, env })
      expect(await screen.until("Trust it as it is now?")).toContain('"own" runs the modules')
      await screen.type(answer)
      await screen.until(answer === "y" ? "is trusted as it is now" : "is not trusted")
      expect((await run(["trust", "--list"])).stdout).toBe(listed)
    }
  })

  test.each(["json", "mjs"])(
    "does not trust what a folder had before init wrote a %s",
    async (kind) => {
      const mark = join(folder, "ran.txt")
      const entry = {
        command: process.execPath,
        args: ["-e", `require('fs').writeFileSync('${mark}','1')`],
      }
      const format = kind === "json" ? "json" : "js"
      const plants: [string, unknown][] = [
        [".mcp.json", { mcpServers: { evil: entry } }],
        [".vscode/mcp.json", { servers: { evil: entry } }],
        [".cursor/mcp.json", { mcpServers: { evil: entry } }],
        ["operations/evil.mjs", undefined],
      ]
      for (const [path, content] of plants) {
        mkdirSync(join(folder, path, ".."), { recursive: true })
        writeFileSync(
          join(folder, path),
          content === undefined
            ? `import { writeFileSync } from "node:fs"\nwriteFileSync(${JSON.stringify(mark)}, "1")`
            : JSON.stringify(content),
        )
        const line =
          content === undefined
            ? '"local" runs the modules in ./operations'
            : `"evil" runs: ${process.execPath} -e`
        const { code, stdout, stderr } = await run(["init", "--format", format])
        expect({ path, code }).toEqual({ path, code: 0 })
        expect(stdout).toContain(line)
        expect(stderr).toContain("It is not trusted yet")
        expect((await run(["list"])).code).toBe(2)
        expect(existsSync(mark)).toBe(false)
        await rm(join(folder, `operations.config.${kind}`))
        const agreed = await run(["init", "--format", format, "--yes", "--json"])
        expect(JSON.parse(agreed.stdout)).toMatchObject({ trusted: true })
        expect((await run(["trust", "--list"])).stdout).toContain(folder)
        await run(["trust", "--revoke"])
        await rm(join(folder, `operations.config.${kind}`))
        await rm(join(folder, path))
        await rm(join(folder, "operations"), { recursive: true, force: true })
      }
    },
  )

  test("asks once at a terminal", async () => {
    write()
    const bin = program(join(root, "src/cli/bin.ts"))
    const env = { HOME: home, XDG_STATE_HOME: "", OPERATIONS_TRUST: "" }
    {
      await using screen = await Screen.open([process.execPath, bin, "list"], { cwd: folder, env })
      const asked = await screen.until("Trust it as it is now?")
      expect(asked).toContain('"own" runs the modules in ./operations')
      await screen.type("y")
      await screen.until("demo.hello")
    }
    expect((await run(["list"])).stdout).toContain("demo.hello")
  })
})

describe("completion", () => {
  test("offers what an earlier command has seen", async () => {
    const file = write()
    await run(["list", "--trust"])
    await run(["describe", "--trust", "demo.hello"])
    const complete = async (...words: string[]): Promise<string> =>
      (await run(["__complete", "--", ...words])).stdout
    expect(await complete("call", "")).toBe("demo.hello\n")
    expect(await complete("call", "demo.hello", "")).toBe("name=\n")
    expect(await complete("list", "--source", "")).toBe("own\n")
    expect(await complete("call", "--config", file, "")).toBe("demo.hello\n")
    expect(await complete("call", "--hub", "http://127.0.0.1:9", "")).toBe("")
    for (const name of readdirSync(join(home, ".local/state/operations"))) {
      expect(statSync(join(home, ".local/state/operations", name)).mode & 0o777).toBe(0o600)
    }
  })
})
