import { Compile } from "typebox/schema"
import { describe, expect, test } from "vitest"
import { ConfigError, configSchema, defineConfig, resolveConfig } from "../../src/config.ts"
import { SOURCES, type SourceKind } from "../../src/config/kinds/index.ts"
import { isCallError } from "../../src/core/errors.ts"
import { MCP_FIELDS } from "../../src/sources/mcp/config-fields.ts"
import { OPENAPI_URL_OPTIONS } from "../../src/sources/openapi/options.ts"
import { SCAN_OPTIONS } from "../../src/sources/scan/options.ts"

const CANARY = "canary-4f1d9a-secret"

describe("resolveConfig", () => {
  test("resolveConfig fills in the defaults and keeps the order", () => {
    const config = resolve({
      sources: {
        tools: { scan: "./operations" },
        api: { openapi: "./api.yaml", include: "pets.*" },
      },
      mcpServers: { files: { command: "files-server", args: [8080, true] } },
    })

    expect(config.sources).toEqual([
      {
        name: "tools",
        kind: "scan",
        namespace: "tools",
        include: undefined,
        exclude: [],
        rename: {},
        visibility: undefined,
        access: [],
        disabled: false,
        config: { scan: "./operations" },
      },
      expect.objectContaining({ name: "api", kind: "openapi", include: ["pets.*"] }),
      expect.objectContaining({
        name: "files",
        kind: "mcp",
        config: { mcp: { command: "files-server", args: ["8080", "true"] } },
      }),
    ])
    expect(config).toMatchObject({ server: {}, registry: {}, baseDir: "/project", file: undefined })
  })

  test("an empty configuration has no sources", () => {
    expect(resolve({}).sources).toEqual([])
    expect(resolve({ sources: null, mcpServers: null, server: null }).sources).toEqual([])
  })

  test("a list is named by namespace, or by what each points to", () => {
    const { sources } = resolve({
      sources: [
        { scan: "./operations/" },
        { openapi: "https://api.github.com/openapi.json" },
        { openapi: "https://api.github.com/other.json" },
        { mcp: "npx -y @modelcontextprotocol/server-everything stdio" },
        { openapi: "./shop.yaml", namespace: "store" },
        { remote: "https://tools.example.com" },
      ],
    })

    expect(sources.map(({ name, namespace }) => [name, namespace])).toEqual([
      ["operations", "operations"],
      ["github", "github"],
      ["github-2", "github-2"],
      ["everything", "everything"],
      ["store", "store"],
      ["example", "example"],
    ])
  })

  test("entries of editors get names of ours, and what only editors know is let be", () => {
    const [server, off] = resolve({
      mcpServers: {
        "my server": { serverUrl: "https://mcp.example.com", alwaysAllow: ["x"], environment: {} },
        off: { command: "x", enabled: false },
      },
    }).sources

    expect(server).toMatchObject({ name: "my server", namespace: "my_server", disabled: false })
    expect(server?.config).toEqual({
      mcp: { url: "https://mcp.example.com", alwaysAllow: ["x"], env: {} },
    })
    expect(off?.disabled).toBe(true)
  })

  test.each([[[null]], [[undefined]], [[[]]], [["x"]], [7], [[{ match: [null] }]]])(
    "access: %j is a ConfigError",
    (access) => {
      const config = { sources: { a: { scan: ".", access } } } as never
      expect(() => resolveConfig(config, { baseDir: "/work" })).toThrow(ConfigError)
    },
  )

  test("access without a value is no rule", () => {
    const config = { sources: { a: { scan: ".", access: null } } } as never
    expect(resolveConfig(config, { baseDir: "/work" }).sources[0]?.access).toEqual([])
  })

  test("access rules become a list; one without scopes lets anyone", () => {
    const [only] = resolve({
      sources: { a: { scan: ".", access: { match: "public.*" } } },
    }).sources

    expect(only?.access).toEqual([{ match: "public.*", requiredScopes: [] }])
  })

  test("a name such as __proto__ is a name", () => {
    const value: unknown = JSON.parse(`{"sources":{"__proto__":{"scan":"."}}}`)

    expect(resolve(value).sources.map(({ name }) => name)).toEqual(["__proto__"])
    expect(() => resolve(JSON.parse(`{"__proto__":{"sources":{}}}`))).toThrow("__proto__")
  })

  test.each<[string, unknown, string]>([
    ["nothing", undefined, "The configuration is empty. Start with"],
    ["a list", [], "must be an object such as"],
    ["a function", () => ({}), "call it first"],
    ["a misspelt part", { soruces: {} }, `"soruces" is not known. Did you mean "sources"?`],
    ["a part of elsewhere", { port: 80 }, `"port" is not known. Write it into "server".`],
    ["sources as text", { sources: "x" }, `"sources" must be an object of sources by name`],
    ["a source as text", { sources: { a: "x" } }, `"sources.a" must be an object with one of`],
    ["an empty source", { sources: { a: {} } }, `"sources.a" must say where its operations come`],
    ["two kinds", { sources: { a: { scan: "x", mcp: "y" } } }, `has "scan" and "mcp"`],
    ["a misspelt kind", { sources: { a: { opanapi: "x" } } }, `Did you mean "openapi"?`],
    ["a guess", { sources: { a: { url: "x" } } }, `Write "openapi" (a document), "mcp"`],
    ["a misspelt field", source({ hedaers: {} }), `"sources.a.hedaers" is not known. Did you mean`],
    ["a field of another kind", source({ token: "x" }), `It is for "remote" sources.`],
    [
      "a wrong type",
      source({ timeout: "5" }),
      `"sources.a.timeout" must be a number of milliseconds above 0`,
    ],
    ["an empty text", { sources: { a: { scan: "" } } }, `"sources.a.scan" must not be empty`],
    ["a bad namespace", source({ namespace: "a b" }), `"a_b", for example`],
    ["a bad header", source({ headers: { "a b": "x" } }), "is not a valid header name"],
    ["a header of two lines", source({ headers: { a: "x\ny" } }), "must be one line"],
    [
      "a list with a number",
      source({ include: ["a", 5] }),
      `"sources.a.include[1]" must be a string`,
    ],
    ["a wrong choice", source({ visibility: "internel" }), `Did you mean "internal"?`],
    ["a wrong credential", source({ auth: { type: "berer" } }), `Did you mean "bearer"?`],
    ["half a credential", source({ auth: { type: "bearer" } }), `"sources.a.auth" needs "token"`],
    ["a wrong reference", source({ auth: "${enf:TOKEN}" }), "Did you mean ${env:…}?"],
    ["an open reference", source({ auth: "${env:TOKEN" }), `has "\${env:" without the "}"`],
    ["an address with a password", source({ baseUrl: "https://a:b@x.y" }), "a user or a password"],
    ["no address", source({ baseUrl: "api.example.com" }), "is not an address"],
    ["a server without a way", { mcpServers: { a: { args: [] } } }, `needs either "command"`],
    ["a misspelt command", { mcpServers: { a: { comand: "x" } } }, `Did you mean "command"?`],
    ["an open quote", { sources: { a: { mcp: `npx "x` } } }, "a quotation mark that is not closed"],
    [
      "a port",
      { server: { port: 70_000 } },
      `"server.port" must be a whole number from 0 to 65535`,
    ],
    ["no hash", { server: { apiKeys: [{ hash: "k", id: "me" }] } }, "64 hexadecimal digits"],
    [
      "one name twice",
      { sources: { a: { scan: "." } }, mcpServers: { a: { command: "x" } } },
      `"mcpServers.a" has the name of a source in "sources"`,
    ],
  ])("says what is wrong with %s", (_, value, message) => {
    const error = errorOf(value)

    expect(error.message).toContain(message)
    expect(isCallError(error, "VALIDATION_ERROR")).toBe(true)
    expect(error.faults).toHaveLength(1)
  })

  test("tells every mistake, with the line that it is given, in the order of the file", () => {
    const lines: Record<string, number> = { server: 9, sources: 2 }
    const error = errorOf(
      { server: { prot: 1 }, sources: { a: { sacn: "." } } },
      { file: "x.yaml", where: (keys: readonly string[]) => ({ line: lines[keys[0] ?? ""] ?? 1 }) },
    )

    expect(error.message.split("\n")).toEqual([
      `x.yaml:2: "sources.a.sacn" is not known. Did you mean "scan"?`,
      `x.yaml:9: "server.prot" is not known. Did you mean "port"?`,
    ])
    expect(error.toJSON()).toMatchObject({
      code: "VALIDATION_ERROR",
      details: { file: "x.yaml", faults: [{ path: "sources.a.sacn", line: 2 }, { line: 9 }] },
    })
  })

  test("very many mistakes stay readable", () => {
    const names = Array.from({ length: 5000 }, (_, at) => [`a${at}`, {}] as const)
    const error = errorOf({ sources: Object.fromEntries(names) })

    expect(error.faults).toHaveLength(5000)
    expect(error.message.split("\n").length).toBeLessThan(12)
  })

  test("no value is ever shown", () => {
    const values = [
      { sources: CANARY },
      source({ auth: { type: CANARY, token: CANARY } }),
      source({ headers: { Authorization: `Bearer ${CANARY}\n` } }),
      source({ headers: [CANARY] }),
      source({ baseUrl: `https://me:${CANARY}@example.com` }),
      source({ timeout: CANARY, visibility: CANARY, include: { a: CANARY } }),
      { sources: { a: { mcp: `run "${CANARY}` } } },
      { mcpServers: { a: { command: 5, env: { A: [CANARY] }, headers: CANARY, url: CANARY } } },
      { mcpServers: { a: CANARY } },
      { server: { apiKeys: [{ hash: CANARY, id: "me" }], jwt: CANARY } },
    ]
    for (const value of values) {
      const error = errorOf(value)
      expect(`${error.message}${error.stack}${JSON.stringify(error)}`).not.toContain(CANARY)
    }
  })

  test("every mistake in policies is reported where it is", () => {
    const retry = { attempts: 0, dealy: 5 }
    const error = errorOf({ policies: [{ match: "a.*", retry, cache: {} }, { retry: "yes" }] })

    expect(error.faults.map(({ path }) => path)).toEqual([
      "policies[0].retry.dealy",
      "policies[0].retry.attempts",
      "policies[0].cache",
      "policies[1]",
      "policies[1].retry",
    ])
  })

  test("a secret that is written out earns a warning that does not show it", () => {
    const { warnings } = resolve({
      sources: {
        a: { openapi: "x.yaml", auth: CANARY, headers: { "X-Api-Key": CANARY, Accept: "a" } },
        b: { remote: "https://x.y", token: "${env:TOKEN}" },
      },
    })

    expect(warnings?.map(({ path }) => path)).toEqual([
      "sources.a.headers.X-Api-Key",
      "sources.a.auth",
    ])
    expect(JSON.stringify(warnings)).not.toContain(CANARY)
  })

  test("references are taken as they are", () => {
    const sources = {
      a: {
        openapi: "${env:DOC}",
        baseUrl: "https://${env:HOST}/v1",
        auth: "${command:gh auth token}",
      },
      b: { mcp: { command: "x", env: { A: "${input:key}", B: "${HOME}" } } },
      c: { mcp: "https://${env:HOST}/mcp" },
      // In a command they may be meant for another program.
      d: { mcp: "sh -c 'echo ${x:1}'" },
    }

    expect(resolve({ sources }).sources.map(({ config }) => config)).toEqual(Object.values(sources))
  })

  test.each([
    ["a record of credentials", { credentials: { key: null, [CANARY]: null } }],
    ["headers", { headers: { authorization: null, [`Bearer ${CANARY}`]: null } }],
    ["a credential", { auth: { type: "bearer", token: null, [CANARY]: null } }],
    ["a source", { [CANARY]: null }],
  ])(
    "a name without a value in %s, which may be a misplaced secret, is not shown",
    (_what, fields) => {
      const error = errorOf(source({ openapi: "./api.yaml", ...fields }))

      expect(error.message).toMatch(/has an? (?:unknown )?name without a value/)
      expect(JSON.stringify(error)).not.toContain(CANARY)
    },
  )

  test("functions may give secrets", () => {
    const auth = { type: "bearer" as const, token: () => "x" }
    const config = defineConfig({ sources: { a: { openapi: "x.yaml", auth } } })

    expect(resolve(config).sources[0]?.config).toEqual({ openapi: "x.yaml", auth })
  })
})

