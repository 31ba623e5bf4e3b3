import { describe, expect, test } from "vitest"
import { KeptIds } from "../../../console/src/find/kept-ids.ts"

function shelfOf(text: string | null = null): { text: string | null } & {
  getItem(): string | null
  setItem(key: string, value: string): void
} {
  return {
    text,
    getItem() {
      return this.text
    },
    setItem(_key, value) {
      this.text = value
    },
  }
}

describe("kept ids", () => {
  test("have the newest first, each once, up to a number, over a reload", () => {
    const shelf = shelfOf()
    const ids = new KeptIds("k", 3, () => shelf)
    for (const id of ["a", "b", "a", "c", "d"]) ids.add(id)
    expect(ids.get()).toEqual(["d", "c", "a"])
    expect(new KeptIds("k", 3, () => shelf).get()).toEqual(["d", "c", "a"])
    ids.clear()
    expect(new KeptIds("k", 3, () => shelf).get()).toEqual([])
  })

  test("are added and removed by turns", () => {
    const ids = new KeptIds("k", 3, () => shelfOf())
    ids.toggle("a")
    ids.toggle("b")
    ids.toggle("a")
    expect(ids.get()).toEqual(["b"])
  })

  test.each(["{", "null", "7", '{"length":2}', '[1,null,["x"],{}]'])(
    "stand a storage that holds %s",
    (text) => {
      expect(new KeptIds("k", 3, () => shelfOf(text)).get()).toEqual([])
    },
  )

  test("drop what is too long or there twice", () => {
    const text = JSON.stringify(["x".repeat(501), "__proto__", "a", "a", "b", "c"])
    expect(new KeptIds("k", 3, () => shelfOf(text)).get()).toEqual(["__proto__", "a", "b"])
  })

  test("last as long as the page where the browser stores nothing", () => {
    const ids = new KeptIds("k", 3, () => {
      throw new Error("blocked")
    })
    ids.add("a")
    expect(ids.get()).toEqual(["a"])
  })
})
