import { beforeAll, expect, test } from "vitest"
import { definitionsOf, nameOf } from "../awkward/definitions.ts"
import { faultsOf } from "../awkward/faults.ts"
import { waitFor } from "../../../support/wait-for.ts"
import { countChanges } from "./changes.ts"
import type { Lane, Pair } from "./lanes.ts"
import { until } from "./support.ts"

type Definition = Readonly<Record<string, unknown>>

/** Tools that a server has for these tests. */
export const GROUPS = "names,schemas,inputs,huge,hidden,task,hints,duplicates,nameless"

// More than the awkward server has of its own.
const DRESSED = {
  name: "dressed",
  title: "Dressed",
  description: "Has everything that a definition can have.",
  icons: [{ src: "https://example.com/icon.png", mimeType: "image/png", sizes: ["48x48"] }],
  annotations: {
    title: "Dressed up",
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  },
  inputSchema: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: {
      z: { $ref: "#/$defs/z" },
      a: { type: ["string", "null"], default: null, "x-order": 2 },
    },
    required: ["z"],
    additionalProperties: false,
    if: { properties: { a: { const: "b" } } },
    // oxlint-disable-next-line unicorn/no-thenable -- A keyword of JSON Schema.
    then: { required: ["a"] },
    $defs: { z: { $anchor: "z", enum: [1, "one", null] } },
  },
  outputSchema: { type: "object", properties: { ok: { type: "boolean" } } },
  _meta: { "example.com/ui": { resourceUri: "ui://dressed" } },
}

// Differ for a reason that a test of their own says.
const DIFFERENT = new Set([
  ...["with.dot", "with space", "with/slash", "grüße_世界", "x".repeat(130), "twin", "deep", ""],
  ...["no_input", "untyped_input", "true_input", "null_input", "array_input", "string_input"],
  ...["hidden_description", "hidden_schema", "task_required", "task_optional", "lies"],
])
const WRAPPED = ["array_output", "string_output", "union_output", "tuple_output", "null_output"]

/** Definitions of tools, on a lane that is open. */
export function testDefinitions(lane: Lane, opened: () => Pair): void {
  let pair: Pair
  let direct: ReadonlyMap<unknown, Definition>
  let through: ReadonlyMap<unknown, Definition>
  const both = (name: string): (Definition | undefined)[] => [direct.get(name), through.get(name)]

  beforeAll(async () => {
    pair = opened()
    await pair.through.call("change", { add: DRESSED })
    await pair.direct.call("change", { add: DRESSED })
    // The SDK cannot read a list with a schema as deep as that one.
    await pair.direct.call("change", { remove: "deep" })
    const named = (tools: readonly Definition[]): Map<unknown, Definition> =>
      new Map(tools.map((tool) => [tool?.["name"], tool]))
    direct = named(await pair.direct.tools())
    await until(async () => {
      through = named(await pair.through.tools())
      return through.has("dressed")
    })
    // Tests after these count what the client hears.
    await waitFor(() => expect(countChanges(pair.through)).toBe(1))
  })

  test("are the same, schemas byte for byte", () => {
    const same = [...direct.keys()].filter(
      (name): name is string =>
        typeof name === "string" && !DIFFERENT.has(name) && !WRAPPED.includes(name),
    )

    expect(same.length).toBeGreaterThan(50)
    for (const name of same) {
      const [ours, theirs] = both(name)
      expect(theirs, name).toEqual(ours)
      for (const key of ["inputSchema", "outputSchema", "annotations", "icons", "_meta"]) {
        expect(JSON.stringify(theirs?.[key]), `${name} ${key}`).toBe(JSON.stringify(ours?.[key]))
      }
    }
    expect(through.get("dressed")).toEqual(DRESSED)
  })

  test("outputs that are no objects are as they came, or in an object where clients take nothing else", () => {
    for (const name of WRAPPED) {
      const [ours, theirs] = both(name)
      const { outputSchema, ...rest } = ours ?? {}
      const wrapped = {
        type: "object",
        properties: { result: outputSchema },
        required: ["result"],
      }
      // Nothing can be said of a result that is nothing.
      const legacy = name === "null_output" ? rest : { ...rest, outputSchema: wrapped }
      expect(theirs, name).toEqual(lane.down === "modern" ? ours : legacy)
    }
  })

  test("inputs without a type get one, because clients refuse the whole list otherwise", () => {
    const properties = { a: { type: "number" } }
    expect(through.get("untyped_input")?.["inputSchema"]).toEqual({ type: "object", properties })
    for (const name of ["no_input", "true_input", "null_input", "array_input", "string_input"]) {
      expect(through.get(name)?.["inputSchema"], name).toEqual({ type: "object" })
    }
  })

  test("what nobody could see is gone, because only a model would read it", () => {
    expect(through.get("hidden_description")).toMatchObject({
      title: "Hidden",
      description: "Adds two numbers.",
    })
    expect(through.get("hidden_schema")).toMatchObject({
      inputSchema: { properties: { a: { description: "Plain text." } } },
    })
  })

  test("tasks are not offered, because they are not passed on", () => {
    for (const name of ["task_required", "task_optional"]) {
      expect(through.get(name)).not.toHaveProperty("execution")
    }
  })

  test("hints that are none are left out, and so are tools that are none", () => {
    expect(through.get("lies")).toMatchObject({ annotations: {} })
    const twins = [...through.values()].filter(({ name }) => name === "twin")
    expect(twins).toMatchObject([{ inputSchema: { properties: { first: {} } } }])
    expect([...through.keys()].every((name) => typeof name === "string" && name !== "")).toBe(true)
  })

  test("names that clients refuse are changed, and lead to the same tool", async () => {
    const all = definitionsOf(faultsOf({ groups: "names" })).map(nameOf)
    const changed = [...through.values()].filter(({ name }) => String(name).startsWith("up_"))

    expect(changed).toHaveLength(5)
    for (const { name, description } of changed) {
      expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
      const { result } = await pair.through.call(String(name))
      const tool = (result?.["structuredContent"] as { tool: string } | undefined)?.tool ?? ""
      expect(all).toContain(tool)
      expect(description).toBe(`The tool ${tool}.`)
    }
    for (const name of ["__proto__", "constructor", "-"]) {
      const { result } = await pair.through.call(name)
      expect(result).toMatchObject({ structuredContent: { tool: name } })
    }
  })

  test("all of them are accepted by a client that checks", async () => {
    const { tools } = await pair.through.client.listTools()

    expect(tools.length).toBe(through.size)
  })
}