describe("configSchema", () => {
  const check = Compile(configSchema)

  test.each([
    {},
    { $schema: "./schema.json", sources: { a: { scan: "." } } },
    { sources: [{ openapi: "x", auth: { type: "bearer", token: "x" }, include: ["a"] }] },
    {
      sources: { a: { mcp: { command: "x", extra: 1 } } },
      mcpServers: { b: { url: "https://x.y" } },
    },
    { server: { port: 0, apiKeys: [{ hash: "${env:HASH}", id: "me" }] } },
    { server: { apiKeys: [{ hash: "${env:HASH}", id: "me", scopes: ["a"] }] } },
    { server: { apiKeys: [{ hash: "a".repeat(64), identity: { id: "me", scopes: [] } }] } },
    {
      server: {
        apiKeys: [
          { hash: "${env:H}", identity: { id: "me", scopes: [], resources: { "a:1": ["read"] } } },
        ],
      },
    },
  ])("accepts what is sound: %j", (value) => {
    expect(check.Check(value)).toBe(true)
    expect(() => resolve(value)).not.toThrow()
  })

  test.each([
    { soruces: {} },
    { sources: { a: { sacn: "." } } },
    { sources: { a: { scan: ".", token: "x" } } },
    { sources: { a: { scan: ".", visibility: "x" } } },
    { server: { port: -1 } },
    { server: { apiKeys: [{ hash: "${env:HASH}" }] } },
    { server: { apiKeys: [{ hash: "${env:HASH}", scopes: [] }] } },
    { server: { apiKeys: [{ hash: "${env:HASH}", identity: { id: "me" } }] } },
    {
      server: { apiKeys: [{ hash: "${env:HASH}", identity: { id: "me", scopes: [] }, id: "me" }] },
    },
    { mcpServers: { b: {} } },
  ])("and refuses what is not: %j", (value) => {
    expect(check.Check(value)).toBe(false)
    expect(() => resolve(value)).toThrow(ConfigError)
  })

  // What is left out is set by the hub, or cannot be written into a file.
  test.each<[SourceKind, object, readonly string[]]>([
    [
      "openapi",
      OPENAPI_URL_OPTIONS,
      // Paths of allowed references would start from the folder of the process.
      ["namespace", "servers", "filter", "fetch", "signal", "documentUrl", "allowedReferences"],
    ],
    ["scan", SCAN_OPTIONS, ["onProblem", "logger", "signal"]],
  ])("has every option of %s sources that a file can hold", (kind, options, left) => {
    const names = Object.keys(options).filter((name) => !left.includes(name))

    expect(Object.keys(SOURCES[kind].fields)).toEqual(expect.arrayContaining(names))
  })

  test("has every field of an entry of an MCP server that a file can hold", () => {
    const schema = configSchema as { properties: { mcpServers: { additionalProperties: object } } }
    const { properties } = schema.properties.mcpServers.additionalProperties as {
      properties: Record<string, object>
    }
    const ofPrograms = ["fetch", "authProvider", "transport", "filter", "pins", "elicitation"]
    const left = [...ofPrograms, "sampling", "logger", "approve"]
    const names = Object.keys(MCP_FIELDS).filter((name) => !left.includes(name))

    expect(Object.keys(properties).toSorted()).toEqual([...names, "enabled", "envFile"].toSorted())
    expect(Object.values(properties).filter((one) => !("description" in one))).toEqual([])
  })

  test("is plain JSON", () => {
    expect(JSON.parse(JSON.stringify(configSchema))).toEqual(configSchema)
  })
})

function source(fields: object): unknown {
  return { sources: { a: { openapi: "./api.yaml", ...fields } } }
}

function resolve(value: unknown): ReturnType<typeof resolveConfig> {
  return resolveConfig(value, { baseDir: "/project" })
}

function errorOf(value: unknown, options: object = {}): ConfigError {
  try {
    resolveConfig(value, { baseDir: "/project", ...options })
  } catch (thrown) {
    if (thrown instanceof ConfigError) return thrown
    throw thrown
  }
  throw new Error("It was found sound.")
}
