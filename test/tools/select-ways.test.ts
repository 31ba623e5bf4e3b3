import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { mcpEnvelope } from "../../src/index.ts"
import type { MCPEra } from "../../src/mcp/model.ts"
import { serveHTTP, type ServedHTTP } from "../../src/node/serve-http.ts"
import { ToolSurface } from "../../src/tools/surface.ts"
import { toTools } from "../../src/tools/to-tools.ts"
import { silentLogger } from "../../src/testing.ts"
import { runCommand } from "../support/command-io.ts"
import { operation, quietRegistry } from "../support/operations.ts"
import { caller } from "./surface-support.ts"

/** An operation, what it returns, and what selections make of it. */
interface Case {
  readonly schema: object
  readonly data: unknown
  readonly takes: readonly (readonly [select: readonly string[], selected: unknown])[]
  /** Paths that are refused, and a part of the reason. */
  readonly refuses: readonly (readonly [path: string, reason: string])[]
}

const text = { type: "string" }
const user = { type: "object", properties: { login: text, id: { type: "integer" } } }

const CASES: Readonly<Record<string, Case>> = {
  lists: {
    schema: {
      type: "array",
      items: { type: "array", items: { $ref: "#/$defs/user" } },
      $defs: { user },
    },
    data: [[{ login: "ada", id: 1 }], []],
    takes: [[["login"], [[{ login: "ada" }], []]]],
    refuses: [["logn", 'Did you mean "login"?']],
  },
  combined: {
    schema: {
      type: "array",
      items: {
        allOf: [{ type: "object", properties: { name: text } }],
        oneOf: [
          { type: "object", properties: { cat: user } },
          { type: "object", properties: { dog: user } },
        ],
      },
    },
    data: [
      { name: "x", cat: { login: "a", id: 1 } },
      { name: "y", dog: { login: "b", id: 2 } },
    ],
    takes: [
      [
        ["name", "dog.login"],
        [{ name: "x" }, { name: "y", dog: { login: "b" } }],
      ],
    ],
    refuses: [
      ["bird", "has no"],
      ["name.x", "has no members: it is string"],
    ],
  },
  open: {
    schema: {
      type: "array",
      items: { type: "object", properties: { id: text, at: text }, additionalProperties: true },
    },
    data: [{ id: "1", at: "2", extra: { deep: 3, other: 4 } }],
    takes: [[["id", "extra.deep"], [{ id: "1", extra: { deep: 3 } }]]],
    refuses: [["id.deep", "has no members"]],
  },
  alternatives: {
    schema: { anyOf: [user, { type: "object" }, { type: "null" }] },
    data: { login: "ada", anything: { a: 1, b: 2 } },
    takes: [[["anything.a"], { anything: { a: 1 } }]],
    refuses: [],
  },
  patterns: {
    schema: { type: "object", properties: { id: text }, patternProperties: { "^x-": text } },
    data: { id: "1", "x-rate": "5", "x-other": "6" },
    takes: [[["x-rate"], { "x-rate": "5" }]],
    refuses: [["id.deep", "has no members"]],
  },
  names: {
    schema: {
      type: "object",
      properties: {
        "a.b": user,
        "c/d": text,
        labels: { type: "object", additionalProperties: text },
        files: { type: "object", additionalProperties: user },
        free: {},
      },
    },
    data: {
      "a.b": { login: "ada", id: 1 },
      "c/d": "e",
      labels: { "app.kubernetes.io/name": "web", other: "x" },
      files: { "read.me": { login: "bob", id: 2 } },
      free: { "k.v": 1, k: 2 },
    },
    takes: [
      [["a.b.login"], { "a.b": { login: "ada" } }],
      [["c/d"], { "c/d": "e" }],
      [["labels.app.kubernetes.io/name"], { labels: { "app.kubernetes.io/name": "web" } }],
      [["files.*.login"], { files: { "read.me": { login: "bob" } } }],
      [["free.k.v"], { free: { "k.v": 1, k: 2 } }],
    ],
    refuses: [
      ["c.d", "has no"],
      ["__proto__", "has no"],
      ["constructor", "has no"],
      ["a.b.toString", "has no"],
    ],
  },
  polluted: {
    schema: { type: "object" },
    data: JSON.parse(`{"__proto__": {"a": 1}, "b": 2}`),
    takes: [[["__proto__.a"], JSON.parse(`{"__proto__": {"a": 1}}`)]],
    refuses: [],
  },
}

const runs = new Map<string, number>()
const registry = quietRegistry(
  [
    ...Object.entries(CASES).map(([name, { schema, data }]) =>
      operation(`case.${name}`, {
        type: "query",
        inputSchema: { type: "object", properties: {} },
        outputSchema: schema,
        handler: () => {
          runs.set(name, (runs.get(name) ?? 0) + 1)
          return data
        },
      }),
    ),
    operation("case.bytes", { handler: () => new Uint8Array([1, 2, 3]) }),
    operation("case.failed", {
      outputSchema: { type: "object" },
      handler: () =>
        mcpEnvelope(
          { why: "x" },
          { isError: true, content: [{ type: "text", text: "It is shut." }] },
        ),
    }),
  ],
  { normalize: "off" },
)

