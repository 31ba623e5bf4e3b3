import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { readJsonc } from "../../src/config/jsonc.ts"
import { locateInScript } from "../../src/config/locate-script.ts"
import { ParseError } from "../../src/config/located.ts"
import { readLocatedYaml } from "../../src/config/located-yaml.ts"

const CANARY = "canary-77-secret"

describe("readJsonc", () => {
  test("reads what JSON.stringify writes", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        expect(readJsonc(text).value).toEqual(JSON.parse(text))
      }),
    )
  })

  test("agrees with JSON.parse about what is none", () => {
    const characters = Array.from('{}[]",:1e.-+ tru\\nl')
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...characters) }), (text) => {
        // Ours lets a comma at the end of a list pass, and refuses a name that is there twice.
        fc.pre(!/,\s*[}\]]/.test(text) && !/:[^]*:/.test(text))
        expect(outcomeOf(() => readJsonc(text).value)).toEqual(
          outcomeOf(() => JSON.parse(text) as unknown),
        )
      }),
      { numRuns: 2000 },
    )
  })

  test("comments, commas at the end and a byte order mark are fine", () => {
    const text = `\uFEFF// a\n{ /* "x": 1 */ "a": ["// no", 1,], }\n// end`

    expect(readJsonc(text).value).toEqual({ a: ["// no", 1] })
  })

  test("knows where everything is, and the nearest place of what is missing", () => {
    const { where } = readJsonc(`{\n  "a": {\n    "b": [1,\n      {"c": 2}]\n  }\n}`)

    expect(where(["a"])).toEqual({ line: 2, column: 3 })
    expect(where(["a", "b", "1", "c"])).toEqual({ line: 4, column: 8 })
    expect(where(["a", "b", "1", "no", "no"])).toEqual({ line: 4, column: 7 })
    expect(where([])).toEqual({ line: 1, column: 1 })
  })

  test("keeps __proto__ a name", () => {
    expect(Object.keys(readJsonc(`{"__proto__": 1}`).value as object)).toEqual(["__proto__"])
  })

  test.each([
    ["", undefined, "is empty"],
    [`{"a": 1\n "b": 2}`, 2, `needs "," or "}"`],
    [`{"a" 1}`, 1, `needs ":"`],
    [`{\na: 1}`, 2, "in quotation marks"],
    [`{"a": b}`, 1, "needs a value"],
    [`{"a": "${CANARY}\n"}`, 1, "does not end on its line"],
    [`{"a": "${CANARY}\\x"}`, 1, "wrong backslash"],
    [`{"a": 1,\n\n"a": 2}`, 3, "a name twice"],
    [`{} ${CANARY}`, 1, "after its end"],
    ["/* ", 1, "a comment that does not end"],
    ["[".repeat(300), 1, "nested deeper"],
    ["[1, [2", 1, `needs "," or "]"`],
  ])("%j is refused with its line", (text, line, message) => {
    const fault = faultOf(() => readJsonc(text))

    expect(fault.message).toContain(message)
    expect(fault.place?.line).toBe(line)
    expect(fault.message).not.toContain(CANARY)
  })
})

describe("readLocatedYaml", () => {
  test("knows where everything is", () => {
    const { value, where } = readLocatedYaml(
      "# a\nsources:\n  api:\n    openapi: x\n    'include':\n      - a\n      - b: 1\nmore: {c: 1}\n",
    )

    expect(value).toMatchObject({ sources: { api: { include: ["a", { b: 1 }] } }, more: { c: 1 } })
    expect(where(["sources", "api", "openapi"])).toEqual({ line: 4, column: 5 })
    expect(where(["sources", "api", "include", "1", "b"])?.line).toBe(7)
    expect(where(["more", "c"])).toEqual({ line: 8, column: 8 })
  })

  test("anchors and merge keys are followed", () => {
    const { value } = readLocatedYaml("a: &x {k: 1}\nb:\n  <<: *x\n  l: 2\n")

    expect(value).toEqual({ a: { k: 1 }, b: { k: 1, l: 2 } })
  })

  test.each([
    ["", undefined, "is empty"],
    ["a: 1\na: 2\n", 2, "a name twice"],
    [`a: *${CANARY}\n`, 1, "alias"],
    [`a:\n  b: !${CANARY} x\n`, 2, "tag"],
    [`a: "${CANARY}\n`, 2, "is not YAML"],
    [`a: [${CANARY}\nb: 1`, 2, "is not YAML"],
    ["a: 1\n---\nb: 1\n", undefined, "2 YAML documents"],
    ["[".repeat(300), 1, "nesting"],
    ["a: &a [*a]", undefined, "would never end"],
  ])("%j is refused with its line", (text, line, message) => {
    const fault = faultOf(() => readLocatedYaml(text))

    expect(fault.message).toContain(message)
    expect(fault.place?.line).toBe(line)
    expect(fault.message).not.toContain(CANARY)
  })
})

describe("locateInScript", () => {
  const where = locateInScript(
    [
      `import { defineConfig } from "@alkdev/operations/config" // sources: { github: {`,
      "const shared = { retries: 3, 'X-Odd': `{ sources: ${`}`} {` }",
      "export default defineConfig({",
      "  /* sources: { github: { hedaers",
      "  */ sources: {",
      `    github: { openapi: cond ? "a" : b, re: /[{"/]/g,`,
      "      hedaers: { a: 1 / 2, b: [x, { deep: () => { return { deep: 1 } } }] },",
      "    },",
      "    shared,",
      `    "my api": { scan: "x", method() { return {} }, include: ["a", 4] },`,
      "  },",
      "  ...other,",
      "})",
    ].join("\n"),
  )

  test.each<[readonly string[], number | undefined]>([
    [["sources"], 5],
    [["sources", "github", "openapi"], 6],
    [["sources", "github", "hedaers"], 7],
    [["sources", "github", "hedaers", "b", "1"], 7],
    [["sources", "my api"], 10],
    [["sources", "my api", "include", "1"], 10],
    [["sources", "shared", "retries"], 2],
    [["sources", "shared", "nothing"], 9],
    [["sources", "github", "missing"], 6],
    [["nowhere"], undefined],
    [[], undefined],
  ])("%j", (keys, line) => {
    expect(where(keys)?.line).toBe(line)
  })

  test("any text is survived", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...Array.from("{}[]()`\"'/\\:,a $\n*")) }),
        (text) => void locateInScript(text)(["a", "0", "a"]),
      ),
      { numRuns: 2000 },
    )
  })
})

function faultOf(read: () => unknown): ParseError {
  try {
    read()
  } catch (thrown) {
    if (thrown instanceof ParseError) return thrown
    throw thrown
  }
  throw new Error("It was read.")
}

/** What came of reading; nothing more than that it failed, if it did. */
function outcomeOf(read: () => unknown): unknown {
  try {
    return { value: read() }
  } catch {
    return "failed"
  }
}
