import { pathToFileURL } from "node:url"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { fileUrl, isUnder, joinPath } from "../../../src/sources/scan/paths.ts"

describe("fileUrl", () => {
  test("writes the same URL as Node, whatever the name", () => {
    const name = fc
      .string({ unit: "grapheme", minLength: 1 })
      .filter((text) => !/[/\0]/.test(text) && text !== "." && text !== "..")

    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 4 }), (names) => {
        const path = `/${names.join("/")}`
        expect(fileUrl(path, "/")).toBe(pathToFileURL(path).href)
      }),
      {
        examples: [
          [["a#b?c%d.ts"]],
          [["100%41"]],
          [["a\\b"]],
          [["a b"]],
          [["a\nb\rc\td"]],
          [["%2e%2e"]],
          [["[id].ts", "a^b|c~d"]],
          [["C:"]],
          [["ü", "日本", "😀.mjs"]],
        ],
      },
    )
  })

  test.each([
    ["ops/a.ts", "/app", "file:///app/ops/a.ts"],
    ["./ops/a.ts", "/app/", "file:///app/ops/a.ts"],
    ["../a.ts", "/app/x", "file:///app/a.ts"],
    ["/ops/a.ts", "/app", "file:///ops/a.ts"],
  ])("%s from %s", (path, cwd, url) => {
    expect(fileUrl(path, cwd)).toBe(url)
  })

  test.each([
    ["C:\\ops\\a b.ts", "C:\\app", "file:///C:/ops/a%20b.ts"],
    ["C:/ops/a#1.ts", "C:\\app", "file:///C:/ops/a%231.ts"],
    ["ops/a%.ts", "D:\\app", "file:///D:/app/ops/a%25.ts"],
    ["ops\\a.ts", "D:\\app\\", "file:///D:/app/ops/a.ts"],
    ["/ops/a.ts", "D:\\app", "file:///D:/ops/a.ts"],
    ["\\\\server\\share\\a.ts", "C:\\app", "file://server/share/a.ts"],
    ["\\\\?\\C:\\ops\\a.ts", "C:\\app", "file:///C:/ops/a.ts"],
    ["\\\\?\\UNC\\server\\share\\a.ts", "C:\\app", "file://server/share/a.ts"],
  ])("%s on Windows, from %s", (path, cwd, url) => {
    expect(fileUrl(path, cwd)).toBe(url)
  })
})

describe("joinPath", () => {
  test.each([
    ["ops", "a.ts", "ops/a.ts"],
    ["ops/", "a.ts", "ops/a.ts"],
    ["/", "a.ts", "/a.ts"],
    ["C:\\", "a.ts", "C:\\a.ts"],
  ])("%s and %s", (folder, name, path) => {
    expect(joinPath(folder, name)).toBe(path)
  })
})

describe("isUnder", () => {
  test.each([
    ["/ops", "/ops", true],
    ["/ops", "/ops/a.ts", true],
    ["/ops", "/ops-too/a.ts", false],
    ["/ops", "/", false],
    ["/", "/ops", true],
    ["C:\\ops", "C:\\ops\\a.ts", true],
    ["C:\\ops", "C:\\opsx\\a.ts", false],
    ["C:\\", "C:\\ops", true],
  ])("%s holds %s: %s", (folder, path, holds) => {
    expect(isUnder(folder, path)).toBe(holds)
  })
})
