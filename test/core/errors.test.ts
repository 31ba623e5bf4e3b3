import fc from "fast-check"
import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { CallError, ERROR_CODES, ErrorCode, isCallError, mapError } from "../../src/index.ts"

describe("CallError", () => {
  test("has its code and the defaults of that code", () => {
    const error = new CallError("UNAVAILABLE", "Nobody is there.")
    expect(error).toBeInstanceOf(Error)
    expect(error.name).toBe("CallError")
    expect(error).toMatchObject({ code: "UNAVAILABLE", retryable: true, mayHaveExecuted: false })
    expect(String(error)).toBe("CallError: Nobody is there.")
    expect(error.stack).toContain("errors.test.ts")
  })

  test("an operation's own code is not retryable and may have executed by default", () => {
    expect(new CallError("OUT_OF_STOCK", "")).toMatchObject({
      retryable: false,
      mayHaveExecuted: true,
    })
    expect(
      new CallError("OUT_OF_STOCK", "", {
        retryable: true,
        mayHaveExecuted: false,
        retryAfterMs: 5,
      }),
    ).toMatchObject({ retryable: true, mayHaveExecuted: false, retryAfterMs: 5 })
  })

  test("toJSON has no stack and no cause, and masks what looks like a secret", () => {
    const error = new CallError(
      "X",
      "GET https://user:pw@host/ said: Authorization: Bearer abcdefghij",
      {
        details: {
          password: "hunter2",
          headers: { Authorization: "Bearer abcdefghij", accept: "json" },
          note: "api_key=12345678 in the URL",
          jwt: "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
          nested: [new Error("token=abcdef123")],
        },
        cause: new Error("cause"),
        requestId: "r1",
        operationId: "a.b",
        retryAfterMs: 10,
      },
    )
    const text = JSON.stringify(error)
    for (const secret of [
      "hunter2",
      "abcdefghij",
      "12345678",
      "eyJ",
      "user:pw",
      "abcdef123",
      "cause",
      "stack",
    ]) {
      expect(text).not.toContain(secret)
    }
    expect(JSON.parse(text)).toEqual({
      code: "X",
      message: "GET https://***@host/ said: Authorization: Bearer ***",
      details: {
        password: "***",
        headers: { Authorization: "***", accept: "json" },
        note: "api_key=*** in the URL",
        jwt: "***",
        nested: [{ name: "Error", message: "token=***" }],
      },
      retryable: false,
      mayHaveExecuted: true,
      retryAfterMs: 10,
      requestId: "r1",
      operationId: "a.b",
    })
  })

  test("toJSON copes with whatever details hold", () => {
    const circular: Record<string, unknown> = {
      big: 1n,
      fn() {},
      symbol: Symbol("s"),
      nan: Number.NaN,
    }
    circular["self"] = circular
    circular["bytes"] = new Uint8Array(3)
    circular["buffer"] = new ArrayBuffer(2)
    circular["when"] = new Date(0)
    circular["never"] = new Date(Number.NaN)
    circular["list"] = [undefined, null]
    circular["gone"] = undefined
    circular["hostile"] = new Proxy(
      {},
      {
        ownKeys() {
          throw new Error("no")
        },
      },
    )
    let deep: unknown = "end"
    for (let level = 0; level < 100; level++) deep = { deep }
    circular["deep"] = deep
    const json = JSON.parse(JSON.stringify(new CallError("X", "x", { details: circular }))).details
    expect(json).toMatchObject({
      big: "1",
      fn: "[function]",
      symbol: "[symbol]",
      nan: "NaN",
      self: "[circular]",
      bytes: "[3 bytes]",
      buffer: "[2 bytes]",
      when: "1970-01-01T00:00:00.000Z",
      never: null,
      list: [null, null],
      hostile: "[unreadable]",
    })
    expect(JSON.stringify(json)).toContain("[too deep]")
    const huge = Array.from({ length: 20_000 }, () => ({}))
    expect(JSON.stringify(new CallError("X", "x", { details: huge }))).toContain("[too large]")
    const polluted = new CallError("X", "x", {
      details: JSON.parse(`{"__proto__":{"a":1}}`),
    }).toJSON()
    expect(Object.keys(polluted.details as object)).toEqual(["__proto__"])
    expect(({} as { a?: number }).a).toBeUndefined()
  })

  test("toJSON works with any details", () => {
    fc.assert(
      fc.property(
        fc.anything({
          withBigInt: true,
          withDate: true,
          withNullPrototype: true,
          withTypedArray: true,
          withMap: true,
          withSet: true,
          withSparseArray: true,
        }),
        (details) => {
          expect(() =>
            JSON.parse(JSON.stringify(new CallError("X", "x", { details }))),
          ).not.toThrow()
        },
      ),
    )
  })

  test("cuts a message that is out of all proportion", () => {
    expect(new CallError("X", "m".repeat(10_000_000)).message).toHaveLength(2048)
  })

  test("refuses to be made without a code", () => {
    expect(() => new CallError("", "x")).toThrow("code must be a non-empty string")
    expect(() => new CallError(5 as never, "x")).toThrow(TypeError)
  })
})

