import { describe, expect, test } from "vitest"
import { Batch } from "../../src/transport/batch.ts"
import { nextTurn } from "./recorder.ts"

function batchOf(limit: number): { batch: Batch<string>; flushed: string[][] } {
  const flushed: string[][] = []
  const batch = new Batch<string>(limit, (items) => flushed.push(items))
  return { batch, flushed }
}

describe("Batch", () => {
  test("sends what was added in one turn together, in order", async () => {
    const { batch, flushed } = batchOf(100)

    batch.add("a", 1)
    batch.add("b", 1)
    expect(flushed).toEqual([])
    expect(batch.weight).toBe(2)
    await nextTurn()
    batch.add("c", 1)
    await nextTurn()

    expect(flushed).toEqual([["a", "b"], ["c"]])
    expect(batch.weight).toBe(0)
  })

  test("does not wait past its limit, and never splits an item", () => {
    const { batch, flushed } = batchOf(10)

    batch.add("a", 6)
    batch.add("b", 6)
    batch.add("c", 50)

    expect(flushed).toEqual([["a"], ["b"]])
    expect(batch.take()).toEqual(["c"])
  })

  test("an empty batch sends nothing", async () => {
    const { batch, flushed } = batchOf(10)

    batch.flush()
    batch.add("a", 1)
    expect(batch.take()).toEqual(["a"])
    await nextTurn()

    expect(flushed).toEqual([])
  })

  test("what is added while it is sent goes with the next one", async () => {
    const flushed: number[][] = []
    const batch: Batch<number> = new Batch<number>(100, (items) => {
      flushed.push(items)
      if (flushed.length < 3) batch.add(flushed.length, 1)
    })

    batch.add(0, 1)
    for (let turn = 0; turn < 4; turn++) await nextTurn()

    expect(flushed).toEqual([[0], [1], [2]])
  })
})
