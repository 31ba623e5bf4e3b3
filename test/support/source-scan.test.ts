import { describe, expect, test } from "vitest"
import { findGlobals, findImports, maskSource } from "./source-scan.ts"

const specifiers = (source: string): (string | undefined)[] =>
  findImports(source).map((reference) => reference.specifier)

describe("maskSource", () => {
  test("keeps the length and the lines", () => {
    const source = 'const a = "x\\"y" // done\n/* two\nlines */ const b = `t${a + `u${"}"}`}v`\n'
    const masked = maskSource(source)

    expect(masked).toHaveLength(source.length)
    expect(masked.split("\n")).toHaveLength(source.split("\n").length)
    expect(masked).toContain("const b =")
    expect(masked).not.toMatch(/done|lines|x|y|v/)
  })

  test("keeps the code inside a template, with its own braces", () => {
    expect(maskSource("`text ${pick({ a: { b: 1 } })} more ${last} end`; after")).toBe(
      "`     ${pick({ a: { b: 1 } })}      ${last}    `; after",
    )
  })

  test.each([
    ["const r = /['\"`]/g; next", "const r = /     /g; next"],
    ['call(/[/"]/, x)', "call(/    /, x)"],
    ['return /a\\/"b/', "return /     /"],
    ["const half = total / 2 / count", "const half = total / 2 / count"],
    ["(a + b) / c; list[0] / d", "(a + b) / c; list[0] / d"],
    ["x = /* '*/ 1", "x =        1"],
    ["#!/usr/bin/env it's\nrun()", "                   \nrun()"],
  ])("tells a regular expression from a division: %s", (source, masked) => {
    expect(maskSource(source)).toBe(masked)
  })
})

describe("findImports", () => {
  test("finds every form of import and export-from", () => {
    const source = [
      'import a from "a"',
      "import * as b from 'b'",
      'import c, { d as e } from "c"',
      'import {\n  f,\n  // from "no"\n  g,\n} from "f"',
      'export * from "h"',
      'export * as i from "i"',
      'export { j } from "j"',
      'import "k"',
      'const l = await import("l")',
      "const m = () => import(`m`)",
      "const n = await import(name)",
      'export{o}from"o"',
    ].join("\n")

    expect(specifiers(source)).toEqual([
      "a",
      "b",
      "c",
      "f",
      "h",
      "i",
      "j",
      "k",
      "l",
      "m",
      undefined,
      "o",
    ])
  })

  test("knows which imports are erased", () => {
    const source = [
      'import type { A } from "type-a"',
      'import type B from "type-b"',
      'import type * as C from "type-c"',
      'export type { D } from "type-d"',
      'export type * from "type-e"',
      'let f: typeof import("type-f")',
      'import { type G } from "value-g"',
      'import type from "value-h"',
      'import type, { i } from "value-i"',
      'export type J = string\nimport { j } from "value-j"',
      'export type { K }\nimport { k } from "value-k"',
    ].join("\n")

    for (const { specifier, typeOnly } of findImports(source)) {
      expect({ specifier, typeOnly }).toEqual({
        specifier,
        typeOnly: specifier?.startsWith("type-"),
      })
    }
    expect(findImports(source)).toHaveLength(11)
  })

  test("ignores what only looks like an import", () => {
    const source = [
      '// import a from "a"',
      '/* export * from "b" */',
      "const c = \"import d from 'd'\"",
      "const e = `import f from 'f' ${1}`",
      'const g = /import h from "h"/',
      'const url = import.meta.url + "x"',
      'registry.import("i")',
      'const from = "j"',
      'export const k = { from: "k" }',
      'export default "l"',
      'Array.from("m")',
    ].join("\n")

    expect(findImports(source)).toEqual([])
  })

  test("says on which line", () => {
    expect(findImports('\n\nimport "a"\n')).toEqual([
      { specifier: "a", kind: "static", typeOnly: false, line: 3 },
    ])
  })
})

describe("findGlobals", () => {
  const names = ["process", "Buffer", "require"]
  const used = (source: string): string[] =>
    findGlobals(source, names).map((use) => `${use.line}:${use.name}`)

  test("finds a global however it is reached", () => {
    expect(used("const env = process.env")).toEqual(["1:process"])
    expect(used("\nif (typeof Buffer !== 'undefined') x()")).toEqual(["2:Buffer"])
    expect(used("globalThis.process?.exit()")).toEqual(["1:process"])
    expect(used('globalThis["Buffer"]')).toEqual(["1:Buffer"])
    expect(used("const all = [...process.argv]")).toEqual(["1:process"])
    expect(used("`${process.pid}`")).toEqual(["1:process"])
    expect(used("const fs = require('fs')")).toEqual(["1:require"])
    expect(used("const a = { process }")).toEqual(["1:process"])
    expect(used("const a = b ? process : c")).toEqual(["1:process"])
  })

  test("leaves members, comments, strings and longer names alone", () => {
    const source = [
      "// process.env",
      '"process.env"',
      "queue.process(item)",
      "const shape = { process: 1, require: true }",
      "interface A {\n  process?: string\n  readonly require: boolean\n}",
      "this.#process()",
      "reprocess(processing, ArrayBuffer, $process, requireAll)",
      "const t = /process/.test(x)",
      "class B {\n  process(item: string): void {\n  }\n}",
    ].join("\n")

    expect(used(source)).toEqual([])
  })
})
