// What an awkward server lists. The plain tools are always there and are well defined; what
// they answer is in answers.ts. Groups of tools that are odd by their definition are asked for:
//
//   names       a dot, a space, a slash, unicode, 130 characters, `__proto__`, `constructor`
//   nameless    an empty name, none, a number; a definition that is `null`, a string, an array
//   duplicates  two tools `twin` with different schemas
//   schemas     roots that are no object, no type, unknown dialects, bad patterns, network references, loops
//   inputs      input schemas that are missing, `true`, an array, of another type
//   headers     `x-mcp-header`: `region` is good, those named `bad_header_*` are not
//   huge        a definition of 77 KB and one of 300 KB; `monstrous` adds one of 1.5 MB
//   hidden      zero-width, bidirectional and tag characters in descriptions
//   task        a tool that must run as a task
//   hints       read-only, destructive and idempotent tools

import type { Faults } from "./faults.ts"

/** A definition; deliberately not a type that says what is right. */
export type Definition = unknown

const nothing = { type: "object" }
const text = { type: "object", properties: { text: { type: "string" } }, required: ["text"] }
const number = { type: "number" }
const temperature = {
  type: "object",
  properties: { temp: number, list: { type: "array", items: { type: "string" } } },
  required: ["temp"],
}

function tool(name: unknown, inputSchema: unknown = nothing, more: object = {}): Definition {
  return { name, description: `The tool ${String(name)}.`, inputSchema, ...more }
}

function withNumber(name: string, key: string): Definition {
  return tool(name, { type: "object", properties: { [key]: number } })
}

/** Tools that any server could have. What they do is in answers.ts. */
const PLAIN: readonly Definition[] = [
  tool("echo", text, { title: "Echo" }),
  tool(
    "add",
    { type: "object", properties: { a: number, b: number }, required: ["a", "b"] },
    {
      outputSchema: { type: "object", properties: { sum: number }, required: ["sum"] },
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    },
  ),
  tool("anything", { type: "object", additionalProperties: true }),
  tool("blocks"),
  tool("unknown_block"),
  tool("malformed_blocks"),
  withNumber("many_blocks", "count"),
  withNumber("big", "bytes"),
  tool("structured", { type: "object", properties: { value: {} } }),
  tool("mismatch", nothing, { outputSchema: temperature }),
  tool("text_json", nothing, { outputSchema: temperature }),
  tool("text_misfit", nothing, { outputSchema: temperature }),
  tool("text_prose", nothing, { outputSchema: temperature }),
  tool("text_twice", nothing, { outputSchema: temperature }),
  tool("error_result"),
  tool("error_mismatch", nothing, { outputSchema: temperature }),
  tool("rpc_error", { type: "object", properties: { code: number, message: { type: "string" } } }),
  tool("no_content"),
  tool("null_result"),
  tool("bad_result_type"),
  withNumber("slow", "ms"),
  tool("hang"),
  tool("crash", { type: "object", properties: { code: number, signal: { type: "string" } } }),
  withNumber("progress", "count"),
  tool("slow_progress", { type: "object", properties: { count: number, ms: number } }),
  tool("odd_progress"),
  tool("ask", { type: "object", properties: { kind: { type: "string" } } }),
  withNumber("ask_rounds", "rounds"),
  tool("ask_forever"),
  tool("ask_state_only"),
  tool("ask_together"),
  tool("cancelled"),
  tool("journal"),
  tool("process"),
  tool("environment"),
  tool("bad_frames"),
  tool("twice"),
  tool("log", { type: "object", properties: { params: {}, times: number, ms: number } }),
  tool("change", { type: "object", properties: { add: {}, remove: { type: "string" } } }),
  tool("rug_pull"),
]

