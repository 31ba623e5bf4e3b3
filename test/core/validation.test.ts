import { Type } from "typebox"
import { afterEach, describe, expect, test, vi } from "vitest"
import {
  assertIsSchema,
  collectErrors,
  formatValueErrors,
  isCallError,
  validateOrThrow,
} from "../../src/index.ts"
import { consoleLogger, silentLogger } from "../../src/testing.ts"
import { compileSchema } from "../../src/schemas.ts"
import { thrown } from "../support/operations.ts"

afterEach(() => vi.restoreAllMocks())

const Task = Type.Object({ title: Type.String(), done: Type.Optional(Type.Boolean()) })

describe("collectErrors", () => {
  test("lists every validation error by path; none if the value is valid", () => {
    expect(collectErrors(Task, { title: "x" })).toEqual([])
    expect(collectErrors(Task, { done: 1 })).toEqual([
      { path: "/title", message: "is required" },
      { path: "/done", message: "must be boolean, got number" },
    ])
    expect(collectErrors({ type: "string" }, 5)).toEqual([
      { path: "", message: "must be string, got number" },
    ])
    expect(collectErrors(true, 5)).toEqual([])
    expect(collectErrors(false, 5)).toHaveLength(1)
  })
})

describe("validateOrThrow", () => {
  test("returns the value, typed", () => {
    const value: unknown = { title: "x" }
    const task: { title: string } = validateOrThrow(Task, value)
    expect(task).toBe(value)
  })

  test("throws VALIDATION_ERROR that names what is being checked", () => {
    const error = thrown(() => validateOrThrow(Task, {}, "The task"))
    expect(isCallError(error, "VALIDATION_ERROR")).toBe(true)
    expect(error).toMatchObject({
      message: "The task is invalid: /title is required.",
      details: { errors: [{ path: "/title", message: "is required" }] },
    })
    expect(() => validateOrThrow(Task, 5)).toThrow(
      "The value is invalid: must be object, got number.",
    )
  })
})

describe("formatValueErrors", () => {
  test("writes one line per validation error", () => {
    const errors = [
      { path: "/a", message: "is required" },
      { path: "", message: "is wrong" },
    ]
    expect(formatValueErrors(errors)).toBe("  - /a: is required\n  - (root): is wrong")
    expect(formatValueErrors(errors, "> ")).toBe("> /a: is required\n> (root): is wrong")
    expect(formatValueErrors([])).toBe("")
    expect(() => formatValueErrors("x" as never)).toThrow("errors must be an array")
  })
})

describe("assertIsSchema", () => {
  test("accepts valid schemas", () => {
    for (const schema of [Task, {}, true, false, { type: ["string", "null"] }]) {
      expect(assertIsSchema(schema)).toBeUndefined()
    }
  })

  test("names what is wrong with anything else", () => {
    for (const nonsense of [undefined, null, 5, "string", [], () => 1]) {
      expect(() => assertIsSchema(nonsense, "inputSchema")).toThrow(
        /^inputSchema is not a schema: /,
      )
    }
    expect(() => assertIsSchema({ type: "strnig" })).toThrow("schema is not a valid schema: /type")
    expect(() => assertIsSchema({ $ref: "#/nowhere" })).toThrow(TypeError)
  })
})

describe("compileSchema", () => {
  test("returns one compiled form per schema", () => {
    expect(compileSchema(Task)).toBe(compileSchema(Task))
    expect(compileSchema(compileSchema(Task).schema)).toBe(compileSchema(Task))
    expect(compileSchema(Task, { formats: true })).not.toBe(compileSchema(Task))
    expect(compileSchema(true).isOpen).toBe(true)
    expect(compileSchema({ title: "anything", $defs: {} }).isOpen).toBe(true)
    expect(compileSchema(true).errors(5)).toEqual([])
    expect(compileSchema({ format: "email" }).isOpen).toBe(true)
    expect(compileSchema({ format: "email" }, { formats: true }).check("x")).toBe(false)
    expect(() => compileSchema(5)).toThrow(TypeError)
  })

  test("speaks Standard Schema, JSON Schema form included", () => {
    const compiled = compileSchema(
      Type.Object({ "a/b": Type.Number(), n: Type.Optional(Type.Number({ default: 1 })) }),
    )
    const standard = compiled["~standard"]
    expect(standard).toMatchObject({ version: 1, vendor: "@alkdev/operations" })
    expect(standard.validate({ "a/b": 1 })).toEqual({ value: { "a/b": 1, n: 1 } })
    expect(standard.validate({ "a/b": "x" })).toEqual({
      issues: [{ message: "must be number, got string", path: ["a/b"] }],
    })
    expect(standard.jsonSchema.input({ target: "draft-2020-12" })).toBe(compiled.schema)
    expect(() => standard.jsonSchema.output({ target: "draft-07" })).toThrow(`asked for "draft-07"`)
    expect(compileSchema(compiled).check({ "a/b": 1 })).toBe(true)
  })

  test("checks parts of a schema where unions need them, references and all", () => {
    const schemas = [
      // Branches that refer to definitions, to the whole, and to places inside it.
      {
        $defs: { n: { type: "number" } },
        type: "object",
        properties: {
          v: {
            anyOf: [
              { type: "object", properties: { a: { $ref: "#/$defs/n" } }, required: ["a"] },
              { type: "object", properties: { b: { type: "string" } }, required: ["b"] },
            ],
          },
        },
      },
      {
        type: "object",
        properties: {
          v: {
            anyOf: [
              {
                type: "object",
                properties: { a: { type: "number" }, v: { $ref: "#" } },
                required: ["a"],
              },
              { type: "object", properties: { b: { $ref: "#/properties/s" } }, required: ["b"] },
            ],
          },
          s: { type: "string" },
        },
      },
      {
        $id: "https://example.test/root",
        type: "object",
        properties: {
          v: {
            anyOf: [
              { type: "object", properties: { a: { $ref: "root#num" } }, required: ["a"] },
              { type: "object", properties: { b: { type: "string" } }, required: ["b"] },
            ],
          },
        },
        $defs: { num: { $anchor: "num", type: "number" } },
      },
    ]
    for (const schema of schemas) {
      const normalizer = compileSchema(schema).normalizer("strip")
      expect(normalizer.normalize({ v: { a: 1, x: 1 } }).value).toEqual({ v: { a: 1 } })
      expect(normalizer.normalize({ v: { b: "s", x: 1 } }).value).toEqual({ v: { b: "s" } })
    }
  })
})

describe("loggers", () => {
  test("the console one shows warnings and errors, and works without a console", () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined)
    const error = vi.spyOn(console, "error").mockImplementation(() => undefined)
    consoleLogger.debug("d")
    consoleLogger.info("i")
    consoleLogger.warn("w")
    consoleLogger.error("e", { a: 1 })
    expect(warn.mock.calls).toEqual([["w"]])
    expect(error.mock.calls).toEqual([["e", { a: 1 }]])
    vi.stubGlobal("console", undefined)
    consoleLogger.warn("nowhere")
    vi.unstubAllGlobals()
    for (const level of ["debug", "info", "warn", "error"] as const) silentLogger[level]("x")
    expect(warn).toHaveBeenCalledTimes(1)
  })
})
