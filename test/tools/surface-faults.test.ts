import { Type } from "typebox"
import { describe, expect, test } from "vitest"
import { CallError } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import type { Logger } from "../../src/index.ts"
import { capabilityRequired } from "../../src/mcp/errors.ts"
import { ProtocolError } from "../../src/tools/model.ts"
import { operation, rejection } from "../support/operations.ts"
import { callOf, caller, surfaceOf, textsOf } from "./surface-support.ts"

function failing(error: unknown, parts = {}) {
  return operation("a.b", {
    handler: () => {
      throw error
    },
    ...parts,
  })
}

describe("a failed call", () => {
  test("for its input says what is wrong where, one line each", async () => {
    const one = operation("a.b", {
      inputSchema: Type.Object({ title: Type.String(), tags: Type.Array(Type.String()) }),
      handler: () => 1,
    })
    const result = await callOf(one, { tags: [1, "x", false] })
    expect(result.isError).toBe(true)
    expect(textsOf(result).split("\n")).toEqual([
      'VALIDATION_ERROR: Input for "a.b" is invalid:',
      "- /title: is required",
      "- /tags/0: must be string, got number",
      "- /tags/2: must be string, got boolean",
    ])
  })

  test("for arguments that are no object says so", async () => {
    for (const input of [[], "text", 7]) {
      const result = await callOf(failing(new Error("never")), input)
      expect(textsOf(result)).toMatch(/^VALIDATION_ERROR: .* arguments must be an object, got /)
    }
  })

  test("lists a bounded number of validation issues", async () => {
    const one = operation("a.b", {
      inputSchema: Type.Object({ list: Type.Array(Type.String()) }),
      handler: () => 1,
    })
    const text = textsOf(await callOf(one, { list: Array.from({ length: 500 }, () => 1) }))
    expect(text.split("\n").length).toBeLessThan(40)
  })

  test("has its code and message, and what a host can act on", async () => {
    const refused = { mayHaveExecuted: false, retryAfterMs: 1500 }
    const error = new CallError("RATE_LIMITED", "Slow down.", refused)
    expect(await callOf(failing(error))).toEqual({
      content: [{ type: "text", text: "RATE_LIMITED: Slow down.\nIt can be tried again in 2 s." }],
      isError: true,
      _meta: {
        "alkdev.operations/error": expect.objectContaining({
          code: "RATE_LIMITED",
          retryable: true,
          mayHaveExecuted: false,
          retryAfterMs: 1500,
        }) as unknown,
      },
    })
  })

  test("shows the details of errors that the operation declares, and of no others", async () => {
    const errorSchemas = [
      { code: "TAKEN", description: "d", schema: Type.Object({ by: Type.String() }) },
    ]
    const declared = { code: "TAKEN", message: "Taken.", details: { by: "Ann" } }
    expect(textsOf(await callOf(failing(declared, { errorSchemas })))).toBe(
      'TAKEN: Taken.\nDetails: {"by":"Ann"}',
    )
    const other = new CallError("OTHER", "Other.", { details: { inner: "secret thing" } })
    expect(textsOf(await callOf(failing(other, { errorSchemas })))).toBe("OTHER: Other.")
  })

  test("shows so much of declared details as can be read", async () => {
    const error = new CallError("FULL", "No room.", { details: { rooms: "x".repeat(5000) } })
    const errorSchemas = [{ code: "FULL", description: "d", schema: Type.Unknown() }]
    const text = textsOf(await callOf(failing(error, { errorSchemas })))
    expect(text).toMatch(/^FULL: No room\.\nDetails: \{"rooms":"x+…$/)
    expect(text.length).toBeLessThan(4200)
  })

  test("for the input of another operation has paths as that one has them", async () => {
    const errors = [
      { path: "/b", message: "is odd" },
      { path: "", message: "is none" },
      { message: "is nowhere" },
      "odd",
    ]
    const fault = (details: unknown) =>
      new CallError("VALIDATION_ERROR", 'Input for "x" is invalid: much', { details })
    const inputSchema = Type.Union([Type.String(), Type.Number()])
    const said = async (details: unknown): Promise<string[]> =>
      textsOf(await callOf(failing(fault(details), { inputSchema }), { input: "a" })).split("\n")

    const title = 'VALIDATION_ERROR: Input for "x" is invalid:'
    expect(await said({ operationId: "c.d", errors })).toEqual([
      title,
      "- /b: is odd",
      "- (the whole input): is none",
    ])
    expect(await said({ operationId: "a.b", errors })).toEqual([
      title,
      "- /input/b: is odd",
      "- /input: is none",
    ])
    expect(await said("words")).toEqual([`${title} much`])
  })

  test("never shows a stack, a cause or a secret; the log has the first two", async () => {
    const lines: Readonly<Record<string, unknown>>[] = []
    const logger: Logger = {
      ...silentLogger,
      error: (_, fields) => void lines.push(fields ?? {}),
    }
    const cause = new Error("inner secret")
    const error = new Error("login with password=hunter22 failed", { cause })
    const text = JSON.stringify(await callOf(failing(error), {}, { logger, errors: "expose" }))
    expect(text).toContain("EXECUTION_ERROR: login with password=***")
    for (const kept of ["hunter22", "inner secret", "surface-faults"]) {
      expect(text).not.toContain(kept)
    }
    expect(lines).toEqual([
      expect.objectContaining({
        error: "login with password=*** failed",
        cause: "Error: login with password=*** failed; caused by Error: inner secret",
        stack: expect.stringContaining("surface-faults.test.ts") as string,
      }),
    ])
  })

  test("whatever was thrown, is a result", async () => {
    for (const thing of ["text", 0, null, undefined, Symbol("x"), { toString: 1 }]) {
      const result = await callOf(failing(thing))
      expect(result.isError).toBe(true)
      expect(textsOf(result)).toMatch(/^UNKNOWN_ERROR: /)
    }
  })

  test("of a caller who left says so", async () => {
    const stop = new AbortController()
    const one = operation("a.b", {
      handler: async (_: never, { signal }: { readonly signal: AbortSignal }) => {
        const left = new Promise((resolve) => {
          signal.addEventListener("abort", resolve)
        })
        queueMicrotask(() => stop.abort())
        await left
      },
    })
    const result = await callOf(one, {}, {}, caller("modern", undefined, { signal: stop.signal }))
    expect(textsOf(result)).toMatch(/^ABORTED: /)
  })
})

describe("what is the protocol's to say", () => {
  test("is that the caller cannot do what a tool needs", async () => {
    const error = capabilityRequired({ sampling: {} }, "It needs sampling.")
    const fault = await rejection(callOf(failing(error)))
    expect(fault).toBeInstanceOf(ProtocolError)
    expect(fault).toMatchObject({
      code: -32021,
      message: "It needs sampling.",
      data: { requiredCapabilities: { sampling: {} } },
      httpStatus: 400,
    })
  })

  test("is a fault that whoever asks the caller threw", async () => {
    const own = new ProtocolError(-32602, "state expired")
    const one = operation("a.b", {
      handler: async (
        _: never,
        context: { readonly requestInput: (request: object) => Promise<unknown> },
      ) => await context.requestInput({ message: "?", schema: {} }),
    })
    const requestInput = () => Promise.reject(own)
    const call = caller("modern", undefined, { requestInput })
    expect(await rejection(callOf(one, {}, {}, call))).toBe(own)
  })

  test("is not what an operation of our own puts into its details", async () => {
    const error = new CallError("EXECUTION_ERROR", "Mine.", { details: { code: -32000 } })
    expect((await callOf(failing(error))).isError).toBe(true)
  })

  test("is a tool that is not there, in few words", async () => {
    const fault = await rejection(surfaceOf([]).call("x".repeat(5000), {}, caller()))
    expect(fault).toMatchObject({ code: -32602 })
    expect((fault as Error).message).toMatch(/^Unknown tool: x+$/)
    expect((fault as Error).message.length).toBeLessThan(300)
    for (const name of ["__proto__", "constructor", "toString", ""]) {
      expect(await rejection(surfaceOf([]).call(name, {}, caller()))).toMatchObject({
        code: -32602,
      })
    }
  })
})

describe("a call", () => {
  test("gives the handler who calls, what may stop it, and what may be asked", async () => {
    const seen: Record<string, unknown> = {}
    const stop = new AbortController()
    const one = operation("a.b", {
      handler: async (
        _: never,
        context: {
          readonly identity: unknown
          readonly metadata: unknown
          readonly progress: (value: object) => void
          readonly requestInput: (request: object) => Promise<unknown>
        },
      ) => {
        seen["identity"] = context.identity
        seen["metadata"] = context.metadata
        context.progress({ progress: 1, message: "half" })
        seen["answer"] = await context.requestInput({ message: "?", schema: {} })
      },
    })
    const updates: unknown[] = []
    await callOf(
      one,
      {},
      {},
      caller(
        "legacy",
        { id: "u", scopes: [] },
        {
          signal: stop.signal,
          metadata: { traceparent: "00" },
          progress: (value) => void updates.push(value),
          requestInput: () => Promise.resolve({ action: "accept", content: 7 }),
        },
      ),
    )
    expect(seen).toMatchObject({
      identity: { id: "u" },
      metadata: { traceparent: "00" },
      answer: { action: "accept", content: 7 },
    })
    expect(updates).toEqual([{ progress: 1, message: "half" }])
  })
})
