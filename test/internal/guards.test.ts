import { expect, test } from "vitest"
import { isObject, isPlainObject, isRecord } from "../../src/internal/guards.ts"

test.each([
  ["an object literal", {}, [true, true, true]],
  ["an object without a prototype", Object.create(null) as object, [true, true, true]],
  ["an instance of a class", new Date(0), [true, true, false]],
  ["an array", [], [true, false, false]],
  ["null", null, [false, false, false]],
  ["a function", () => {}, [false, false, false]],
  ["a string", "{}", [false, false, false]],
])("isObject, isRecord and isPlainObject of %s", (_name, value, expected) => {
  expect([isObject(value), isRecord(value), isPlainObject(value)]).toEqual(expected)
})
