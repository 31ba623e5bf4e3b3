import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { pick, readSelection } from "../../../src/schema/read/select.ts"

const issue = {
  type: "object",
  properties: {
    number: { type: "integer" },
    title: { type: "string" },
    "a.b": { type: "object", properties: { c: { type: "string" } } },
    assignee: { anyOf: [{ $ref: "#/$defs/user" }, { type: "null" }] },
    assignees: { type: "array", items: { $ref: "#/$defs/user" } },
    labels: { type: "object", additionalProperties: { type: "object", properties: { color: {} } } },
    raw: {},
  },
  additionalProperties: false,
  $defs: {
    user: {
      type: "object",
      properties: {
        login: { type: "string" },
        manager: { $ref: "#/$defs/user" },
        groups: {
          type: ["array", "object"],
          items: { $ref: "#/$defs/user" },
          properties: { login: {} },
        },
      },
    },
  },
}
const one = {
  number: 1,
  title: "x",
  "a.b": { c: "d" },
  assignee: null,
  assignees: [{ login: "ada", manager: { login: "bob" } }, { login: "cleo" }],
  labels: { red: { color: "f00", size: 1 }, blue: { color: "00f" } },
  raw: { any: [{ thing: 1 }] },
}

function selected(value: unknown, paths: unknown, schema: unknown = issue): unknown {
  const read = readSelection(paths, schema)
  if ("issues" in read) throw new Error(JSON.stringify(read.issues))
  return pick(value, read.selection)
}

function refused(paths: unknown, schema: unknown = issue): string {
  const read = readSelection(paths, schema)
  return "issues" in read
    ? read.issues.map(({ path, message }) => `${path} ${message}`).join("\n")
    : ""
}

describe("a selection", () => {
  test.each([
    [["number"], { number: 1 }],
    [["title", "number"], { number: 1, title: "x" }],
    [["assignees.login"], { assignees: [{ login: "ada" }, { login: "cleo" }] }],
    [["assignees", "assignees.login"], { assignees: one.assignees }],
    [["assignees.login", "assignees"], { assignees: one.assignees }],
    [["assignees.manager.login"], { assignees: [{ manager: { login: "bob" } }, {}] }],
    [["assignee.login"], { assignee: null }],
    [["a.b.c"], { "a.b": { c: "d" } }],
    [["labels.*.color"], { labels: { red: { color: "f00" }, blue: { color: "00f" } } }],
    [["labels.red"], { labels: { red: one.labels.red } }],
    [["raw.any.thing"], { raw: { any: [{ thing: 1 }] } }],
  ])("of %j takes these members", (paths, expected) => {
    expect(selected(one, paths)).toEqual(expected)
    expect(selected([one, one], paths, { type: "array", items: issue })).toEqual([
      expected,
      expected,
    ])
  })

  test.each([
    [["titel"], `/select/0 The result has no "titel". Did you mean "title"? It has: number, title`],
    [
      ["number", "assignees.logn"],
      `/select/1 "assignees" has no "logn". Did you mean "login"? It has: login, manager, groups`,
    ],
    [["number.x"], `/select/0 "number" has no members: it is integer`],
    [[""], `/select/0 The result has no "". It has`],
    [["number."], `/select/0 "number" has no members`],
    [["__proto__"], `/select/0 The result has no "__proto__"`],
    [["labels.red.size"], `"labels.red" has no "size"`],
    [[1], "/select/0 must be a path"],
    [["x".repeat(501)], "/select/0 must be a path"],
    [[], "/select must be a list"],
    ["number", "/select must be a list"],
    [Array.from({ length: 201 }, () => "number"), "/select must be a list"],
  ])("of %j is refused with the reason", (paths, reason) => {
    expect(refused(paths)).toContain(reason)
  })

  test("is free where the schema says nothing", () => {
    for (const schema of [undefined, {}, true, { type: "object" }, { type: "array" }]) {
      expect(refused(["a.b.c"], schema)).toBe("")
    }
    expect(refused(["a"], { type: "object", additionalProperties: false })).not.toBe("")
  })

  test("ends for recursive schemas and long paths", () => {
    const path = Array.from({ length: 80 }, () => "groups").join(".")
    expect(refused([`assignees.${path}`])).not.toBe("hangs")
  })

  test("takes a member named __proto__ as data", () => {
    const value: unknown = JSON.parse(`{"__proto__": {"a": 1}, "b": 2}`)
    const picked = selected(value, ["__proto__.a"], {})
    expect(JSON.stringify(picked)).toBe(`{"__proto__":{"a":1}}`)
  })

  test("of every name is the whole value", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), fc.jsonValue()), (value) => {
        const names = Object.keys(value)
        fc.pre(names.length > 0)
        expect(selected(value, names, {})).toEqual(value)
      }),
    )
  })
})