let served: ServedHTTP
beforeAll(async () => {
  served = await serveHTTP(registry, { port: 0 })
})
afterAll(() => served.close())

/** What a call returned: data, or the text of the error. */
type Got = { readonly data: unknown } | { readonly error: string }
type Way = (name: string, select: readonly string[]) => Promise<Got>

function throughMCP(era: MCPEra, mode: "all" | "search"): Way {
  return async (name, select) => {
    const surface = new ToolSurface(registry, { logger: silentLogger, expose: { mode } })
    const id = `case.${name}`
    const result =
      mode === "search"
        ? await surface.call("call_operation", { id, input: {}, select }, caller(era))
        : await surface.call(`case_${name}`, { select }, caller(era))
    const said = result.content.map((block) => {
      return block["type"] === "text" ? String(block["text"]) : JSON.stringify(block)
    })
    return result.isError === true ? { error: said.join("\n") } : { data: parsed(said.join("\n")) }
  }
}

async function ofTools(name: string, select: readonly string[]): Promise<Got> {
  using tools = toTools(registry, { expose: { mode: "search" } })
  const args = JSON.stringify({ id: `case.${name}`, select })
  const { isError, parts } = await tools.call("call_operation", args)
  const said = parts.map((part) => (part.type === "text" ? part.text : part.data)).join("\n")
  return isError ? { error: said } : { data: parsed(said) }
}

function gateway(bare: string): Way {
  return async (name, select) => {
    const query = new URLSearchParams([["select", select.join(",")]])
    const path = `/operations/case.${name}?${bare}${query.toString()}`
    const response = await fetch(served.url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    })
    const body = parsed(await response.text())
    if (!response.ok) return { error: JSON.stringify(body) }
    return { data: bare === "" ? (body as { data: unknown }).data : body }
  }
}

async function commandLine(name: string, select: readonly string[]): Promise<Got> {
  const more = ["--hub", served.url, "--data", "--json"]
  const args = ["call", `case.${name}`, ...more, "--select", select.join(",")]
  const { code, stdout, stderr } = await runCommand(args)
  return code === 0 ? { data: parsed(stdout) } : { error: stdout + stderr }
}

function parsed(said: string): unknown {
  try {
    return JSON.parse(said)
  } catch {
    return said
  }
}

/** Ways in which every operation takes a selection. */
const WAYS: Readonly<Record<string, Way>> = {
  "call_operation, legacy": throughMCP("legacy", "search"),
  "call_operation, modern": throughMCP("modern", "search"),
  toTools: ofTools,
  gateway: gateway(""),
  "gateway, bare": gateway("unwrap=1&"),
  "command line": commandLine,
}
/** Only tools with long results take one. */
const TOOLS = { legacy: throughMCP("legacy", "all"), modern: throughMCP("modern", "all") }

const TAKEN = Object.entries(CASES).flatMap(([name, { takes }]) =>
  takes.map(([select, selected]) => ({ name, select, selected })),
)
const REFUSED = Object.entries(CASES).flatMap(([name, { refuses }]) =>
  refuses.map(([path, reason]) => ({ name, path, reason })),
)

describe.each(Object.entries(WAYS))("a selection over %s", (_, use) => {
  test.each(TAKEN)("takes $select of $name", async ({ name, select, selected }) => {
    expect(await use(name, select)).toEqual({ data: selected })
  })

  test.each(REFUSED)("refuses $path of $name before the call", async ({ name, path, reason }) => {
    const before = runs.get(name)
    const { error } = (await use(name, [path])) as { error: string }
    expect(error.replaceAll('\\"', '"')).toContain(reason)
    expect(error).toContain("/select")
    expect(error).not.toContain("/input/select")
    expect(runs.get(name)).toBe(before)
  })

  test("leaves the text of a failed tool", async () => {
    expect(JSON.stringify(await use("failed", ["other"]))).toMatch(/It is shut|why/)
  })

  test("leaves bytes whole", async () => {
    expect(JSON.stringify(await use("bytes", ["length"]))).toMatch(/AQID|bytes|\\u0001/)
  })
})

describe.each(Object.entries(TOOLS))("a selection over a tool of its own, %s", (_, use) => {
  const offered = ["open"]
  test.each(TAKEN.filter(({ name }) => offered.includes(name)))(
    "takes $select of $name",
    async ({ name, select, selected }) => {
      expect(await use(name, select)).toEqual({ data: selected })
    },
  )
  test.each(REFUSED.filter(({ name }) => offered.includes(name)))(
    "refuses $path of $name before the call",
    async ({ name, path, reason }) => {
      expect(JSON.stringify(await use(name, [path]))).toContain(reason)
    },
  )
})
