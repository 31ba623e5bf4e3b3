import { Type } from "typebox"
import { describe, expect, test } from "vitest"
import type { MCPEra } from "../../src/mcp/model.ts"
import type { SurfaceResult } from "../../src/tools/model.ts"
import type { ToolSurface } from "../../src/tools/surface.ts"
import { compileSchema } from "../../src/schema/compiled.ts"
import { operation } from "../support/operations.ts"
import { allTools, caller, surfaceOf } from "./surface-support.ts"

const Issue = Type.Object({
  number: Type.Integer(),
  title: Type.String(),
  body: Type.String(),
  assignees: Type.Array(Type.Object({ login: Type.String(), url: Type.String() })),
})

let calls = 0
const list = operation("repo.issues", {
  type: "query",
  inputSchema: Type.Object({
    count: Type.Optional(Type.Integer()),
    size: Type.Optional(Type.Integer()),
  }),
  outputSchema: Type.Array(Issue),
  handler: ({ count = 3, size = 10 }: { count?: number; size?: number }) => {
    calls++
    return Array.from({ length: count }, (_, number) => ({
      number,
      title: `Issue ${number}`,
      body: "b".repeat(size),
      assignees: [{ login: "ada", url: "https://example.com" }],
    }))
  },
})
const text = operation("repo.log", {
  type: "query",
  inputSchema: Type.Object({}),
  outputSchema: Type.String(),
  handler: () => "line\n".repeat(20_000),
})
const feed = operation("repo.feed", {
  type: "subscription",
  inputSchema: Type.Object({}),
  outputSchema: Issue,
  async *handler() {
    yield { number: 1, title: "One", body: "b", assignees: [] }
  },
})
const own = operation("repo.find", {
  type: "query",
  inputSchema: Type.Object({ select: Type.String() }),
  outputSchema: Type.Array(Issue),
  handler: ({ select }: { select: string }) => [
    { number: 1, title: select, body: "", assignees: [] },
  ],
})

const OPERATIONS = [list, text, feed, own]
const WAYS = (["legacy", "modern"] as const).flatMap((era) =>
  (["all", "search"] as const).map((mode) => ({ era, mode })),
)

function open(mode: "all" | "search", maxResultLength?: number): ToolSurface {
  return surfaceOf(OPERATIONS, { expose: { mode }, maxResultLength })
}

/** Calls an operation in the way of a mode. */
async function use(
  surface: ToolSurface,
  { era, mode }: { era: MCPEra; mode: "all" | "search" },
  id: string,
  input: Record<string, unknown>,
  select?: unknown,
  who = caller(era),
): Promise<SurfaceResult> {
  const more = select === undefined ? {} : { select }
  return mode === "search"
    ? await surface.call("call_operation", { id, input, ...more }, who)
    : await surface.call(id.replace(".", "_"), { ...input, ...more }, who)
}

function textsOf({ content }: SurfaceResult): string[] {
  return content.map((block) => String(block["text"]))
}

/** Checks a result as clients do: against the output schema of the tool. */
function expectValid(surface: ToolSurface, era: MCPEra, name: string, result: SurfaceResult): void {
  const schema = allTools(surface, caller(era)).find((tool) => tool.name === name)?.outputSchema
  expect(compileSchema(schema).check(result.structuredContent)).toBe(true)
}

