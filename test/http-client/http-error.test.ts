import { inspect } from "node:util"
import { describe, expect, test } from "vitest"
import { exchange } from "../../src/http-client/exchange.ts"
import type { HttpResponse } from "../../src/http-client/exchange.ts"
import { httpError, readHttpError } from "../../src/http-client/http-error.ts"
import { retryAfterOf } from "../../src/http-client/retry-after.ts"
import { options, responseOf, serve } from "./server.ts"

function failed(status: number, more: Partial<HttpResponse> = {}): HttpResponse {
  return responseOf([], { status, statusText: "", url: "https://api.test/pets/1?key=x#y", ...more })
}

const GET = { operationId: "pets.get", method: "GET", mayHaveEffect: false }
const POST = { operationId: "pets.add", method: "POST", mayHaveEffect: true }
const PUT = { operationId: "pets.put", method: "PUT", mayHaveEffect: true }

describe("httpError", () => {
  test("says what came from where, without the query", () => {
    const response = failed(404, { statusText: "Not Found", headers: { "x-a": "1" } })

    const error = httpError(response, { message: "no such pet" }, GET)

    expect(error.message).toBe("HTTP 404 Not Found from GET https://api.test/pets/1: no such pet")
    expect(error).toMatchObject({
      code: "EXECUTION_ERROR",
      operationId: "pets.get",
      details: { statusCode: 404, headers: { "x-a": "1" }, body: { message: "no such pet" } },
      retryable: false,
      mayHaveExecuted: false,
    })
  })

  test.each([
    [{ error: { message: "a", code: 1 } }, "a"],
    [{ error: "invalid", error_description: "b" }, "b"],
    [{ error: "c" }, "c"],
    [{ title: "d", detail: "e" }, "e"],
    [{ title: "d" }, "d"],
    [{ errors: [{ message: "f" }] }, "f"],
    [{ errors: ["g"] }, "g"],
    [{ message: { message: "h" } }, "h"],
    [{ x: 1 }, '{"x":1}'],
    [["y"], '["y"]'],
    ["plain\n\ttext\u0000", "plain text"],
    ["<html><head><title>502 Bad\nGateway</title>", "502 Bad Gateway"],
    [5, "5"],
  ])("%j is reported as %s", (body, words) => {
    expect(httpError(failed(400), body, GET).message).toBe(
      `HTTP 400 from GET https://api.test/pets/1: ${words}`,
    )
  })

  test.each([undefined, null, "", new Uint8Array(3), { message: "" }.message])(
    "%j has nothing to tell",
    (body) => {
      expect(httpError(failed(500), body, GET).message).toBe(
        "HTTP 500 from GET https://api.test/pets/1.",
      )
    },
  )

  test("long words are cut, and never in the middle of a character", () => {
    const { message } = httpError(failed(400), `${"x".repeat(199)}😀😀`, GET)

    expect(message.endsWith(`${"x".repeat(199)}…`)).toBe(true)
  })

  test("a large body is cut and marked; bytes are counted", () => {
    const large = { list: Array.from({ length: 10_000 }, (_, at) => at) }

    const texts = [large, "y".repeat(50_000)].map(
      (body) => httpError(failed(500), body, GET).details?.body as string,
    )

    for (const text of texts) {
      expect(text.length).toBe(16 * 1024 + 1)
      expect(text.endsWith("…")).toBe(true)
    }
    expect(httpError(failed(500), new Uint8Array(5), GET).details?.body).toBe("[5 bytes]")
  })

  test.each([
    [400, false, false, false],
    [401, false, false, false],
    [408, true, true, true],
    [409, false, false, false],
    [425, true, true, true],
    [429, true, true, true],
    [500, false, false, false],
    [501, false, false, false],
    [502, true, false, true],
    [503, true, true, true],
    [504, true, false, true],
  ])("%i is retryable for GET %s, POST %s, PUT %s", (status, get, post, put) => {
    expect(httpError(failed(status), "", GET).retryable).toBe(get)
    expect(httpError(failed(status), "", POST).retryable).toBe(post)
    expect(httpError(failed(status), "", PUT).retryable).toBe(put)
  })

  test("a server error may hide an effect; a refusal does not", () => {
    expect(httpError(failed(500), "", POST).mayHaveExecuted).toBe(true)
    expect(httpError(failed(504), "", POST).mayHaveExecuted).toBe(true)
    expect(httpError(failed(422), "", POST).mayHaveExecuted).toBe(false)
    expect(httpError(failed(429), "", POST).mayHaveExecuted).toBe(false)
    expect(httpError(failed(500), "", GET).mayHaveExecuted).toBe(false)
  })

  test("tells when to come back", () => {
    const headers = { "retry-after": "2" }

    expect(httpError(failed(429, { headers }), "", GET).retryAfterMs).toBe(2000)
    expect(httpError(failed(429), "", GET).retryAfterMs).toBeUndefined()
  })
})

