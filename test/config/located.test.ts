import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { locateInScript } from "../../src/config/locate-script.ts"
import { readLocatedYaml } from "../../src/config/located-yaml.ts"
import { parseErrorOf } from "../support/parse-error.ts"
import { runs } from "../support/nightly.ts"

const CANARY = "canary-77-secret"

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
    const fault = parseErrorOf(() => readLocatedYaml(text))

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
      { numRuns: runs(400) },
    )
  })
})