describe.each(WAYS)("for a $era client in mode $mode", (way) => {
  const { era, mode } = way

  test("a selection returns these fields alone", async () => {
    const surface = open(mode)
    const result = await use(surface, way, "repo.issues", { count: 2 }, [
      "number",
      "assignees.login",
    ])
    expect(JSON.parse(textsOf(result)[0] ?? "")).toEqual([
      { number: 0, assignees: [{ login: "ada" }] },
      { number: 1, assignees: [{ login: "ada" }] },
    ])
    if (mode === "all") expectValid(surface, era, "repo_issues", result)
  })

  test("a wrong selection is refused before the call", async () => {
    const before = calls
    const result = await use(open(mode), way, "repo.issues", {}, ["number", "titel"])
    expect(result.isError).toBe(true)
    expect(textsOf(result)[0]).toContain(`The result has no "titel". Did you mean "title"?`)
    expect(textsOf(result)[0]).toContain("/select/1")
    expect(calls).toBe(before)
  })

  test("a dry run refuses a wrong selection as the call does", async () => {
    const dry = { ...caller(era), dryRun: true }
    const result = await use(open(mode), way, "repo.issues", {}, ["titel"], dry)
    expect(result.isError).toBe(true)
    expect(textsOf(result)[0]).toContain(`Did you mean "title"?`)
  })

  test("a long list keeps whole items, and the rest can be read", async () => {
    const surface = open(mode, 2000)
    const result = await use(surface, way, "repo.issues", { count: 50 })
    if (mode === "all") expectValid(surface, era, "repo_issues", result)
    const [json = "", note = ""] = textsOf(result)
    expect(json.length).toBeLessThanOrEqual(2000)
    expect(result.isError).toBeUndefined()
    const numbers = numbersOf(json)
    expect(note).toContain(`${numbers.length} of 50 items`)
    for (let said = note; said.includes("read_result {");) {
      const args: unknown = JSON.parse(/read_result (\{.*?\})/.exec(said)?.[1] ?? "")
      const [part = "", next = ""] = textsOf(await surface.call("read_result", args, caller(era)))
      numbers.push(...numbersOf(part))
      said = next
    }
    expect(numbers).toEqual(Array.from({ length: 50 }, (_, at) => at))
  })

  test("a long text is cut, and read to its end", async () => {
    const surface = open(mode)
    const result = await use(surface, way, "repo.log", {})
    let [whole = "", said = ""] = textsOf(result)
    whole = whole.startsWith("{") ? (JSON.parse(whole) as { result: string }).result : whole
    expect(whole.length).toBeLessThanOrEqual(40_000)
    while (said.includes("read_result {")) {
      const args: unknown = JSON.parse(/read_result (\{.*?\})/.exec(said)?.[1] ?? "")
      const [part = "", next = ""] = textsOf(await surface.call("read_result", args, caller(era)))
      whole += part.startsWith("{") ? (JSON.parse(part) as { result: string }).result : part
      said = next
    }
    expect(whole).toBe("line\n".repeat(20_000))
  })

  test("a caller reads no result of another", async () => {
    const surface = open(mode, 2000)
    const ada = caller(era, { id: "ada", scopes: [] })
    const result = await use(surface, way, "repo.issues", { count: 50 }, undefined, ada)
    const args = JSON.parse(
      /read_result (\{.*?\})/.exec(textsOf(result)[1] ?? "")?.[1] ?? "",
    ) as object
    for (const other of [caller(era), caller(era, { id: "bob", scopes: [] })]) {
      const refused = await surface.call("read_result", args, other)
      expect(refused.isError).toBe(true)
      expect(textsOf(refused)[0]).toContain("kept for five minutes")
    }
    expect((await surface.call("read_result", args, ada)).isError).toBeUndefined()
  })

  test("a program that asks for the whole receives it", async () => {
    const who = caller(era, undefined, { isWhole: true })
    const result = await use(
      open(mode),
      way,
      "repo.issues",
      { count: 500, size: 1000 },
      undefined,
      who,
    )
    expect(numbersOf(textsOf(result)[0] ?? "")).toHaveLength(500)
  })

  test("a result that fits stays as it is", async () => {
    const result = await use(open(mode), way, "repo.issues", { count: 3 })
    expect(textsOf(result)).toHaveLength(1)
    expect(result.structuredContent).toBeDefined()
  })

  test("kept results end with the server", async () => {
    const surface = open(mode, 2000)
    await use(surface, way, "repo.issues", { count: 50 })
    surface.close()
    expect(
      allTools(surface, caller(era))
        .map(({ name }) => name)
        .includes("read_result"),
    ).toBe(mode === "search")
  })
})

test("`select` is offered for long results, where the operation has no input of that name", () => {
  const tools = allTools(open("all"))
  const offering = tools.filter(({ name, inputSchema }) => {
    const { properties } = inputSchema as { properties: Record<string, { type?: string }> }
    const { select } = properties
    return name !== "read_result" && select?.type === "array"
  })
  expect(offering.map(({ name }) => name)).toEqual(["repo_issues"])
})

test("an operation's own `select` is its own", async () => {
  const surface = open("all")
  const result = await surface.call("repo_find", { select: "x" }, caller())
  expect(result.structuredContent).toMatchObject([{ title: "x" }])
  const searched = { id: "repo.find", input: { select: "x" }, select: ["title"] }
  const found = await open("search").call("call_operation", searched, caller())
  expect(JSON.parse(textsOf(found)[0] ?? "")).toEqual([{ title: "x" }])
})

test("the search tools take null for what a model leaves out", async () => {
  const surface = open("search")
  const call = { id: "repo.issues", input: null, select: null, limit: null, timeoutMs: null }
  const found = { query: "issues", limit: null, namespace: null }

  expect((await surface.call("call_operation", call, caller())).isError).not.toBe(true)
  expect((await surface.call("search_operations", found, caller())).isError).not.toBe(true)
  expect(textsOf(await surface.call("call_operation", { id: null }, caller()))[0]).toContain(
    "/id: is required",
  )
})

test("items of a subscription are selected through call_operation", async () => {
  const input = { id: "repo.feed", select: ["title"], limit: 1 }
  const result = await open("search").call("call_operation", input, caller())
  expect(JSON.parse(textsOf(result)[0] ?? "")).toMatchObject({ items: [{ title: "One" }] })
})

test("read_result is listed once there is something to read", async () => {
  const surface = open("all", 2000)
  const names = (): string[] => allTools(surface).map(({ name }) => name)
  expect(names()).not.toContain("read_result")
  await surface.call("repo_issues", { count: 50 }, caller())
  expect(names()).toContain("read_result")
})

test.each([
  [{}, "id"],
  [{ id: "x", from: -1 }, "from"],
  [{ id: "x", select: "a" }, "select"],
  [{ id: "nothing" }, "kept for five minutes"],
])("read_result refuses %j and says why", async (input, reason) => {
  const result = await open("search").call("read_result", input, caller())
  expect(result.isError).toBe(true)
  expect(textsOf(result)[0]).toContain(reason)
})

function numbersOf(json: string): number[] {
  const value = JSON.parse(json) as { number: number }[] | { result: { number: number }[] }
  return (Array.isArray(value) ? value : value.result).map(({ number }) => number)
}
