import fc from "fast-check"
import { execFileSync } from "node:child_process"
import { describe, expect, test } from "vitest"
import { shellLine } from "../../../src/cli/serve/suggestions.ts"
import { suggestions } from "../../../src/cli/serve/suggestions.ts"
import type { OperationSpec } from "../../../src/core/types.ts"

const HUB = "http://127.0.0.1:3000"

function spec(id: string, more: Partial<OperationSpec> = {}): OperationSpec {
  const [namespace = "", name = ""] = id.split(".")
  return {
    namespace,
    name,
    version: "1.0.0",
    type: "query",
    description: `Does ${id}`,
    inputSchema: { type: "object", properties: {} },
    outputSchema: {},
    accessControl: { requiredScopes: [] },
    ...more,
  }
}

function linesFor(...specs: OperationSpec[]): string[] {
  return suggestions(specs, "operations", HUB).map(({ line }) => line)
}

describe("commands to try", () => {
  test("a list, a query with its own example, and a stream", () => {
    const needy = { inputSchema: { type: "object", required: ["a"] } }
    expect(
      linesFor(
        spec("a.nothing"),
        spec("b.example", { ...needy, examples: [{ amount: 1.5, unit: "a b", yes: true }] }),
        spec("c.stream", { type: "subscription" }),
      ),
    ).toEqual([
      `operations list --hub ${HUB}`,
      `operations call b.example amount=1.5 'unit=a b' yes=true --hub ${HUB}`,
      `operations watch c.stream --limit 5 --hub ${HUB}`,
    ])
  })

  test("nested examples go as JSON", () => {
    const examples = [{ list: [{ it: "is" }] }]
    expect(
      linesFor(spec("a.b", { examples, inputSchema: { type: "object", required: ["list"] } }))[1],
    ).toBe(`operations call a.b --input '{"list":[{"it":"is"}]}' --hub ${HUB}`)
  })

  test("only what anybody may call, and nothing that changes anything", () => {
    const lines = linesFor(
      spec("a.secret", { accessControl: { requiredScopes: ["x"] } }),
      spec("a.some", { accessControl: { requiredScopes: [], requiredScopesAny: ["x"] } }),
      spec("a.hidden", { visibility: "internal" }),
      spec("a.old", { deprecated: true }),
      spec("b.change", { type: "mutation" }),
      spec("c.needs", { inputSchema: { type: "object", required: ["a"] } }),
      spec("c.union", { inputSchema: { type: "object", anyOf: [{ required: ["a"] }] } }),
    )
    expect(lines).toEqual([
      `operations list --hub ${HUB}`,
      `operations call c.needs --hub ${HUB}`,
      `operations describe b.change --hub ${HUB}`,
    ])
  })

  test("an imported query is called with what its schema offers", () => {
    const inputSchema = {
      type: "object",
      properties: {
        status: { type: "string", enum: ["available", "sold"] },
        isbn: { type: "string", examples: ["978-0141439518"] },
        limit: { type: "integer", default: 5 },
        page: { type: "integer" },
      },
      required: ["status", "isbn", "limit"],
    }
    expect(linesFor(spec("pets.find", { inputSchema }))[1]).toBe(
      `operations call pets.find status=available isbn=978-0141439518 limit=5 --hub ${HUB}`,
    )
  })

  test("without values a call asks for them, and without queries it is one that sends nothing", () => {
    const inputSchema = { type: "object", properties: { id: {} }, required: ["id"] }
    const tool = spec("files.read", { type: "mutation", inputSchema })
    const reader = { ...tool, name: "look", annotations: { readOnly: true } }
    const shown = (...specs: OperationSpec[]) => suggestions(specs, "operations", HUB)[1]
    expect(shown(tool, reader, spec("pets.get", { inputSchema }))).toEqual({
      line: `operations call pets.get --hub ${HUB}`,
      what: "Does pets.get (asks for what it needs)",
    })
    expect(shown(tool, reader)?.line).toBe(`operations call files.look --hub ${HUB}`)
    expect(shown(tool)).toEqual({
      line: `operations call files.read --dry-run --hub ${HUB}`,
      what: "Does files.read (asks for what it needs, and sends nothing)",
    })
  })

  test("a value that would be read as something else goes as JSON", () => {
    for (const example of [{ file: "@secrets" }, { "a.b": "c" }, { text: "two\nlines" }]) {
      const [, line] = linesFor(spec("a.b", { examples: [example] }))
      expect(line).toContain("--input '{")
    }
  })

  test("with no operation there is still something to do", () => {
    expect(linesFor()).toEqual([`operations list --hub ${HUB}`])
  })
})

describe("words for a shell", () => {
  test("whatever they are, a shell gives them back", () => {
    const word = fc.string({ unit: "grapheme" }).filter((text) => !text.includes("\0"))
    const words = fc
      .sample(fc.array(word, { maxLength: 5 }), { numRuns: 30, seed: 7 })
      .flat()
      .concat(["it's", "$HOME", "`ls`", "=ls", "a=b", "*", "~", "", "-n", "!!", "a\\'b"])
    const script = `for word in ${shellLine(words)}; do printf '%s\\0' "$word"; done`
    const out = execFileSync("sh", ["-c", script], { encoding: "utf8" })
    expect(out.split("\0").slice(0, -1)).toEqual(words)
  })
})
