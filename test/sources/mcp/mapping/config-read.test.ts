import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { readServers } from "../../../../src/sources/mcp/config-read.ts"
import type { ReadServersOptions } from "../../../../src/sources/mcp/config-read.ts"
import { parseEnvFile, type MCPInputVariable } from "../../../../src/sources/mcp/config-entry.ts"
import { rejection } from "../../../support/operations.ts"

const SECRET = "hunter2-hunter2"

const ENV: Readonly<Record<string, string>> = {
  TOKEN: SECRET,
  EMPTY: "",
  NESTED: "${TOKEN}",
  DOLLARS: "$& $1 $$",
}

const OPTIONS: ReadServersOptions = {
  env: (name) => (Object.hasOwn(ENV, name) ? ENV[name] : undefined),
  workspaceFolder: "/home/ada/project",
  userHome: "/home/me",
  readFile: (path) => {
    if (path !== "/home/ada/project/.env") throw new Error("ENOENT")
    return "# comment\nexport A=1\nB='two # words'\nTOKEN=from file # yes\n"
  },
}

async function read(config: unknown, options: ReadServersOptions = {}) {
  const { servers, failures, warnings } = await readServers(config, { ...OPTIONS, ...options })
  return {
    servers: Object.fromEntries(servers),
    failures: Object.fromEntries([...failures].map(([name, { message }]) => [name, message])),
    warnings,
  }
}

/** One server's config, filled in. */
async function one(entry: unknown, options: ReadServersOptions = {}) {
  const { servers, failures } = await read({ files: entry }, options)
  if (failures["files"] !== undefined) throw new Error(failures["files"])
  return servers["files"]
}

const files = { command: "npx", args: ["-y", "server-filesystem"] }
const web = { url: "https://example.com/mcp" }

describe("readServers", () => {
  test.each<[string, unknown]>([
    ["Claude's and Cursor's", { mcpServers: { files, web }, theme: "dark" }],
    ["VS Code's", { servers: { files, web }, inputs: [] }],
    ["VS Code's settings", { mcp: { servers: { files, web }, inputs: [] }, "editor.x": 1 }],
    ["opencode's", { $schema: "x", mcp: { files, web } }],
    ["Zed's", { context_servers: { files, web } }],
    ["servers by name", { files, web, $schema: "x" }],
    ["the text of a file", JSON.stringify({ mcpServers: { files, web } })],
    [
      "the text of a file with comments",
      `\uFEFF// mine
      { "mcpServers": { /* "old": {}, */ "files": ${JSON.stringify(files)}, // here
        "web": { "url": "https://example.com/mcp", }, }, }`,
    ],
  ])("reads %s", async (_, config) => {
    expect(await read(config)).toEqual({ servers: { files, web }, failures: {}, warnings: [] })
  })

  test("a server may be called like a place for servers", async () => {
    const { servers } = await read({ servers: files, mcp: web })

    expect(servers).toEqual({ servers: files, mcp: web })
  })

  test.each<[string, unknown, unknown]>([
    [
      "opencode's local",
      { type: "local", command: ["bun", "x.ts"], environment: { A: "1" }, enabled: true },
      { type: "local", command: ["bun", "x.ts"], env: { A: "1" } },
    ],
    [
      "opencode's remote",
      { type: "remote", url: "https://x.example", headers: { A: "{env:TOKEN}" } },
      { type: "remote", url: "https://x.example", headers: { A: SECRET } },
    ],
    ["serverUrl", { serverUrl: "https://x.example" }, { url: "https://x.example" }],
    ["httpUrl", { httpUrl: "https://x.example" }, { url: "https://x.example" }],
    [
      "transport as a word",
      { url: "https://x.example", transport: "sse" },
      { url: "https://x.example", type: "sse" },
    ],
    ["transportType", { command: "x", transportType: "stdio" }, { command: "x", type: "stdio" }],
    [
      "numbers without quotation marks",
      { command: "x", args: ["--port", 3000], env: { PORT: 3000, DEBUG: true } },
      { command: "x", args: ["--port", "3000"], env: { PORT: "3000", DEBUG: "true" } },
    ],
    ["null for nothing", { command: "x", url: null }, { command: "x" }],
  ])("takes %s", async (_, entry, config) => {
    expect(await one(entry)).toEqual(config)
  })

  test("functions and such are handed on", async () => {
    const entry = {
      url: new URL("https://x.example/${TOKEN}"),
      headers: async () => ({}),
      fetch: globalThis.fetch,
      filter: () => true,
    }

    const config = await one(entry)

    expect(config).toMatchObject({ headers: entry.headers, fetch: entry.fetch })
    expect(config?.url).toBe(entry.url)
  })

  test("unknown fields are kept, and reported once per server", async () => {
    const { servers, warnings } = await read({
      a: { ...files, autoApprove: ["x"], gallery: true },
      b: { ...files, autoApprove: [] },
    })

    expect(servers["a"]).toMatchObject({ autoApprove: ["x"] })
    expect(warnings).toEqual([
      'MCP server "a": ignored unknown fields "autoApprove", "gallery".',
      'MCP server "b": ignored unknown fields "autoApprove".',
    ])
  })

  test("one that is wrong hides nobody", async () => {
    const { servers, failures } = await read({
      mcpServers: {
        files,
        nothing: {},
        "odd name": files,
        text: "npx",
        both: { ...files, ...web },
      },
    })

    expect(Object.keys(servers)).toEqual(["files"])
    expect(failures).toEqual({
      nothing: expect.stringContaining("got neither"),
      "odd name": expect.stringContaining('Use "odd_name"'),
      text: expect.stringContaining("must be an object"),
      both: expect.stringContaining('got "command" and "url"'),
    })
  })

  test("two names for one thing are one too many", async () => {
    const { failures } = await read({
      files: { command: "x", env: { A: "1" }, environment: { B: "2" } },
    })

    expect(failures["files"]).toContain('"environment" means the same as "env"')
  })

  test("a server called __proto__ is a server", async () => {
    const { servers } = await readServers('{"mcpServers":{"__proto__":{"command":"x"}}}', OPTIONS)

    expect([...servers.keys()]).toEqual(["__proto__"])
  })

  test.each<[string, unknown, string]>([
    ["null", null, "not an object"],
    ["a list", [files], "not an object"],
    ["one server", files, "without a name"],
    ["servers as a list", { mcpServers: [files] }, '"mcpServers" is not an object'],
    ["no JSON", `{"a": ${SECRET}}`, "not JSON at line 1: it needs a value here"],
    ["a server that is there twice", `{"a": {},\n"a": {}}`, "at line 2: it has a name twice"],
    ["the name of a file", "./mcp.json", "looks like a file name"],
  ])("refuses %s", async (_, config, words) => {
    const error = await rejection(readServers(config, OPTIONS))

    expect(error).toMatchObject({
      code: "VALIDATION_ERROR",
      message: expect.stringContaining(words),
    })
    expect(String((error as Error).cause) + (error as Error).stack).not.toContain(SECRET)
  })

  test("a server that is off needs nothing", async () => {
    const { servers, failures } = await read({
      a: { command: "${NOT_SET}", disabled: true },
      b: { url: "${NOT_SET}", enabled: false },
    })

    expect(failures).toEqual({})
    expect(servers).toMatchObject({ a: { disabled: true }, b: { disabled: true } })
  })
})