describe("retryAfterOf", () => {
  const now = Date.parse("Wed, 21 Oct 2026 07:28:00 GMT")

  test.each([
    ["0", 0],
    [" 120 ", 120_000],
    ["1.5", 1500],
    ["Wed, 21 Oct 2026 07:28:10 GMT", 10_000],
    ["Wed, 21 Oct 2025 07:28:10 GMT", 0],
    ["99999999999999999999", 2 ** 31 - 1],
    ["Wed, 21 Oct 2999 07:28:10 GMT", 2 ** 31 - 1],
    ["", undefined],
    ["soon", undefined],
    ["-5", undefined],
    ["1e3", undefined],
    [undefined, undefined],
  ])("%j is %s ms", (value, expected) => {
    expect(retryAfterOf(value, now)).toBe(expected)
  })
})

describe("readHttpError", () => {
  const signal = new AbortController().signal

  test("reads the body as what it is", async () => {
    const response = responseOf(['{"error":"x"}'], { status: 400 })

    const error = await readHttpError(response, { ...GET, signal, secrets: [] })

    expect(error.details).toMatchObject({ statusCode: 400, body: { error: "x" } })
  })

  test("an endless body does not hide the status", async () => {
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(10_000).fill(65)),
    })

    const error = await readHttpError(responseOf([], { status: 500, body }), {
      ...GET,
      signal,
      secrets: [],
    })

    expect(error.details).toMatchObject({ statusCode: 500, body: expect.stringMatching(/^A+…$/) })
  })

  test("nor does a body that breaks off", async () => {
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new TypeError("terminated")),
    })

    const error = await readHttpError(responseOf([], { status: 503, body }), {
      ...GET,
      signal,
      secrets: [],
    })

    expect(error).toMatchObject({ retryable: true, details: { statusCode: 503 } })
  })

  test("a server that echoes the credential tells nobody (OA15)", async () => {
    const secret = "canary-5f0d1a77"
    await using server = await serve((request, response) => {
      const { authorization } = request.headers
      response.writeHead(401, `Bad ${authorization}`, {
        "content-type": "application/json",
        "www-authenticate": `Bearer error="${authorization}"`,
        "x-you-sent": authorization,
      })
      response.end(JSON.stringify({ error: { message: `no ${authorization}` }, url: request.url }))
    })
    const request = {
      method: "GET",
      url: `${server.url}/x?key=${secret}`,
      headers: { authorization: `Bearer ${secret}` },
      body: undefined,
    }

    const response = await exchange(request, options({ secrets: [secret] }))
    const error = await readHttpError(response, { ...GET, signal, secrets: [secret] })

    expect(error.details).toMatchObject({ statusCode: 401, body: { url: "/x?key=***" } })
    expect(inspect(error, { depth: 10 })).not.toContain("canary")
    expect(JSON.stringify(error)).not.toContain("canary")
  })

  test("an abort is an abort", async () => {
    const error = await readHttpError(responseOf(["x"], { status: 500 }), {
      ...GET,
      signal: AbortSignal.abort(),
      secrets: [],
    })

    expect(error.code).toBe("ABORTED")
  })
})
