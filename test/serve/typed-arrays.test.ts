// Arrays of numbers are data, and only arrays of bytes are bytes, on every way in.
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { operation } from "../support/operations.ts"
import { openSurface, WAYS_IN } from "../support/surfaces.ts"
import type { Surface } from "../support/surfaces.ts"

const outputSchema = { type: "object" }
const operations = [
  operation("typed.floats", { outputSchema, handler: () => new Float32Array([1.5, 2]) }),
  operation("typed.inside", { outputSchema, handler: () => ({ list: new Int16Array([3]) }) }),
]

/** Without JSON a result is what the handler returned. Brokers carry the JSON of the other links. */
const LEFT_OUT: ReadonlySet<string> = new Set(["registry", "memory", "worker", "NATS", "Redis"])

describe.each(Object.keys(WAYS_IN).filter((way) => !LEFT_OUT.has(way)))("over %s", (way) => {
  let surface: Surface
  beforeAll(async () => {
    surface = await openSurface(way, { upstream: "", errors: undefined, operations })
  })
  afterAll(() => surface[Symbol.asyncDispose]())

  test("a Float32Array is an object of its numbers, alone and inside a result", async () => {
    expect((await surface.call("typed.floats")).data).toEqual({ 0: 1.5, 1: 2 })
    expect((await surface.call("typed.inside")).data).toEqual({ list: { 0: 3 } })
  })
})
