import { isDeepStrictEqual } from "node:util"
import { Readable } from "node:stream"
import { runInNewContext } from "node:vm"
import fc from "fast-check"
import { Type } from "typebox"
import { describe, expect, test } from "vitest"
import { compileSchema } from "../../src/schema/compiled.ts"
import type { Compiled } from "../../src/schema/compiled.ts"
import type { JsonSchema } from "../../src/schema/json.ts"
import { schemas, values } from "./arbitrary-schemas.ts"

/** As the engine does it: only objects are copied. */
function reader(compiled: Compiled): (value: unknown) => unknown {
  const read = compiled.readOnce([])
  return (value) => (typeof value === "object" && value !== null ? read(value) : value)
}

function readOnce(schema: unknown, value: unknown): unknown {
  return reader(compileSchema(schema))(value)
}

/** What an object answers from the second time on. */
const LATER: readonly unknown[] = [null, "later", -1, {}, [{}], { a: { b: 1 } }, undefined]

/** Data behind objects that answer every question as the data does, and anything else from the second time on. */
class Shifty {
  reads = 0
  readonly #draw: () => number

  constructor(draw: () => number) {
    this.#draw = draw
  }

  wrap(value: unknown): unknown {
    if (typeof value !== "object" || value === null || value instanceof Date) return value
    const kind = this.#draw() % 4
    if (kind === 0) return this.#proxied(value)
    if (Array.isArray(value))
      return kind === 1 ? this.#proxied(value) : value.map((item) => this.wrap(item))
    if (kind === 1) return this.#withGetters({}, value)
    if (kind === 2) return Object.create(this.#withGetters(Object.create({}), value))
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.wrap(item)]))
  }

  #later(): unknown {
    return LATER[this.#draw() % LATER.length]
  }

  #withGetters(target: object, value: object): object {
    for (const [key, item] of Object.entries(value)) {
      const first = this.wrap(item)
      let reads = 0
      Object.defineProperty(target, key, {
        enumerable: true,
        configurable: true,
        get: () => {
          reads++
          // Whether an object is a plain one may be asked by that name, too.
          if (key !== "__proto__") this.reads = Math.max(this.reads, reads)
          return reads === 1 ? first : this.#later()
        },
      })
    }
    return target
  }

  #proxied(value: object): object {
    const answers = new Map<PropertyKey, unknown>()
    const target = Array.isArray(value) ? value.map((item) => this.wrap(item)) : { ...value }
    let asked = 0
    return new Proxy(target, {
      get: (from, key) => {
        // Methods of arrays are not data: those that no schema looks into are not copied, and still have `every`.
        const isMethod = !Object.hasOwn(from, key) && key in Array.prototype
        if (typeof key === "symbol" || key === "__proto__" || isMethod)
          return Reflect.get(from, key)
        if (answers.has(key)) return this.#later()
        const answer = this.wrap(Reflect.get(from, key))
        answers.set(key, answer)
        return answer
      },
      ownKeys: (from) =>
        asked++ === 0 ? Reflect.ownKeys(from) : [...Reflect.ownKeys(from), "later"],
    })
  }
}

