import { expect, test } from "vitest"
import {
  isObject,
  isPlainObject,
  isRecord,
  isString,
  isStrings,
  isText,
  nonEmpty,
} from "../../src/internal/guards.ts"

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

test.each([
  ["a text", "a", [true, true, false, "a"]],
  ["an empty text", "", [true, false, false, undefined]],
  ["a list of texts", ["a", ""], [false, false, true, undefined]],
  ["an empty list", [], [false, false, true, undefined]],
  ["a list with a number", ["a", 1], [false, false, false, undefined]],
  ["a number", 1, [false, false, false, undefined]],
])("isString, isText, isStrings and nonEmpty of %s", (_name, value, expected) => {
  expect([isString(value), isText(value), isStrings(value), nonEmpty(value)]).toEqual(expected)
})
