import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { drawSeries, formatNumber, positionOn, scaleOf } from "../../../console/src/watch/scale.ts"
import { numericFields, preferredField, readNumber } from "../../../console/src/watch/series.ts"
import { describeSeries, summarise } from "../../../console/src/watch/summary.ts"

const BOX = { width: 100, height: 50 }

describe("numericFields", () => {
  test("finds items that are numbers", () => {
    expect(numericFields([1, 2])).toEqual([{ pointer: "", path: [], label: "value" }])
  })

  test("finds numbers within items, those in most items first", () => {
    const fields = numericFields([{ a: 1, b: { c: 2 } }, { b: { c: 3 } }, { name: "x" }])

    expect(fields.map(({ label }) => label)).toEqual(["b.c", "a"])
  })

  test.each([[[]], [["a", null, true, undefined]], [[{}]], [[[1, 2]]], [[{ a: Number.NaN }]]])(
    "finds nothing in %j",
    (values) => {
      expect(numericFields(values)).toEqual([])
    },
  )

  test("distinguishes names with dots and slashes", () => {
    const fields = numericFields([{ "a.b": 1, a: { b: 2 }, "a/b": 3, "~1": 4 }])

    expect(new Set(fields.map(({ pointer }) => pointer)).size).toBe(4)
  })

  test("is bounded, in depth and in number", () => {
    const wide = Object.fromEntries(
      Array.from({ length: 1000 }, (_, index) => [`f${index}`, index]),
    )
    const deep: unknown = JSON.parse(`${'{"a":'.repeat(5000)}1${"}".repeat(5000)}`)

    expect(numericFields([wide]).length).toBeLessThanOrEqual(40)
    expect(numericFields([deep])).toEqual([])
  })

  test("reads own properties only", () => {
    const hostile: unknown = JSON.parse('{"__proto__": {"x": 5}}')
    const [field] = numericFields([hostile])

    expect(field && readNumber(hostile, field.path)).toBe(5)
    expect(readNumber({}, ["__proto__", "x"])).toBeUndefined()
    expect(readNumber({}, ["constructor", "length"])).toBeUndefined()
    expect(readNumber([1], ["length"])).toBe(1)
  })
})

describe("preferredField", () => {
  test("passes over ids and times while there is something else", () => {
    const [fields, onlyTimes] = [
      numericFields([{ tick: 1, id: 1, createdAt: 2, timestamp: 3, price: 4 }]),
      numericFields([{ timestamp: 3 }]),
    ]

    expect(preferredField(fields)?.label).toBe("price")
    expect(preferredField(onlyTimes)?.label).toBe("timestamp")
    expect(preferredField([])).toBeUndefined()
  })
})

describe("scaleOf", () => {
  test("has round numbers around the values", () => {
    const { low, high, ticks } = scaleOf([3, 97, undefined, 41])

    expect([low, high]).toEqual([0, 100])
    expect(ticks.map(({ label }) => label)).toEqual(["0", "50", "100"])
  })

  test("has no digits of its own making", () => {
    expect(scaleOf([0.1, 0.5]).ticks.map(({ label }) => label)).toEqual([
      "0.1",
      "0.2",
      "0.3",
      "0.4",
      "0.5",
    ])
  })

  test.each([[[]], [[undefined]], [[0]], [[5, 5]], [[-1e-320, 1e-320]]])(
    "has room for %j",
    (values: (number | undefined)[]) => {
      const { low, high } = scaleOf(values)

      expect(low).toBeLessThan(high)
    },
  )

  test("holds all values there are, in a grid of few lines", () => {
    const number = fc.double({ noNaN: true, noDefaultInfinity: true })
    fc.assert(
      fc.property(fc.array(number, { minLength: 1, maxLength: 20 }), (values) => {
        const scale = scaleOf(values)
        expect(scale.ticks.length).toBeLessThan(20)
        for (const value of values) {
          const position = positionOn(scale, value)
          expect(position).toBeGreaterThanOrEqual(0)
          expect(position).toBeLessThanOrEqual(1)
        }
        expect(drawSeries(values, scale, BOX).lines.join(" ")).not.toMatch(/NaN|Infinity/)
      }),
    )
  })

  test("keeps the order of values", () => {
    const values = [-Number.MAX_VALUE, -1, 0, 1, Number.MAX_VALUE]
    const scale = scaleOf(values)
    const positions = values.map((value) => positionOn(scale, value))

    expect(positions).toEqual(positions.toSorted((a, b) => a - b))
    expect(positions[0]).toBe(0)
    expect(positions.at(-1)).toBe(1)
  })
})

describe("drawSeries", () => {
  test("goes from one side to the other, upwards for more", () => {
    expect(drawSeries([0, 10], { low: 0, high: 10 }, BOX)).toEqual({
      lines: ["0,50 100,0"],
      dots: [],
    })
  })

  test("is broken where a number is missing; one that stands alone is a dot", () => {
    const { lines, dots } = drawSeries([1, 2, undefined, 3, undefined], { low: 0, high: 4 }, BOX)

    expect(lines).toHaveLength(1)
    expect(dots).toEqual([{ x: 75, y: 12.5 }])
  })

  test("puts a single value in the middle, and nothing nowhere", () => {
    expect(drawSeries([5], { low: 0, high: 10 }, BOX).dots).toEqual([{ x: 50, y: 25 }])
    expect(drawSeries([], { low: 0, high: 1 }, BOX)).toEqual({ lines: [], dots: [] })
  })
})

describe("a chart in words", () => {
  test("says what is seen", () => {
    const words = describeSeries("price", summarise([1, 2, undefined, 3, 4]))

    expect(words).toBe("price: 4 values, rising. Latest 4, lowest 1, highest 4, mean 2.5.")
  })

  test.each([
    [[4, 3, 2, 1], "falling"],
    [[1, 2, 1, 2], "steady"],
    [[7, 7, 7, 7], "steady"],
  ])("%j is %s", (values, trend) => {
    expect(summarise(values)?.trend).toBe(trend)
  })

  test("does not overflow, and omits missing values", () => {
    expect(summarise([Number.MAX_VALUE, Number.MAX_VALUE])?.mean).toBe(Number.MAX_VALUE)
    expect(describeSeries("price", summarise([undefined]))).toBe("price: no numbers yet.")
    expect(summarise(Array.from({ length: 200_000 }, () => 1))?.count).toBe(200_000)
  })
})

test.each([
  [0, "0"],
  [0.1 + 0.2, "0.3"],
  [1234.5, "1234.5"],
  [123_456_789, "123456789"],
  [1.5e12, "1.50e12"],
  [-0.000_01, "-1.00e-5"],
])("formatNumber(%d) is %s", (value, text) => {
  expect(formatNumber(value)).toBe(text)
})
