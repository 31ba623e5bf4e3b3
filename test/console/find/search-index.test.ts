import { describe, expect, test } from "vitest"
import type { OperationSummary } from "../../../console/src/api/model.ts"
import { createSearchIndex } from "../../../console/src/find/search-index.ts"

describe("createSearchIndex", () => {
  test("gives everything in its order when nothing is asked for", () => {
    const operations = [op("b.two"), op("a.one")]
    const index = createSearchIndex(operations)
    expect(index.search("")).toBe(operations)
    expect(index.search("  \n ")).toBe(operations)
  })

  test("puts the exact id first, then what begins with it", () => {
    const index = createSearchIndex([
      op("task.createMany"),
      op("x.task_create"),
      op("task.create"),
      op("x.y", { description: "like task.create" }),
    ])
    expect(ids(index.search("task.create"))).toEqual([
      "task.create",
      "task.createMany",
      "x.task_create",
      "x.y",
    ])
  })

  test("puts an id above a title, a title above a tag, a tag above a description", () => {
    const index = createSearchIndex([
      op("a.a", { description: "about an issue" }),
      op("a.b", { tags: ["issue"] }),
      op("a.c", { title: "Lists issues" }),
      op("a.reissue"),
      op("a.getIssue"),
    ])
    expect(ids(index.search("issue"))).toEqual(["a.getIssue", "a.reissue", "a.c", "a.b", "a.a"])
  })

  test("takes words in any order, each from wherever it is, and leaves out what misses one", () => {
    const index = createSearchIndex([
      op("github.issues.create", { title: "Create an issue" }),
      op("github.pulls.create", { title: "Create a pull request" }),
      op("gitlab.issues_create"),
    ])
    expect(ids(index.search("create issues"))).toEqual([
      "github.issues.create",
      "gitlab.issues_create",
    ])
    expect(ids(index.search("GITHUB request"))).toEqual(["github.pulls.create"])
    expect(index.search("github zzz yyy")).toEqual([])
  })

  test("finds the words of camel case, underscores and paths", () => {
    const index = createSearchIndex([op("x.getUserByName"), op("x.get_user"), op("x.other")])
    expect(ids(index.search("user"))).toEqual(["x.get_user", "x.getUserByName"])
    expect(ids(index.search("byname"))).toEqual(["x.getUserByName"])
  })

  test("finds by letters in their order when nothing else fits", () => {
    const index = createSearchIndex([op("github.issues.create"), op("zoo.feed")])
    expect(ids(index.search("ghisscr"))).toEqual(["github.issues.create"])
    expect(index.search("qq")).toEqual([])
  })

  test("finds other scripts, and words with and without their accents", () => {
    const index = createSearchIndex([
      op("a.a", { title: "Bücher auflisten" }),
      op("a.b", { description: "図書館の本を探す" }),
      op("a.c", { title: "Emoji 🎉 party" }),
    ])
    expect(ids(index.search("bucher"))).toEqual(["a.a"])
    expect(ids(index.search("Bücher"))).toEqual(["a.a"])
    expect(ids(index.search("図書館"))).toEqual(["a.b"])
    expect(ids(index.search("party"))).toEqual(["a.c"])
  })

  test("puts what is deprecated below its like", () => {
    const index = createSearchIndex([op("a.send", { deprecated: true }), op("longer.send")])
    expect(ids(index.search("send"))).toEqual(["longer.send", "a.send"])
  })

  test("takes any text for a text", () => {
    const index = createSearchIndex([op("a.__proto__"), op("a.constructor"), op("a.x[1](2)")])
    expect(ids(index.search("__proto__"))).toEqual(["a.__proto__"])
    expect(ids(index.search("constructor"))).toEqual(["a.constructor"])
    expect(index.search("(((")).toEqual([])
    expect(index.search("\\")).toEqual([])
    expect(index.search("x".repeat(100_000))).toEqual([])
  })

  test("finds by the name of a source", () => {
    const index = createSearchIndex([op("a.one", { source: "petstore" }), op("a.two")])
    expect(ids(index.search("petstore"))).toEqual(["a.one"])
  })
})

function op(id: string, more: Partial<OperationSummary> = {}): OperationSummary {
  const [namespace = "", ...rest] = id.split(".")
  return { id, namespace, name: rest.join("."), type: "query", description: "", ...more }
}

function ids(operations: readonly OperationSummary[]): readonly string[] {
  return operations.map(({ id }) => id)
}
