import { describe, expect, test } from "vitest"
import { linkTo, parseRoute } from "../../../console/src/app/route.ts"
import type { Route } from "../../../console/src/app/route.ts"

const routes: readonly Route[] = [
  { view: "find" },
  { view: "calls" },
  { view: "sources" },
  { view: "history" },
  { view: "operation", id: "task.create" },
  { view: "operation", id: "task.create", tab: "schema" },
  { view: "operation", id: "a/b?c#d%e f&g", tab: "x&y=z" },
  { view: "operation", id: "task.create", tab: "schema", input: '{"q":"a?b&c=d#e%","n":[1]}' },
  { view: "operation", id: "日本.本 🎉" },
  { view: "operation", id: "__proto__.constructor" },
]

describe("addresses of views", () => {
  test.each(routes)("lead back to what they are of: %j", (route) => {
    expect(parseRoute(linkTo(route))).toEqual(route)
  })

  test("can be written by hand", () => {
    expect(parseRoute("#/o/files/read.txt")).toEqual({ view: "operation", id: "files/read.txt" })
    expect(parseRoute("#/o/100%")).toEqual({ view: "operation", id: "100%" })
    expect(parseRoute("#/o/a.b?tab=")).toEqual({ view: "operation", id: "a.b" })
  })

  test.each(["", "#", "#/", "#/nothing", "#/o/", "#/o", "#//evil.example", "#javascript:alert(1)"])(
    "lead to the beginning when they are none: %j",
    (hash) => {
      expect(parseRoute(hash)).toEqual({ view: "find" })
    },
  )
})
