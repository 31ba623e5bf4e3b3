import { expect, describe, test } from "vitest"
import { resolveRef } from "../../../src/schema/read/resolve-ref.ts"

describe("resolveRef", () => {
  const root = {
    $defs: {
      "a/b": { title: "slash" },
      "c~d": { title: "tilde" },
      "100%": { title: "percent" },
      "%2F": { title: "encoded" },
      part: { $id: "https://x.test/part", title: "part", $defs: { inner: { title: "inner" } } },
      here: { $anchor: "anchor", title: "anchored" },
    },
    definitions: { old: { $anchor: "older", title: "older" } },
    anyOf: [{ title: "first" }, true],
  }

  test.each([
    ["#", root],
    ["#/$defs/a~1b", { title: "slash" }],
    ["#/$defs/c~0d", { title: "tilde" }],
    ["#/%24defs/a~1b", { title: "slash" }],
    ["#/$defs/100%", { title: "percent" }],
    ["#/$defs/%252F", { title: "encoded" }],
    ["#/anyOf/0", { title: "first" }],
    ["#/anyOf/1", true],
    ["https://x.test/part", root.$defs.part],
    ["https://x.test/part#/$defs/inner", { title: "inner" }],
    ["#anchor", root.$defs.here],
    ["#older", root.definitions.old],
    ["here", root.$defs.here],
  ])("finds %s", (reference, target) => {
    expect(resolveRef(root, reference)).toEqual(target)
  })

  test.each([
    "",
    "other.json#/a",
    "nowhere",
    "toString",
    "#nowhere",
    "#/anyOf/1/x",
    "#/$defs/toString",
    "#/__proto__/x",
  ])("does not find %j", (reference) => {
    expect(resolveRef(root, reference)).toBeUndefined()
  })
})
