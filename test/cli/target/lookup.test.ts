import { describe, expect, test } from "vitest"
import { resolveId } from "../../../src/cli/target/lookup.ts"

const ids = ["github.issues.create", "github.issues.list", "gitlab.issues.list", "mail.send_Now"]

function resolve(given: string, among: readonly string[] = ids): string {
  return resolveId(given, among, [])
}

describe("resolveId", () => {
  test.each([
    ["github.issues.create", "github.issues.create"],
    ["issues.create", "github.issues.create"],
    ["create", "github.issues.create"],
    ["issues/create", "github.issues.create"],
    ["send-now", "mail.send_Now"],
    ["gitlab.issues.list", "gitlab.issues.list"],
  ])("%s is %s", (given, id) => {
    expect(resolve(given)).toBe(id)
  })

  test("an id counts before the end of another", () => {
    expect(resolve("a.b", ["x.a.b", "a.b"])).toBe("a.b")
  })

  test("a name that several end with is refused, and they are named", () => {
    expect(() => resolve("issues.list")).toThrow(
      '"issues.list" could be any of 2 operations: "github.issues.list", "gitlab.issues.list". Give the whole id.',
    )
    const many = Array.from({ length: 9 }, (_, at) => `n${at}.x`)
    expect(() => resolve("x", many)).toThrow('"n4.x" and 4 more')
  })

  test.each([
    ["github.issues.crate", "github.issues.create"],
    ["issues.crate", "github.issues.create"],
    ["mail.sendNow", "mail.send_Now"],
  ])("%s suggests %s", (given, id) => {
    expect(() => resolve(given)).toThrow(`is not registered. Did you mean "${id}"?`)
  })

  test.each([[""], ["."], ["..."], ["__proto__"], ["sues.create"], ["x".repeat(5000)]])(
    "%j is nothing",
    (given) => {
      expect(() => resolve(given)).toThrow("is not registered.")
      expect(() => resolve(given, [])).toThrow("is not registered.")
    },
  )

  test("finds what was meant among thousands", () => {
    const thousands = Array.from({ length: 5000 }, (_, at) => `api.operation${at}.get`)

    expect(() => resolve("api.operation4321.gett", [...thousands, "api.zzz"])).toThrow(
      'Did you mean "api.operation4321.get"?',
    )
  })

  const failures = [
    { name: "gh", namespace: "github", reason: "No answer." },
    { name: "files", namespace: "files", reason: "No such folder." },
  ]

  test("an operation of a source that failed is answered with the reason of that source only", () => {
    expect(() => resolveId("github.x", ids, failures)).toThrow(
      expect.objectContaining({
        code: "UNAVAILABLE",
        message: '"github.x" is not available: its source "gh" could not be opened. No answer.',
      }),
    )
  })

  test("an operation that may be in a failed source names those sources, without reasons", () => {
    expect(() => resolveId("quux", ids, failures)).toThrow(
      /^Operation "quux" is not registered\. It may be in one of the sources that could not be opened: "gh", "files"\.$/,
    )
    expect(() => resolveId("quux", ids, failures.slice(1))).toThrow(
      /It may be in the source "files", which could not be opened\.$/,
    )
    expect(() => resolveId("gitlab.issues.lst", ids, failures)).toThrow(
      /Did you mean "gitlab\.issues\.list"\?$/,
    )
  })
})