describe("variables", () => {
  test.each([
    ["${TOKEN}", SECRET],
    ["${env:TOKEN}", SECRET],
    ["a${TOKEN}b${TOKEN}c", `a${SECRET}b${SECRET}c`],
    ["${NOT_SET:-default}", "default"],
    ["${env:NOT_SET:-default}", "default"],
    ["${NOT_SET:-}", ""],
    ["${EMPTY:-default}", "default"],
    ["${EMPTY}", ""],
    ["${TOKEN:-default}", SECRET],
    ["${NOT_SET:-${NOT_SET2:-x}}", "x"],
    ["${NOT_SET:-a:b/c}", "a:b/c"],
    ["${NESTED}", "${TOKEN}"],
    ["${DOLLARS}", "$& $1 $$"],
    ["${workspaceFolder}/a", "/home/ada/project/a"],
    ["${workspaceFolderBasename}", "project"],
    ["${userHome}/.x", "/home/me/.x"],
    ["$TOKEN", "$TOKEN"],
    ["$$TOKEN $(TOKEN) `TOKEN`", "$$TOKEN $(TOKEN) `TOKEN`"],
    ["${#list[@]} ${1} ${", "${#list[@]} ${1} ${"],
    ["${toString:-safe}", "safe"],
  ])("%s is %s", async (text, value) => {
    expect(await one({ command: "x", args: [text] })).toMatchObject({ args: [value] })
  })

  test("are filled in wherever a text of the config can have some", async () => {
    expect(
      await one({
        command: "${userHome}/bin",
        args: ["${TOKEN}"],
        env: { A: "${TOKEN}" },
        cwd: "${userHome}",
      }),
    ).toEqual({ command: "/home/me/bin", args: [SECRET], env: { A: SECRET }, cwd: "/home/me" })
    expect(
      await one({ url: "https://x.example/${TOKEN}", headers: { A: "Bearer ${TOKEN}" } }),
    ).toEqual({ url: `https://x.example/${SECRET}`, headers: { A: `Bearer ${SECRET}` } })
  })

  test.each([
    [{ command: "${NOT_SET}" }, '"command" needs "NOT_SET", which is not set'],
    [{ command: "x", args: ["a", "${NOT_SET}"] }, '"args[1]" needs "NOT_SET"'],
    [{ command: "x", env: { KEY: "${TOKEN}${env:NOT_SET}" } }, '"env.KEY" needs "NOT_SET"'],
    [{ url: "https://${NOT_SET}" }, '"url" needs "NOT_SET"'],
    [{ ...web, headers: { Auth: "${TOKEN} ${NOT_SET}" } }, '"headers.Auth" needs "NOT_SET"'],
    [{ command: "x", args: ["${command:pick}"] }, '"args[0]" uses ${command:…}'],
    [{ command: "x", args: ["${input:key}"] }, 'answers for the id "key"'],
    [{ command: "x", args: ["${toString}"] }, '"args[0]" needs "toString"'],
  ])("%j fails: server, field and variable are named, values are not", async (entry, words) => {
    const { failures } = await read({ files: entry, web })

    expect(failures["files"]).toMatch(/^MCP server "files":/)
    expect(failures["files"]).toContain(words)
    expect(failures["files"]).not.toContain(SECRET)
  })

  test("inputs are asked for once, with what is declared of them", async () => {
    const asked: MCPInputVariable[] = []
    const config = {
      inputs: [
        { id: "key", type: "promptString", description: "API key", password: true },
        { id: "mode", type: "pickString", options: ["a", "b"], default: "b" },
        "odd",
      ],
      servers: {
        one: { command: "x", env: { KEY: "${input:key}", MODE: "${input:mode}" } },
        two: { url: "https://x.example", headers: { A: "${input:key} ${input:other}" } },
      },
    }

    const { servers } = await read(config, {
      inputs: async (input) => {
        asked.push(input)
        return input.id === "mode" ? undefined : `<${input.id}>`
      },
    })

    expect(servers).toMatchObject({
      one: { env: { KEY: "<key>", MODE: "b" } },
      two: { headers: { A: "<key> <other>" } },
    })
    expect(asked.map(({ id }) => id).toSorted()).toEqual(["key", "mode", "other"])
    expect(asked.find(({ id }) => id === "key")).toMatchObject({
      description: "API key",
      isPassword: true,
    })
  })

  test("an answer that fails is the failure of those who need it", async () => {
    const { servers, failures } = await read(
      { one: { command: "${input:a}" }, two: { command: "${input:a}" }, web },
      { inputs: () => Promise.reject(new Error("no terminal")) },
    )

    expect(Object.keys(servers)).toEqual(["web"])
    expect(failures["one"]).toContain("no terminal")
    expect(failures["two"]).toContain("no terminal")
  })

  test("of this process are found without being given", async () => {
    process.env["MCP_MAPPING_TEST"] = "here"
    try {
      const { servers } = await readServers({
        files: { command: "${MCP_MAPPING_TEST}", cwd: "${workspaceFolder}" },
      })

      expect(servers.get("files")).toEqual({ command: "here", cwd: process.cwd() })
    } finally {
      delete process.env["MCP_MAPPING_TEST"]
    }
  })

  test("whatever a text is, it comes out or fails; it never hangs", async () => {
    const nasty = fc.stringMatching(/^[${}:\-a-cenv]{0,40}$/)
    await fc.assert(
      fc.asyncProperty(nasty, async (text) => {
        const { servers, failures } = await read({ files: { command: "x", args: [text] } })
        expect(Object.keys(servers).length + Object.keys(failures).length).toBe(1)
      }),
    )
    await read({ files: { command: "x", args: ["${A:-".repeat(5000)] } })
  })
})

describe("envFile", () => {
  test("is read, and what is said beside it comes first", async () => {
    const config = await one({
      command: "x",
      envFile: "${workspaceFolder}/.env",
      env: { A: "own" },
    })

    expect(config).toEqual({
      command: "x",
      env: { A: "own", B: "two # words", TOKEN: "from file" },
    })
  })

  test("that is not there is a failure", async () => {
    const { failures } = await read({ files: { command: "x", envFile: "/none" } })

    expect(failures["files"]).toContain('"envFile" cannot be read: ENOENT')
  })

  test.each([
    ["A=1\r\nB = 2 ", { A: "1", B: "2" }],
    ['A="x\\ny"', { A: "x\ny" }],
    ["A='x\\ny'", { A: "x\\ny" }],
    ["A=a=b", { A: "a=b" }],
    ["A=\n=x\nno\n# B=1\n1A=2", { A: "" }],
    ["A=${B}", { A: "${B}" }],
  ])("%j is %j", (text, variables) => {
    expect(Object.fromEntries(parseEnvFile(text))).toEqual(variables)
  })
})
