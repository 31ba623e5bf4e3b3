import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import fc from "fast-check"
import { Type } from "typebox"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { exampleInputs } from "../../../src/schema/read/sample/example-input.ts"
import { shellWord } from "../../../src/internal/shell.ts"
import { snippetsOf } from "../../../console/src/read/snippets/snippets.ts"
import type { Snippet } from "../../../console/src/read/snippets/snippets.ts"
import { createMCPClient } from "../../../src/from-mcp.ts"
import { createRegistry, defineOperation } from "../../../src/index.ts"
import { serveHTTP } from "../../../src/node.ts"
import type { ServedHTTP } from "../../../src/node.ts"
import { hashApiKey } from "../../../src/to-http.ts"
import { toMCP } from "../../../src/to-mcp.ts"
import type { OperationSpec } from "../../../src/core/types.ts"
import { shell } from "../../cli/support/child.ts"
import { bundleBeside } from "../../sources/mcp/support/program.ts"
import { manifest, root } from "../../support/manifest.ts"

const KEY = "a-key-for-snippets-0123456789"

const nasty = {
  title: `It's "quoted" $HOME \`id\` \\n !x %s
and a second line; rm -rf ~ # no`,
  count: -3,
  isDone: false,
  tags: ["@home", "", "ünï💥", "a,b"],
  owner: { name: "-ada", "x y": "z" },
  either: "12",
  free: { a: [null, true] },
}

const echo = defineOperation({
  namespace: "snip",
  name: "echo",
  type: "mutation",
  description: "Gives back what it was given",
  inputSchema: Type.Object({
    title: Type.String(),
    count: Type.Integer(),
    isDone: Type.Boolean(),
    tags: Type.Array(Type.String()),
    owner: Type.Object({ name: Type.String() }),
    either: Type.Union([Type.String(), Type.Integer()]),
    free: Type.Unknown(),
  }),
  outputSchema: Type.Unknown(),
  accessControl: { requiredScopes: [] },
  examples: [nasty],
  handler: (input) => input,
})

const made = defineOperation({
  ...echo,
  name: "made",
  examples: undefined,
  handler: (input) => input,
})

const ticks = defineOperation({
  namespace: "snip",
  name: "ticks",
  type: "subscription",
  description: "Counts",
  inputSchema: Type.Object({ to: Type.Integer({ minimum: 2 }) }),
  outputSchema: Type.Integer(),
  accessControl: { requiredScopes: [] },
  async *handler({ to }) {
    for (let at = 1; at <= to; at++) yield at
  },
})

const text = defineOperation({
  namespace: "snip",
  name: "text",
  type: "query",
  description: "Takes a text, and no object",
  inputSchema: Type.String(),
  outputSchema: Type.String(),
  accessControl: { requiredScopes: [] },
  examples: ["it's"],
  handler: (input) => input,
})

let served: ServedHTTP
let guarded: ServedHTTP
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "operations-snippets-"))
  const registry = createRegistry([echo, made, ticks, text])
  served = await serveHTTP(registry, {
    port: 0,
    basePath: "/v1",
    mounts: { "/v1/mcp": toMCP(registry) },
  })
  guarded = await serveHTTP(registry, {
    port: 0,
    auth: { apiKeys: [{ hash: hashApiKey(KEY), identity: { id: "ada", scopes: [] } }] },
  })
})

afterAll(async () => {
  await served.close()
  await guarded.close()
  await rm(folder, { recursive: true, force: true })
})

function snippet(spec: OperationSpec, id: Snippet["id"], isGuarded = false): string {
  const { url: baseUrl } = isGuarded ? guarded : served
  const [input] = exampleInputs(spec)
  const all = snippetsOf(spec, input, {
    baseUrl,
    needsToken: isGuarded,
    mcp: "tools",
    websocket: true,
  })
  return all.find((one) => one.id === id)?.code ?? ""
}

