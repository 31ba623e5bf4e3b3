import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { mintNumber, mintRequestId, requestIdOf, requestNumber } from "../../src/engine/ids.ts"
import type { Pending } from "../../src/protocol/pending/table.ts"
import { PendingTable } from "../../src/protocol/pending/table.ts"

function entry(number: number): Pending {
  return { number, requestId: requestIdOf(number) } as Pending
}

describe("PendingTable", () => {
  test("finds what a plain map finds, whatever comes and goes", () => {
    const steps = fc.array(
      fc.record({
        // Few numbers far apart, so that places are taken over.
        number: fc.integer({ min: 1, max: 400 }).map((n) => n * 32),
        isAdded: fc.boolean(),
      }),
      { maxLength: 400 },
    )
    fc.assert(
      fc.property(steps, (moves) => {
        const table = new PendingTable()
        const plain = new Map<number, Pending>()
        for (const { number, isAdded } of moves) {
          const known = plain.get(number)
          if (isAdded && known === undefined) {
            const added = entry(number)
            plain.set(number, added)
            table.add(added)
          } else if (!isAdded) {
            table.remove(known ?? entry(number))
            plain.delete(number)
          }
          expect(table.size).toBe(plain.size)
        }
        for (const { number } of moves) {
          expect(table.get(requestIdOf(number))).toBe(plain.get(number))
        }
        const inOrder = [...plain.values()].sort((one, other) => one.number - other.number)
        expect(table.all()).toEqual(inOrder)
      }),
    )
  })

  test("an id of someone else's finds nothing", () => {
    const table = new PendingTable()
    const mine = entry(mintNumber())
    table.add(mine)

    for (const id of ["", "x", "-", `other-${mine.number.toString(36)}`, `${mine.requestId}0`]) {
      expect(table.get(id)).toBeUndefined()
    }
    expect(table.get(mine.requestId)).toBe(mine)
  })

  test("an id contains its number, and is generated once", () => {
    const ids = Array.from({ length: 100 }, () => mintRequestId())

    expect(new Set(ids).size).toBe(100)
    expect(ids.map((id) => requestIdOf(requestNumber(id)))).toEqual(ids)
  })
})