describe("isCallError", () => {
  test("knows one of another copy of the package", () => {
    const foreign = Object.assign(new Error("x"), {
      code: "X",
      [Symbol.for("@alkdev/operations/CallError")]: true,
    })
    expect(isCallError(foreign)).toBe(true)
    expect(isCallError(foreign, "X")).toBe(true)
    expect(isCallError(foreign, "Y")).toBe(false)
  })

  test("does not accept parsed JSON", () => {
    for (const value of [
      null,
      undefined,
      1,
      "x",
      {},
      new Error("x"),
      { code: "X", message: "x", name: "CallError" },
    ]) {
      expect(isCallError(value)).toBe(false)
    }
    expect(
      isCallError(
        new Proxy(
          {},
          {
            get() {
              throw new Error("no")
            },
          },
        ),
      ),
    ).toBe(false)
  })
})

describe("mapError", () => {
  const schemas = [
    {
      code: "NOT_FOUND",
      description: "No such thing",
      schema: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
    },
    { code: "ACCESS_DENIED", description: "claims a code of ours", schema: {} },
  ] as never

  test("returns a CallError unchanged", () => {
    const error = new CallError("ANY", "x")
    expect(mapError(error, schemas)).toBe(error)
  })

  test("keeps a declared code, with details that match its schema", () => {
    const thrown = Object.assign(new Error("Task 7 is gone"), {
      code: "NOT_FOUND",
      details: { id: "7" },
    })
    const mapped = mapError(thrown, schemas, { operationId: "a.b", requestId: "r" })
    expect(mapped).toMatchObject({
      code: "NOT_FOUND",
      message: "Task 7 is gone",
      details: { id: "7" },
      retryable: false,
      operationId: "a.b",
      requestId: "r",
    })
    expect(mapped.cause).toBe(thrown)
    expect(mapError({ code: "NOT_FOUND" }, schemas)).toMatchObject({
      code: "NOT_FOUND",
      message: "No such thing",
    })
  })

  test("removes details that do not match, and the message says so", () => {
    const mapped = mapError(
      Object.assign(new Error("gone"), { code: "NOT_FOUND", details: { id: 7 } }),
      schemas,
    )
    expect(mapped.code).toBe("NOT_FOUND")
    expect(mapped.details).toBeUndefined()
    expect(mapped.message).toBe(
      "gone (Its details do not match the declared schema and were removed.)",
    )
  })

  test("does not accept the library's own codes from handlers", () => {
    for (const code of Object.keys(ErrorCode)) {
      const forged = Object.assign(new Error("x"), {
        code,
        retryable: true,
        mayHaveExecuted: false,
      })
      expect(mapError(forged, schemas)).toMatchObject({
        code: "EXECUTION_ERROR",
        retryable: false,
        mayHaveExecuted: true,
      })
      expect(mapError({ code, message: "x" }, schemas)).toMatchObject({ code: "UNKNOWN_ERROR" })
    }
    expect(mapError(new Error("ACCESS_DENIED: x"))).toMatchObject({ code: "EXECUTION_ERROR" })
    expect(mapError(new Error("NOT_FOUND: x"), schemas)).toMatchObject({ code: "EXECUTION_ERROR" })
  })

  test.each([
    ["undefined", undefined, "undefined"],
    ["null", null, "null"],
    ["a string", "boom", `"boom"`],
    ["a symbol", Symbol("s"), "Symbol(s)"],
    ["a long string", "x".repeat(1000), `"${"x".repeat(199)}…`],
    [
      "an object that cannot be read",
      new Proxy(
        {},
        {
          get() {
            throw new Error("no")
          },
          getPrototypeOf() {
            throw new Error("no")
          },
        },
      ),
      "an unreadable object",
    ],
  ])("gives UNKNOWN_ERROR for %s", (_what, thrown, raw) => {
    expect(mapError(thrown)).toMatchObject({ code: "UNKNOWN_ERROR", details: { raw } })
  })

  test("returns EXECUTION_ERROR for unusual errors", () => {
    expect(mapError(Object.freeze(new TypeError("frozen")))).toMatchObject({
      code: "EXECUTION_ERROR",
      message: "frozen",
    })
    expect(mapError(new Error(""))).toMatchObject({ message: "The handler failed." })
    const hostile = new Error("x")
    Object.defineProperty(hostile, "message", {
      get() {
        throw new Error("no")
      },
    })
    Object.defineProperty(hostile, "code", {
      get() {
        throw new Error("no")
      },
    })
    expect(mapError(hostile, schemas)).toMatchObject({
      code: "EXECUTION_ERROR",
      message: "The handler failed.",
    })
    expect(mapError(new Error("x".repeat(10_000_000))).message.length).toBeLessThanOrEqual(2048)
  })
})

describe("the table of codes", () => {
  test("has a row for every code, and the page shows the same", () => {
    expect(Object.keys(ERROR_CODES)).toEqual(Object.keys(ErrorCode))
    const page = readFileSync(new URL("../../docs/errors.md", import.meta.url), "utf8")
    const rows = [
      ...page.matchAll(/^\| `([A-Z_]+)` \| (\d+) \| (-\d+) \| (\d) \| (yes|no) \| (yes|no) \|/gm),
    ]
    const shown = rows.map(([, code, http, rpc, exit, retryable, executed]) => [
      code,
      {
        httpStatus: Number(http),
        jsonRpc: Number(rpc),
        exitCode: Number(exit),
        retryable: retryable === "yes",
        mayHaveExecuted: executed === "yes",
      },
    ])
    expect(Object.fromEntries(shown)).toEqual(ERROR_CODES)
  })

  test("has a different JSON-RPC number for every code", () => {
    const numbers = Object.values(ERROR_CODES).map((info) => info.jsonRpc)
    expect(new Set(numbers).size).toBe(numbers.length)
  })
})
