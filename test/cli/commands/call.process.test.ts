import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import type { Server } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { runCommand } from "../../support/command-io.ts"
import type { Ran, RunOptions } from "../../support/command-io.ts"

const root = resolve(import.meta.dirname, "../../..")
const OPERATIONS = join(root, "test/fixtures/cli/operations")
const EVERYTHING = join(root, "node_modules/@modelcontextprotocol/server-everything/dist/index.js")

const GOOD = [
  ...["title=5 a day", "priority=low", "hours=2", "urgent=false"],
  ...["labels[]=a", "labels[]=7", "owner.name=Ada"],
]
const MADE = {
  title: "5 a day",
  priority: "low",
  hours: 2,
  urgent: false,
  labels: ["a", "7"],
  owner: { name: "Ada" },
}

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "operations-call-"))
})

afterAll(async () => {
  await rm(folder, { recursive: true })
})

function call(args: readonly string[], options?: RunOptions): Promise<Ran> {
  return runCommand(["call", "--scan", OPERATIONS, ...args], { cwd: folder, ...options })
}

describe("operations call", () => {
  test("prints the data, and nothing else", async () => {
    const { code, stdout, stderr } = await call(["task.create", ...GOOD])
    expect(JSON.parse(stdout)).toEqual({ created: MADE })
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
  })

  test.each([
    [
      ["--select", "created.title,created.owner.name"],
      { title: "5 a day", owner: { name: "Ada" } },
    ],
    [["--select", "created.hours", "--select=created.labels"], { hours: 2, labels: ["a", "7"] }],
  ])("%j shows these fields of the result", async (more, created) => {
    const { code, stdout } = await call(["task.create", ...GOOD, ...more])
    expect(JSON.parse(stdout)).toEqual({ created })
    expect(code).toBe(0)
  })

  test("--json prints one envelope on a line, --data its data, --envelope both for people", async () => {
    const json = await call(["task.create", ...GOOD, "--json"])
    expect(json.stdout.trimEnd()).not.toContain("\n")
    expect(JSON.parse(json.stdout)).toMatchObject({
      data: { created: MADE },
      meta: { source: "local", operationId: "task.create" },
    })
    for (const more of [["--data"], ["--data", "--json"]]) {
      const { stdout } = await call(["task.create", ...GOOD, ...more])
      expect(stdout).toBe(`${JSON.stringify({ created: MADE })}\n`)
    }
    const envelope = await call(["task.text", "--envelope"])
    expect(JSON.parse(envelope.stdout)).toMatchObject({ data: "Hello", meta: { source: "local" } })
  })

  test("a text is printed as it is, with one line's end", async () => {
    expect((await call(["task.text", "text=a\tb"])).stdout).toBe("a\tb\n")
    expect((await call(["task.text", "text=a\n"])).stdout).toBe("a\n")
    expect((await call(["task.text", "text=true", "--data"])).stdout).toBe('"true"\n')
  })

  test("a terminal gets colours, and no escape sequence of somebody else's", async () => {
    const colours = await call(["task.create", "--no-input", ...GOOD], { isTTY: true })
    expect(colours.stdout).toContain('\u001B[36m"title"\u001B[39m: \u001B[32m"5 a day"\u001B[39m')
    const plain = await call(["task.create", ...GOOD], { isTTY: true, env: { NO_COLOR: "1" } })
    expect(plain.stdout).not.toContain("\u001B")
    const text = await call(["task.text", "text=\u001B[2Jgone"], { isTTY: true })
    expect(text.stdout).toBe("\\u001b[2Jgone\n")
    expect((await call(["task.text", "text=\u001B[2J"])).stdout).toBe("\u001B[2J\n")
  })

  test("no data is no output", async () => {
    const { code, stdout, stderr } = await call(["task.nothing"])
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: "",
      stderr: "Done; there is no data.\n",
    })
    expect((await call(["task.nothing", "--quiet"])).stderr).toBe("")
    expect((await call(["task.nothing", "--data"])).stdout).toBe("null\n")
  })

  test("bytes go to a pipe as they are, to a file, and never to a terminal", async () => {
    const bytes = Buffer.from([0, 255, 27, 10])
    expect((await call(["task.bytes"])).bytes).toEqual(bytes)
    const terminal = await call(["task.bytes"], { isTTY: true })
    expect(terminal.stdout).toBe("")
    expect(terminal.stderr).toContain("4 bytes of bytes. Write it to a file: --output <file>")
    const saved = await call(["task.bytes", "--output", "out.bin"])
    expect(saved).toMatchObject({ code: 0, stdout: "" })
    expect(saved.stderr).toBe(`Wrote 4 bytes to ${join(folder, "out.bin")}\n`)
    expect(await readFile(join(folder, "out.bin"))).toEqual(bytes)
    expect((await call(["task.bytes", "-o", "-"])).bytes).toEqual(bytes)
    expect(JSON.parse((await call(["task.bytes", "--json"])).stdout)).toMatchObject({
      data: "AP8bCg==",
      binary: { "": "Uint8Array" },
    })
  })

  test("--output writes text and JSON, too, and says when it cannot", async () => {
    await call(["task.text", "-o", "out.txt"])
    expect(await readFile(join(folder, "out.txt"), "utf8")).toBe("Hello")
    await call(["task.create", ...GOOD, "-o", "out.json"])
    expect(JSON.parse(await readFile(join(folder, "out.json"), "utf8"))).toEqual({ created: MADE })
    const failed = await call(["task.text", "-o", "none/out.txt"])
    expect(failed.code).toBe(1)
    expect(failed.stderr).toContain('could not be written to "none/out.txt" (ENOENT)')
  })

  test("reads --input and stdin", async () => {
    const rest = { ...MADE, title: "From stdin" }
    const { stdout } = await call(["task.create", "--input", "-", "hours=9", "--data"], {
      stdin: JSON.stringify(rest),
    })
    expect(JSON.parse(stdout)).toEqual({ created: { ...rest, hours: 9 } })
  })

  test("lists issues of the input by path, and exits with 2", async () => {
    const { code, stdout, stderr } = await call(["task.create", "title=x", "hours=1.5", "titel=y"])
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" })
    expect(stderr).toBe(
      [
        '"titel" is not an input that the operation declares. Did you mean "title"?',
        'Input for "task.create" is invalid:',
        "  /priority is required",
        "  /urgent is required",
        "  /labels is required",
        "  /owner is required",
        "  /title must be at least 3 characters",
        "  /hours must be integer, got string",
        "  /titel is not allowed",
        `See what it takes: operations describe --scan ${OPERATIONS} task.create`,
        "",
      ].join("\n"),
    )
    const json = await call(["task.create", "title=x", "--json"])
    expect(json).toMatchObject({ code: 2, stdout: "" })
    expect(JSON.parse(json.stderr)).toMatchObject({
      error: { code: "VALIDATION_ERROR", details: { operationId: "task.create" } },
    })
  })

  test("a failed operation exits with 1", async () => {
    expect(await call(["task.fail"])).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("It does not work on Mondays.") as string,
    })
  })

  test.each([
    [
      ["task.creat", "title=x"],
      'Operation "task.creat" is not registered. Did you mean "task.create"?',
    ],
    [["task.text", "what"], '"what" is not an input. Write key=value'],
    [["task.text", "--inputs", "x"], "--input"],
    [
      ["live.ticks"],
      `"live.ticks" gives a stream. Watch it: operations watch --scan ${OPERATIONS} live.ticks`,
    ],
    [["task.text", "--timeout", "soon"], "--timeout"],
    [[], "call"],
  ])("%j is a wrong command: exit 2 and the cure", async (args, cure) => {
    const { code, stdout, stderr } = await call(args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" })
    expect(stderr).toContain(cure)
  })

  test("--timeout ends a call that waits, and Ctrl-C does", async () => {
    const late = await call(["live.wait", "--timeout", "50"])
    expect(late.code).toBe(1)
    expect(late.stderr).toContain("before its deadline")
    const stop = new AbortController()
    const running = call(["live.wait"], { signal: stop.signal })
    setTimeout(() => stop.abort("SIGINT"), 100)
    expect((await running).code).toBe(130)
  })

  test("a request for input without a terminal is an error", async () => {
    const { code, stderr } = await call(["live.ask"])
    expect(code).toBe(1)
    expect(stderr).not.toBe("")
  })
})

