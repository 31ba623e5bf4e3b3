import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { asLine, lineReader, Tail } from "../../../../src/mcp/lines.ts"

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Pieces of some bytes, cut at the given places. */
function cut(whole: Uint8Array, places: readonly number[]): Uint8Array[] {
  const at = [0, ...places.map((place) => place % (whole.length + 1)), whole.length]
  const sorted = at.toSorted((a, b) => a - b)
  return sorted.slice(1).map((end, index) => whole.slice(sorted[index], end))
}

/** Text of one line that is not blank, with characters of one to four bytes. */
const line = fc
  .string({ unit: fc.constantFrom("a", "ü", "€", "😀", " ", '"', "\\"), minLength: 1 })
  .map((text) => `x${text}x`)

describe("lineReader", () => {
  test("finds the same lines however the bytes are cut", () => {
    const ends = fc.constantFrom("\n", "\r\n", "\n\n", "\n \r\n")
    fc.assert(
      fc.property(
        fc.array(fc.tuple(line, ends)),
        fc.array(fc.nat(), { maxLength: 40 }),
        (lines, places) => {
          const found: string[] = []
          const reader = lineReader(1000, (text) => found.push(text))

          const whole = bytes(lines.map((parts) => parts.join("")).join(""))
          for (const piece of cut(whole, places)) expect(reader.push(piece)).toBe(true)

          expect(found).toEqual(lines.map(([text]) => text))
        },
      ),
    )
  })

  test("refuses a line past the limit wherever it is cut, and all that follows", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 1, max: 60 }),
        fc.array(fc.nat()),
        (limit, length, places) => {
          const found: string[] = []
          const reader = lineReader(limit, (text) => found.push(text))
          const whole = bytes(`${"x".repeat(length)}\n`)

          const isTaken = cut(whole, places).every((piece) => reader.push(piece))

          expect(isTaken).toBe(length <= limit)
          expect(found).toHaveLength(length <= limit ? 1 : 0)
          expect(reader.push(bytes("y\n"))).toBe(length <= limit)
        },
      ),
    )
  })

  test("a large line in small pieces does not take the square of its time", () => {
    const found: number[] = []
    const reader = lineReader(10_000_000, (text) => found.push(text.length))
    const piece = bytes("x".repeat(10))

    for (let at = 0; at < 500_000; at++) reader.push(piece)
    reader.push(bytes("\nlast\n"))

    expect(found).toEqual([5_000_000, 4])
  })
})

test("a message is one line for every reader, and the same message", () => {
  const message = { text: "a\u2028b\u2029c\nd" }
  const sent = asLine(JSON.stringify(message))
  expect(sent.split(/[\n\r\u2028\u2029]/)).toHaveLength(2)
  expect(JSON.parse(sent)).toEqual(message)
})

describe("Tail", () => {
  test("is the end of what was written, however it was cut", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 200 }),
        fc.array(fc.nat()),
        fc.integer({ min: 1, max: 50 }),
        (text, places, size) => {
          const kept = new Tail(size)
          for (const piece of cut(bytes(text), places)) kept.push(piece)

          expect(kept.text()).toBe(text.slice(-size))
        },
      ),
    )
  })

  test("starts with a whole character", () => {
    const kept = new Tail(6)
    kept.push(bytes("😀😀"))

    expect(kept.text()).toBe("😀")
  })
})
