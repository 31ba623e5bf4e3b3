import { describe, expect, it } from "vitest"
import { CallError, ERROR_CODES } from "../../../src/core/errors.ts"
import { PROBLEM_TYPE, problemAnswer, toProblem } from "../../../src/serve/http/answer.ts"
import { declaredStatus, statusOf } from "../../../src/core/problem.ts"
import { HTTPRefusal } from "../../../src/serve/http/context.ts"
import type { OperationSpec } from "../../../src/core/types.ts"

const SPEC: OperationSpec = {
  namespace: "shop",
  name: "order",
  version: "1.0.0",
  type: "mutation",
  description: "Orders",
  inputSchema: {},
  outputSchema: {},
  accessControl: { requiredScopes: [] },
  errorSchemas: [
    { code: "SOLD_OUT", description: "None left", schema: {}, httpStatus: 410 },
    { code: "TOO_MANY", description: "Too many", schema: {} },
    { code: "FINE", description: "Reads like success", schema: {}, httpStatus: 200 },
  ],
}

describe("a problem", () => {
  it("has the status of the table for each of the library's codes", () => {
    for (const [code, { httpStatus, retryable, mayHaveExecuted }] of Object.entries(ERROR_CODES)) {
      const problem = toProblem(new CallError(code, "No."))
      expect(problem).toMatchObject({ status: httpStatus, code, retryable, mayHaveExecuted })
      expect(problem.type).toMatch(/^https:\/\/.*errors.*#[A-Z_]+$/)
    }
  })

  it("carries what the error knows", () => {
    const error = new CallError("RATE_LIMITED", "Too often.", {
      details: { limit: 5 },
      retryAfterMs: 1200,
      requestId: "r1",
      operationId: "shop.order",
    })
    expect(toProblem(error)).toEqual({
      type: expect.stringContaining("#RATE_LIMITED"),
      title: "Rate limited",
      status: 429,
      detail: "Too often.",
      code: "RATE_LIMITED",
      retryable: true,
      mayHaveExecuted: false,
      details: { limit: 5 },
      retryAfterMs: 1200,
      requestId: "r1",
      operationId: "shop.order",
    })
    expect(problemAnswer(error)).toMatchObject({
      status: 429,
      headers: {
        "content-type": PROBLEM_TYPE,
        "retry-after": "2",
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
      },
    })
  })

  it("uses the status that an operation declares, and 422 where it declares none", () => {
    expect(toProblem(new CallError("SOLD_OUT", "None"), SPEC)).toMatchObject({
      status: 410,
      type: "about:blank",
    })
    expect(statusOf("TOO_MANY", SPEC)).toBe(422)
    expect(statusOf("SOLD_OUT")).toBe(500)
    expect(statusOf("toString", SPEC)).toBe(500)
  })

  it("never reads like a success", () => {
    expect(statusOf("FINE", SPEC)).toBe(422)
    expect(declaredStatus({ httpStatus: 302 })).toBe(422)
    expect(declaredStatus({ httpStatus: 599 })).toBe(599)
  })

  it("lets no stack, cause or secret out", () => {
    const cause = new Error("inner canary-cause")
    const error = new CallError("EXECUTION_ERROR", "failed: password=canary-secret", {
      cause,
      details: { authorization: "canary-header", at: 1 },
    })
    const { body } = problemAnswer(error)
    expect(body).not.toContain("canary")
    expect(body).not.toContain("problem.test.ts")
    expect(body).toContain(`"at":1`)
  })

  it("is made of anything that can be thrown", () => {
    expect(toProblem(new Error("boom"))).toMatchObject({ code: "EXECUTION_ERROR", status: 500 })
    for (const thrown of [undefined, null, "text", 5, Symbol("s"), Object.create(null), () => 1]) {
      expect(toProblem(thrown)).toMatchObject({ code: "UNKNOWN_ERROR", status: 500 })
      expect(() => JSON.parse(problemAnswer(thrown).body as string)).not.toThrow()
    }
    const circular: Record<string, unknown> = { big: 1n }
    circular["self"] = circular
    expect(() =>
      problemAnswer(new CallError("CONFLICT", "no", { details: circular })),
    ).not.toThrow()
  })

  it("survives an error whose own JSON fails", () => {
    const broken = new CallError("SOLD_OUT", "secret words")
    Object.defineProperty(broken, "toJSON", {
      value: () => {
        throw new Error("x")
      },
    })
    expect(toProblem(broken, SPEC)).toMatchObject({ code: "SOLD_OUT", status: 410 })
    expect(toProblem(broken).detail).not.toContain("secret")
  })

  it("has the status and headers of a refusal of HTTP", () => {
    const refused = new HTTPRefusal(405, "INVALID_OPERATION_TYPE", "POST it.", {
      headers: { allow: "POST" },
    })
    const { status, headers, body } = problemAnswer(refused)
    expect({ status, allow: headers["allow"] }).toEqual({ status: 405, allow: "POST" })
    expect(JSON.parse(body as string)).toMatchObject({ status: 405, mayHaveExecuted: false })
  })

  it("never sends a retry delay of zero or infinity", () => {
    const after = (retryAfterMs: number): string | undefined =>
      problemAnswer(new CallError("OVERLOADED", "x", { retryAfterMs })).headers["retry-after"]
    expect(after(0)).toBe("1")
    expect(after(-5)).toBe("1")
    expect(after(1)).toBe("1")
    expect(after(Number.POSITIVE_INFINITY)).toBe("86400")
    expect(after(Number.NaN)).toBe("86400")
  })
})