describe("operations call --dry-run", () => {
  test("shows the checked input of what sends no request", async () => {
    const dry = await call(["task.create", ...GOOD, "--dry-run"])
    expect(dry.code).toBe(0)
    expect(dry.stdout).toBe(`task.create\n${JSON.stringify(MADE, undefined, 2)}\n`)
    expect(dry.stderr).toBe("Nothing was called; the input is valid.\n")
    const json = await call(["task.create", ...GOOD, "--dry-run", "--json"])
    expect(JSON.parse(json.stdout)).toEqual({
      ...{ id: "task.create", decision: "allow", input: MADE },
    })
  })

  test("calls nothing, and says what is wrong with an input", async () => {
    const wrong = await call(["task.create", "--dry-run"])
    expect(wrong).toMatchObject({ code: 2, stdout: "" })
    expect(wrong.stderr).toContain("  /title is required")
    expect((await call(["task.fail", "--dry-run"])).code).toBe(0)
  })
})

describe("operations call of an HTTP API", () => {
  let server: Server
  let url: string
  const seen: { method?: string; url?: string; body: string; authorization?: string }[] = []
  let document: string

  beforeAll(async () => {
    server = createServer((request, response) => {
      let body = ""
      request.on("data", (chunk) => (body += String(chunk)))
      request.on("end", () => {
        const { method = "", url: path = "", headers } = request
        seen.push({ method, url: path, body, authorization: headers.authorization ?? "" })
        response.writeHead(201, { "content-type": "application/json" })
        response.end(JSON.stringify({ number: 1 }))
      })
    })
    await new Promise<void>((done) => {
      server.listen(0, "127.0.0.1", done)
    })
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    document = join(folder, "api.json")
    await writeFile(document, JSON.stringify(api(url)))
  })

  afterAll(async () => {
    server.closeAllConnections()
    await new Promise((done) => {
      server.close(done)
    })
  })

  function http(args: readonly string[]): Promise<Ran> {
    const sources = ["--openapi", document, "--base-url", url]
    const header = ["--header", "Authorization: Bearer canary-7531-secret"]
    return runCommand(["call", ...sources, ...header, ...args], { cwd: folder })
  }

  const ISSUE = ["owner=ada", "title=2024", "labels[]=bug"]

  test("parameters and body are given by their names alone", async () => {
    const { code, stdout, stderr } = await http(["issues.create", ...ISSUE])
    expect({ code, stderr, data: JSON.parse(stdout) as unknown }).toEqual({
      code: 0,
      stderr: "",
      data: { number: 1 },
    })
    expect(seen.at(-1)).toEqual({
      method: "POST",
      url: "/repos/ada/issues",
      body: '{"title":"2024","labels":["bug"]}',
      authorization: "Bearer canary-7531-secret",
    })
  })

  test("--dry-run shows the request, credentials masked, and sends nothing", async () => {
    const before = seen.length
    const { code, stdout, stderr } = await http(["issues.create", ...ISSUE, "--dry-run"])
    expect(code).toBe(0)
    expect(stdout).toContain(`POST ${url}/repos/ada/issues\n`)
    expect(stdout).toMatch(/^authorization: .*\*\*\*/im)
    expect(stdout).toContain('\n\n{"title":"2024","labels":["bug"]}\n')
    expect(stderr).toBe("Nothing was sent; the input is valid.\n")
    const json = await http(["issues.create", ...ISSUE, "--dry-run", "--json"])
    expect(JSON.parse(json.stdout)).toMatchObject({
      request: { method: "POST", url: `${url}/repos/ada/issues` },
    })
    expect(stdout + stderr + json.stdout + json.stderr).not.toContain("canary")
    expect(seen.length).toBe(before)
  })

  test("a required part of the body that is missing is named by its path", async () => {
    const { code, stderr } = await http(["issues.create", "owner=ada"])
    expect(code).toBe(2)
    expect(stderr).toContain("  /body is required")
    const inner = await http(["issues.create", "owner=ada", "labels[]=x"])
    expect(inner.stderr).toContain("  /body/title is required")
  })
})