const GROUPS: Readonly<Record<string, readonly Definition[]>> = {
  names: [
    tool("with.dot"),
    tool("with space"),
    tool("with/slash"),
    tool("grüße_世界"),
    tool("x".repeat(130)),
    tool("__proto__"),
    tool("constructor"),
    tool("-"),
  ],
  nameless: [tool(""), tool(7), { inputSchema: nothing }, null, "echo", [tool("inner")], 42],
  duplicates: [
    tool("twin", { type: "object", properties: { first: number } }),
    tool("twin", { type: "object", properties: { second: number } }),
  ],
  schemas: [
    tool("array_output", nothing, { outputSchema: { type: "array", items: number } }),
    tool("string_output", nothing, { outputSchema: { type: "string" } }),
    tool("null_output", nothing, { outputSchema: { type: "null" } }),
    tool("union_output", nothing, { outputSchema: { anyOf: [temperature, { type: "null" }] } }),
    tool("tuple_output", nothing, {
      outputSchema: { type: "array", prefixItems: [{ type: "string" }], items: false },
    }),
    tool("bad_output", nothing, { outputSchema: { type: "object", properties: { a: 7 } } }),
    tool("bad_pattern", { type: "object", properties: { a: { type: "string", pattern: "(" } } }),
    tool("slow_pattern", {
      type: "object",
      properties: { a: { type: "string", pattern: "^(a+)+$" } },
    }),
    tool("unknown_dialect", { $schema: "https://example.com/dialect", type: "object" }),
    tool("draft_04", {
      $schema: "http://json-schema.org/draft-04/schema#",
      type: "object",
      properties: { a: { type: "number", minimum: 0, exclusiveMinimum: true } },
    }),
    tool("network_ref", {
      type: "object",
      properties: { a: { $ref: "https://schemas.invalid/a.json" } },
    }),
    tool("lost_ref", { type: "object", properties: { a: { $ref: "#/$defs/none" } } }),
    tool("recursive", {
      type: "object",
      properties: { node: { $ref: "#/$defs/node" } },
      $defs: {
        node: {
          type: "object",
          properties: { value: number, next: { $ref: "#/$defs/node" } },
        },
      },
    }),
    tool("deep", deep(700)),
    tool("root_union", {
      type: "object",
      oneOf: [{ required: ["a"] }, { required: ["b"] }],
      properties: { a: number, b: number },
    }),
  ],
  inputs: [
    { name: "no_input", description: "No input schema at all." },
    tool("untyped_input", { properties: { a: number } }),
    tool("true_input", true),
    tool("null_input", null),
    tool("array_input", []),
    tool("string_input", { type: "string" }),
  ],
  headers: [
    tool("region", {
      type: "object",
      properties: {
        region: { type: "string", "x-mcp-header": "Region" },
        query: { type: "string" },
      },
      required: ["region"],
    }),
    tool("bad_header_space", headed("Bad Header")),
    tool("bad_header_empty", headed("")),
    tool("bad_header_type", headed(7)),
    tool("bad_header_twice", {
      type: "object",
      properties: {
        a: { type: "string", "x-mcp-header": "Same" },
        b: { type: "string", "x-mcp-header": "same" },
      },
    }),
    tool("bad_header_object", {
      type: "object",
      properties: { a: { type: "object", "x-mcp-header": "Object" } },
    }),
  ],
  // Made only for those who ask: that takes as long as all else that a server does to start.
  get huge() {
    return [tool("huge_77k", huge(77)), tool("huge_300k", huge(300))]
  },
  get monstrous() {
    return [tool("huge_1500k", huge(1500))]
  },
  hidden: [
    tool("hidden_description", nothing, {
      description: "Adds\u200B two\u202E numbers.\u{E0041}\u{E0042}",
      title: "Hid\u2060den",
    }),
    tool("hidden_schema", {
      type: "object",
      properties: { a: { type: "string", description: "Plain\u200D text\u0007." } },
    }),
  ],
  task: [
    tool("task_required", nothing, { execution: { taskSupport: "required" } }),
    tool("task_optional", nothing, { execution: { taskSupport: "optional" } }),
  ],
  hints: [
    tool("reads", nothing, { annotations: { readOnlyHint: true } }),
    tool("destroys", nothing, { annotations: { readOnlyHint: false, destructiveHint: true } }),
    tool("lies", nothing, { annotations: { readOnlyHint: "yes", title: 7 } }),
  ],
}

/** The tools that a server with these faults starts with. */
export function definitionsOf(faults: Faults): Definition[] {
  const groups = names(faults.groups)
  for (const group of groups) {
    if (GROUPS[group] === undefined) throw new Error(`There is no group "${group}".`)
  }
  const all = [
    ...PLAIN,
    ...groups.flatMap((group) => GROUPS[group] ?? []),
    ...Array.from({ length: faults.fillers }, (_, index) => tool(`filler_${index}`, text)),
  ]
  const only = names(faults.only)
  return only.length === 0 ? all : all.filter((one) => only.includes(nameOf(one)))
}

/** The name of a definition, where it has one. */
export function nameOf(definition: Definition): string {
  const { name } = (definition ?? {}) as { name?: unknown }
  return typeof name === "string" ? name : ""
}

function names(list: string): string[] {
  return list.split(",").filter((name) => name !== "")
}

function headed(header: unknown): object {
  return { type: "object", properties: { a: { type: "string", "x-mcp-header": header } } }
}

function deep(levels: number): object {
  let schema: object = number
  for (let level = 0; level < levels; level++)
    schema = { type: "object", properties: { a: schema } }
  return schema
}

function huge(kilobytes: number): object {
  const values = Array.from({ length: kilobytes * 16 }, (_, index) => `${index}`.padEnd(61, "x"))
  return { type: "object", properties: { value: { type: "string", enum: values } } }
}
