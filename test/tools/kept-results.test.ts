import { expect, test } from "vitest"
import { KeptResults } from "../../src/tools/kept-results.ts"
import { VirtualClock } from "../support/virtual-clock.ts"

const MINUTES = 60_000

function opened(): { readonly clock: VirtualClock; readonly kept: KeptResults } {
  const clock = new VirtualClock()
  return { clock, kept: new KeptResults(clock) }
}

function result(json = "[]"): { readonly json: string; readonly path: readonly string[] } {
  return { json, path: [] }
}

test("a kept result is read by its caller alone, for five minutes", async () => {
  const { clock, kept } = opened()
  const id = kept.keep("ada", result()) ?? ""
  expect(kept.find("ada", id)).toMatchObject({ json: "[]" })
  expect(kept.find("bob", id)).toBeUndefined()
  expect(kept.find("", id)).toBeUndefined()
  await clock.advance(5 * MINUTES - 1)
  expect(kept.find("ada", id)).toBeDefined()
  await clock.advance(1)
  expect(kept.find("ada", id)).toBeUndefined()
  expect(kept.isEmpty).toBe(true)
})

test("a caller keeps eight results, and takes none from others", () => {
  const { kept } = opened()
  const other = kept.keep("bob", result()) ?? ""
  const ids = Array.from({ length: 10 }, () => kept.keep("ada", result()) ?? "")
  expect(new Set(ids).size).toBe(10)
  expect(ids.filter((id) => kept.find("ada", id) !== undefined)).toEqual(ids.slice(2))
  expect(kept.find("bob", other)).toBeDefined()
})

test("all results together are bounded, the oldest goes first, and too large ones are not kept", () => {
  const { kept } = opened()
  const large = "x".repeat(16 * 1024 * 1024)
  expect(kept.keep("ada", result(`${large}x`))).toBeUndefined()
  const ids = ["ada", "bob", "cleo"].map((who) => kept.keep(who, result(large)) ?? "")
  expect(kept.find("ada", ids[0] ?? "")).toBeUndefined()
  expect(kept.find("bob", ids[1] ?? "")).toBeDefined()
  expect(kept.find("cleo", ids[2] ?? "")).toBeDefined()
})