describe("operations call of an MCP server", () => {
  function mcp(args: readonly string[]): Promise<Ran> {
    const server = `${JSON.stringify(process.execPath)} ${JSON.stringify(EVERYTHING)}`
    return runCommand(["call", "--mcp", server, ...args], { cwd: folder })
  }

  test("prints texts of a tool, and writes its image to a file", async () => {
    const text = await mcp(["echo", "message=5"])
    expect({ code: text.code, stdout: text.stdout }).toEqual({ code: 0, stdout: "Echo: 5\n" })
    const image = await mcp(["get-tiny-image"])
    expect(image.stdout).toMatch(/\[image: image\/png, [\d.]+ kB\]/)
    expect(image.stderr).toContain("--output <file>")
    const saved = await mcp(["get-tiny-image", "--output", "tiny.png"])
    expect(saved.stdout).toBe("")
    const png = await readFile(join(folder, "tiny.png"))
    expect(png.subarray(1, 4).toString()).toBe("PNG")
    expect(await readdir(folder)).not.toContain("tiny-2.png")
  })

  test("a tool that reports a failure exits with 1, also with --json", async () => {
    const args = ["get-resource-reference", "resourceType=Text", "resourceId=0"]
    const failed = await mcp(args)
    expect(failed).toMatchObject({ code: 1, stdout: "" })
    expect(failed.stderr).toContain("Invalid resourceId: 0")
    const json = await mcp([...args, "--json"])
    expect(json.code).toBe(1)
    expect(JSON.parse(json.stdout)).toMatchObject({ meta: { isError: true } })
  })
})

function api(url: string): object {
  const text = { type: "string" }
  return {
    openapi: "3.1.0",
    info: { title: "Hub of code", version: "1" },
    servers: [{ url }],
    paths: {
      "/repos/{owner}/issues": {
        post: {
          operationId: "issues.create",
          parameters: [{ name: "owner", in: "path", required: true, schema: text }],
          requestBody: {
            required: true,
            content: {
              "application/json": {
                schema: {
                  type: "object",
                  properties: { title: text, labels: { type: "array", items: text } },
                  required: ["title"],
                },
              },
            },
          },
          responses: { 201: { description: "Made", content: { "application/json": {} } } },
        },
      },
    },
  }
}