describe("readOnce", () => {
  test("what passes the check once passes it ever after, however the data changes its answers", () => {
    let valid = 0
    fc.assert(
      fc.property(
        schemas,
        fc.array(values, { minLength: 4, maxLength: 8 }),
        fc.infiniteStream(fc.nat(1000)),
        (schema, several, draws) => {
          const compiled = compileSchema(structuredClone(schema))
          const read = reader(compiled)
          for (const value of several) {
            const shifty = new Shifty(() => draws.next().value as number)
            const copy = read(shifty.wrap(value))
            expect(shifty.reads).toBeLessThan(2)
            if (!compiled.check(copy)) continue
            valid++
            for (let again = 0; again < 5; again++) expect(compiled.check(copy)).toBe(true)
          }
        },
      ),
      { numRuns: 150 },
    )
    expect(valid).toBeGreaterThan(80)
  })

  test("plain data is the same for the check, and equal to what was given", () => {
    fc.assert(
      fc.property(schemas, fc.array(values, { minLength: 4, maxLength: 8 }), (schema, several) => {
        const compiled = compileSchema(structuredClone(schema))
        for (const value of several) {
          const copy = reader(compiled)(value)
          expect(isDeepStrictEqual(copy, value)).toBe(true)
          expect(compiled.check(copy)).toBe(compiled.check(value))
        }
      }),
      { numRuns: 60 },
    )
  })

  test("objects that no schema looks into stay the same objects", () => {
    const inner = { deep: { deeper: 1 } }
    const open: JsonSchema[] = [
      {},
      { type: "object" },
      { type: "object", properties: {} },
      { title: "anything" },
      { additionalProperties: true },
    ]
    for (const schema of open) expect(readOnce(schema, inner)).toBe(inner)
    const schema = { properties: { any: {}, object: { type: "object" }, text: { type: "string" } } }
    const given = { any: inner, object: inner, text: inner, undeclared: inner }
    const copy = readOnce(schema, given) as typeof given
    expect(copy).not.toBe(given)
    expect(Object.values(copy)).toEqual([inner, inner, inner, inner])
    for (const value of Object.values(copy)) expect(value).toBe(inner)
  })

  test("values that are not data stay the same, even where a schema reads properties", () => {
    class Private {
      readonly #hidden = 1
      get(): number {
        return this.#hidden
      }
    }
    const things = [
      new Date(0),
      new Blob(["x"]),
      new Uint8Array([1, 2]),
      new Map([[1, 2]]),
      new ReadableStream(),
      new FormData(),
      new AbortController().signal,
      new Private(),
      () => 1,
      5n,
    ]
    const schema = { type: "object", properties: { thing: { properties: { a: {} } } } }
    for (const thing of things) {
      expect((readOnce(schema, { thing }) as { thing: unknown }).thing).toBe(thing)
    }
    const stream = Readable.from(["x"])
    const bytes = { anyOf: [{ type: "string", format: "binary" }, { required: ["name"] }] }
    for (const thing of [stream, new File(["x"], "name")]) {
      expect(readOnce(bytes, thing)).toBe(thing)
      expect(
        (readOnce({ properties: { body: {} } }, { body: thing }) as { body: unknown }).body,
      ).toBe(thing)
    }
  })

  test("an instance that a schema looks into becomes plain data, inherited properties included", () => {
    class Point {
      x = 1
      get y(): number {
        return 2
      }
      get undeclared(): number {
        return 3
      }
    }
    const schema = { properties: { x: { type: "number" }, y: { type: "number" }, toString: {} } }
    expect(readOnce(schema, new Point())).toStrictEqual({ x: 1, y: 2 })
    expect(readOnce({ required: ["y"] }, new Point())).toStrictEqual({ x: 1, y: 2 })
    expect(readOnce(schema, Object.create({ x: 5 }))).toStrictEqual({ x: 5 })
    const foreign: unknown = runInNewContext("({ x: 1, list: [{ y: 2 }] })")
    const list = { properties: { list: { items: { properties: { y: { type: "number" } } } } } }
    expect(readOnce(list, foreign)).toStrictEqual({ x: 1, list: [{ y: 2 }] })
  })

  test("objects without a prototype have none afterwards, and names such as __proto__ are data", () => {
    const bare: unknown = Object.assign(Object.create(null), { a: { b: 1 } })
    const copy = readOnce({ properties: { a: { properties: { b: {} } } } }, bare) as object
    expect(Object.getPrototypeOf(copy)).toBeNull()
    expect(copy).toEqual(bare)
    const properties = JSON.parse('{ "__proto__": { "required": ["a"] } }') as JsonSchema
    const given: unknown = JSON.parse('{ "__proto__": { "a": 1 } }')
    for (const value of [given, {}]) {
      const read = readOnce({ properties }, value) as object
      expect(Object.getPrototypeOf(read)).toBe(Object.prototype)
      expect(JSON.stringify(read)).toBe(JSON.stringify(value))
    }
  })

  test("arrays are read by index, whatever their class and iterator", () => {
    class Odd extends Array<unknown> {
      static override get [Symbol.species](): ArrayConstructor {
        throw new Error("species")
      }
      override *[Symbol.iterator](): ArrayIterator<unknown> {
        yield "other"
      }
    }
    const odd = new Odd("a", "b")
    const copy = readOnce({ items: { type: "string" } }, odd)
    expect(copy).toStrictEqual(["a", "b"])
    expect(Object.getPrototypeOf(copy)).toBe(Array.prototype)
  })

  test("constants, unique items and refinements are looked at in depth", () => {
    const shifting = (): object => {
      let reads = 0
      return {
        get a() {
          return reads++ === 0 ? { b: 1 } : "other"
        },
      }
    }
    const even = Type.Refine(Type.Any(), (value) => (value as { a: unknown }).a !== "other")
    const cases: [unknown, (value: object) => unknown][] = [
      [{ const: { a: { b: 1 } } }, (value) => value],
      [{ enum: ["x", { a: { b: 1 } }] }, (value) => value],
      [{ uniqueItems: true }, (value) => [value, "other"]],
      [even, (value) => value],
    ]
    for (const [schema, place] of cases) {
      const copy = readOnce(schema, place(shifting()))
      expect(copy).toEqual(place({ a: { b: 1 } }))
      expect(copy).toEqual(place({ a: { b: 1 } }))
    }
  })

  test("what cannot be read throws what the reading threw", () => {
    const cyclic: { self?: unknown } = {}
    cyclic.self = cyclic
    const list = { properties: { self: { $ref: "#" } } }
    expect(() => readOnce(list, cyclic)).toThrow(RangeError)
    const broken = {
      get a(): never {
        throw new Error("broken")
      },
    }
    expect(() => readOnce({ required: ["a"] }, broken)).toThrow("broken")
  })
})
