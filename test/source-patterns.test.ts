import { readFileSync, readdirSync } from "node:fs"
import { expect, test } from "vitest"
import { isNative } from "../src/schema/regex/safe-regexp.ts"
import { maskSource } from "./support/source-scan.ts"
import { UNPROVEN } from "./support/unproven-patterns.ts"

const root = new URL("../src/", import.meta.url)

/** Patterns of the sources that are not proven to take linear time, whatever the text. */
function unproven(): string[] {
  const found = new Set<string>()
  for (const file of readdirSync(root, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".ts")) continue
    maskSource(readFileSync(new URL(file, root), "utf8"), (literal) => {
      if (!isProven(literal.slice(1, literal.lastIndexOf("/")))) found.add(`${file} ${literal}`)
    })
  }
  return [...found].toSorted()
}

function isProven(pattern: string): boolean {
  try {
    return isNative(pattern)
  } catch {
    return false
  }
}

test("no new pattern of the sources lacks a proof that it takes linear time", () => {
  // Remove what is proven now; do not add to the list, but write a pattern that is proven, or a loop.
  expect(unproven()).toEqual(UNPROVEN)
})

test.each([
  String.raw`([A-Z]+)([A-Z][a-z])`,
  String.raw`^(\w*):? ?(.*)$`,
  String.raw`^(?:api)s?(?:[._-]?v?\d+)*$`,
])("the proof refuses %s, which took hours", (pattern) => {
  expect(isProven(pattern)).toBe(false)
})