/** Runs TypeScript whose package is this one. */
async function run(code: string): Promise<string> {
  const exports = Object.keys(manifest.exports)
  const source = code.replaceAll(/"@alkdev\/operations(\/[\w-]+)?"/g, (_, entry?: string) => {
    expect(exports).toContain(`.${entry ?? ""}`)
    const file = entry === undefined ? "index" : entry.slice(1)
    return JSON.stringify(join(root, "src", `${file}.ts`))
  })
  const file = join(folder, "snippet.ts")
  await writeFile(file, source)
  const line = `OPERATIONS_TOKEN=${KEY} '${process.execPath}' '${bundleBeside(file)}'`
  const { code: exit, stdout, stderr } = await shell(line)
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" })
  return stdout
}

describe("curl", () => {
  test("sends the very input", async () => {
    const { code, stdout, stderr } = await shell(snippet(echo, "curl"))
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    expect(JSON.parse(stdout)).toMatchObject({ data: nasty, meta: { operationId: "snip.echo" } })
  })

  test("sends an input that was made, and one that is no object", async () => {
    const { stdout } = await shell(snippet(made, "curl"))
    expect(JSON.parse(stdout)).toMatchObject({ data: exampleInputs(made)[0] })
    expect(JSON.parse((await shell(snippet(text, "curl"))).stdout)).toMatchObject({ data: "it's" })
  })

  test("reads a subscription to its end", async () => {
    const { stdout } = await shell(snippet(ticks, "curl"))
    expect(stdout).toContain('"data":1')
    expect(stdout).toContain('"data":2')
    expect(stdout).toContain("event: end")
  })

  test("proves who calls", async () => {
    const line = snippet(echo, "curl", true)
    expect(JSON.parse((await shell(line, { env: { TOKEN: KEY } })).stdout)).toHaveProperty("data")
    const { stdout } = await shell(line, { env: { TOKEN: "wrong" } })
    expect(JSON.parse(stdout)).toMatchObject({ code: "UNAUTHENTICATED" })
  })
})

describe("the command", () => {
  test("sends the very input", async () => {
    const { code, stdout, stderr } = await shell(`${snippet(echo, "command")} --json`)
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    expect(JSON.parse(stdout)).toMatchObject({ data: nasty })
  })

  test("sends an input that was made, and one that is no object", async () => {
    const { stdout } = await shell(`${snippet(made, "command")} --data`)
    expect(JSON.parse(stdout)).toEqual(exampleInputs(made)[0])
    expect((await shell(snippet(text, "command"))).stdout).toBe("it's\n")
  })

  test("watches a subscription", async () => {
    expect((await shell(snippet(ticks, "command"))).stdout).toBe("1\n2\n")
  })

  test("proves who calls", async () => {
    const line = `${snippet(echo, "command", true)} --data`
    const { code, stdout } = await shell(line, { env: { TOKEN: KEY } })
    expect({ code, data: JSON.parse(stdout) as unknown }).toEqual({ code: 0, data: nasty })
  })
})

describe("TypeScript", () => {
  test("calls, with a token where one is needed", async () => {
    expect(await run(snippet(echo, "typescript"))).toContain("ünï💥")
    expect(await run(snippet(echo, "typescript", true))).toContain("ünï💥")
  })

  test("reads a subscription", async () => {
    expect(await run(snippet(ticks, "typescript"))).toBe("1\n2\n")
  })
})

test("an MCP client connects by what is written for it", async () => {
  const { mcpServers } = JSON.parse(snippet(echo, "mcp")) as {
    mcpServers: Record<string, { url: string }>
  }
  await using client = await createMCPClient("operations", mcpServers["operations"]!)
  expect(client.tools.map(({ name }) => name)).toContain("snip_echo")
})

test("every text is one word of a shell", async () => {
  const texts = fc
    .sample(fc.string({ unit: "grapheme" }), { numRuns: 500, seed: 7 })
    .map((one) => one.replaceAll("\0", ""))
    .concat(["", "'", "''", "\\", "$(id)", "`id`", "!!", "a\nb", "~", "-n", "*", "a'b\"c"])
  const child = spawn("sh", ["-c", `printf '%s\\0' ${texts.map(shellWord).join(" ")}`])
  let stdout = ""
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (stdout += chunk))
  await once(child, "close")
  expect(stdout.split("\0").slice(0, -1)).toEqual(texts)
})
