import { execFile } from "node:child_process"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { Listening, MCPServer } from "../../../../src/to-mcp.ts"
import { program } from "../support/program.ts"
import { provideClients } from "./install.ts"
import { createDemo } from "./server.ts"

const clients = await provideClients()
const SERVER = [process.execPath, program(join(import.meta.dirname, "server.ts"))] as const
const NAMES = ["shape_area", "sum_add", "text_count", "text_fail", "text_words"]

let server: MCPServer
let listening: Listening
beforeAll(async () => {
  server = createDemo({ schemaProfile: "portable" })
  listening = await server.listen({ port: 0 })
})
afterAll(async () => {
  await listening.close()
  await server.close()
})

const targets = (): readonly (readonly [string, readonly string[]])[] => [
  ["stdio", SERVER],
  ["HTTP", [listening.url, "--transport", "http"]],
]

describe.skipIf(clients.folder === undefined).each(["stdio", "HTTP"])(
  "the Inspector's command line, over %s",
  (kind) => {
    const inspect = (...args: string[]): Promise<Inspected> =>
      runInspector([...(targets().find(([name]) => name === kind)?.[1] ?? []), ...args])

    test("finds every tool, and nothing that clients reject", async () => {
      const { json, stderr, code } = await inspect("--method", "tools/list", "--strict")

      expect(stderr).not.toMatch(/error/i)
      expect(code).toBe(0)
      const { tools } = json as { tools: { name: string }[] }
      expect(tools.map(({ name }) => name)).toEqual(NAMES)
    })

    test("calls one", async () => {
      const { json } = await inspect(
        ...["--method", "tools/call", "--tool-name", "sum_add", "--tool-arg", "a=2", "b=40"],
      )

      expect(json).toMatchObject({
        content: [{ type: "text", text: '{"total":42}' }],
        structuredContent: { total: 42 },
      })
    })

    test("lists and reads resources, templates and prompts", async () => {
      const ask = async (...args: string[]): Promise<unknown> =>
        (await inspect("--method", ...args)).json

      expect(await ask("resources/list")).toMatchObject({ resources: [{ uri: "motto://" }] })
      expect(await ask("resources/templates/list")).toMatchObject({
        resourceTemplates: [{ uriTemplate: "note://{id}" }],
      })
      expect(await ask("resources/read", "--uri", "note://7")).toMatchObject({
        contents: [{ uri: "note://7", text: "Note 7" }],
      })
      expect(await ask("prompts/list")).toMatchObject({ prompts: [{ name: "write_letter" }] })
      expect(
        await ask("prompts/get", "--prompt-name", "write_letter", "--prompt-args", "to=Ada"),
      ).toMatchObject({ messages: [{ content: { text: "Write to Ada." } }] })
    })

    test("is told what is wrong with an input", async () => {
      const { json } = await inspect(
        ...["--method", "tools/call", "--tool-name", "text_words", "--tool-arg", "words=1"],
      )

      expect(JSON.stringify(json)).toContain("/text")
    })
  },
)

describe.skipIf(clients.folder === undefined)("the client of the AI SDK", () => {
  test.each(["stdio", "HTTP"])("lists and calls tools over %s", async (kind) => {
    const sdk = await load<AiSdk>("@ai-sdk/mcp", "dist/index.js")
    const { Experimental_StdioMCPTransport: Stdio } = await load<AiSdkStdio>(
      "@ai-sdk/mcp",
      "dist/mcp-stdio/index.js",
    )
    const [command, ...args] = SERVER
    const client = await sdk.createMCPClient({
      transport:
        kind === "HTTP" ? { type: "http", url: listening.url } : new Stdio({ command, args }),
    })
    try {
      const tools = await client.tools()
      expect(Object.keys(tools).toSorted()).toEqual(NAMES)

      const options = { toolCallId: "1", messages: [] }
      expect(await tools["sum_add"]?.execute({ a: 2, b: 40 }, options)).toMatchObject({
        structuredContent: { total: 42 },
      })
      expect(await tools["text_words"]?.execute({ text: "a b" }, options)).toMatchObject({
        content: [{ type: "text", text: '["a","b"]' }],
      })
      expect(await tools["text_fail"]?.execute({}, options)).toMatchObject({ isError: true })
      expect(await tools["text_count"]?.execute({ limit: 3 }, options)).toMatchObject({
        structuredContent: { items: [1, 2, 3], isComplete: false },
      })
    } finally {
      await client.close()
    }
  })
})

interface AiSdk {
  createMCPClient(config: { transport: unknown }): Promise<{
    tools(): Promise<Record<string, { execute(input: unknown, options: object): Promise<unknown> }>>
    close(): Promise<void>
  }>
}

interface AiSdkStdio {
  readonly Experimental_StdioMCPTransport: new (options: {
    command: string
    args: readonly string[]
  }) => unknown
}

interface Inspected {
  readonly json: unknown
  readonly stderr: string
  readonly code: number
}

async function load<TModule>(name: string, file: string): Promise<TModule> {
  const path = join(clients.folder ?? "", "node_modules", name, file)
  return (await import(pathToFileURL(path).href)) as TModule
}

async function runInspector(args: readonly string[]): Promise<Inspected> {
  const bin = join(clients.folder ?? "", "node_modules/.bin/inspector")
  return await new Promise((resolve, reject) => {
    const options = { timeout: 50_000, maxBuffer: 64 * 1024 * 1024 }
    execFile(process.execPath, [bin, "--cli", ...args], options, (error, stdout, stderr) => {
      try {
        resolve({ json: JSON.parse(stdout), stderr, code: error === null ? 0 : Number(error.code) })
      } catch {
        reject(new Error(`The Inspector gave no JSON: ${stdout}\n${stderr}`))
      }
    })
  })
}
