import { describe, expect, test } from "vitest"
import { discard, exchange } from "../../src/http-client/exchange.ts"
import { CallError } from "../../src/index.ts"
import { failureOf, get, options, serve, until } from "./server.ts"

const SECRET = "canary-5f0d1a77"

describe("exchange", () => {
  test("sends what was prepared and describes the answer", async () => {
    await using server = await serve((_request, response) => {
      response.writeHead(201, "Made", { "content-type": "application/json", "X-Trace": "t1" })
      response.end("{}")
    })

    const response = await exchange(
      get(`${server.url}/a?b=1`, { method: "POST", headers: { "x-a": "1" }, body: "hi" }),
      options(),
    )

    expect(response).toMatchObject({
      status: 201,
      statusText: "Made",
      contentType: "application/json",
      url: `${server.url}/a?b=1`,
    })
    expect(response.headers["x-trace"]).toBe("t1")
    expect(server.requests).toEqual([{ method: "POST", url: "/a?b=1", body: "hi" }])
    expect(server.headers[0]).toMatchObject({ "x-a": "1" })
    discard(response)
  })

  test("shows no cookie, no credential and no echoed secret (OA15, OA17)", async () => {
    await using server = await serve((_request, response) => {
      response.writeHead(401, `No ${SECRET}`, {
        "set-cookie": ["a=1", "b=2"],
        "set-cookie2": "c=3",
        authorization: "Bearer x",
        "proxy-authorization": "Basic x",
        "x-token": "t",
        "x-api-key": "k",
        "x-amz-security-token": "t",
        "x-auth-token": "t",
        "client-secret": "s",
        "www-authenticate": "Bearer realm=x",
        "x-ratelimit-remaining-tokens": "5",
        "x-next-page-token": "p2",
        "x-echo": `you said ${SECRET}`,
        link: `</x?key=${encodeURIComponent("p w:d+1")}>; rel="next"`,
        __proto__: null,
      } as unknown as Record<string, string>)
      response.end()
    })

    const response = await exchange(
      get(`${server.url}/bot${SECRET}/x`),
      options({ secrets: [SECRET, "p w:d+1", ""] }),
    )

    expect(JSON.stringify(response)).not.toContain(SECRET)
    expect(response.url).toBe(`${server.url}/bot***/x`)
    const {
      date: _date,
      connection: _connection,
      "keep-alive": _keep,
      ...headers
    } = response.headers
    expect(headers).toEqual({
      "www-authenticate": "Bearer realm=x",
      "x-ratelimit-remaining-tokens": "5",
      "x-next-page-token": "p2",
      "x-echo": "you said ***",
      link: '</x?key=***>; rel="next"',
      "transfer-encoding": "chunked",
    })
  })

  test("a header called __proto__ is a header", async () => {
    await using server = await serve((_request, response) => {
      response.setHeader("__proto__", "x")
      response.end()
    })

    const { headers } = await exchange(get(server.url), options())

    expect(Object.getOwnPropertyDescriptor(headers, "__proto__")?.value).toBe("x")
  })

  test("a stream is sent as it comes", async () => {
    await using server = await serve((_request, response) => response.end())
    const body = new Blob(["one ", "two"]).stream() as ReadableStream<Uint8Array>

    await exchange(get(server.url, { method: "PUT", body }), options())

    expect(server.requests[0]?.body).toBe("one two")
  })

  test("a form is written by who knows how", async () => {
    await using server = await serve((_request, response) => response.end())
    const form = new FormData()
    form.set("a", "1")

    await exchange(
      get(server.url, { method: "POST", body: form }),
      options({
        encodeBody: (given) => ({ contentType: "x/form", body: given.get("a") as string }),
      }),
    )
    await exchange(get(server.url, { method: "POST", body: form }), options())

    expect(server.headers[0]?.["content-type"]).toBe("x/form")
    expect(server.requests[0]?.body).toBe("1")
    expect(server.headers[1]?.["content-type"]).toContain("multipart/form-data; boundary=")
  })
})

describe("redirects", () => {
  test.each([301, 302, 303, 307, 308])(
    "%i to another origin is not followed (OA11)",
    async (status) => {
      await using other = await serve((_request, response) => response.end("stolen"))
      await using server = await serve((_request, response) => {
        response.writeHead(status, { location: `${other.url}/x?t=1` }).end()
      })
      const headers = { authorization: `Bearer ${SECRET}`, "x-api-key": SECRET }

      const error = await failureOf(exchange(get(server.url, { headers }), options()))

      expect(error).toMatchObject({ code: "EGRESS_BLOCKED", retryable: false })
      expect((error as Error).message).toContain(other.url)
      expect((error as Error).message).toContain("baseUrl")
      expect((error as Error).message).not.toContain("t=1")
      expect(other.requests).toEqual([])
      expect(other.connections()).toBe(0)
    },
  )

  test.each([
    "//evil.test/x",
    "/\\evil.test/x",
    "https:evil.test",
    "data:,x",
    "file:///etc/passwd",
    "javascript:1",
    "http://[",
    "ftp://a.test",
  ])("a redirect to %s goes nowhere", async (location) => {
    await using server = await serve((_request, response) => {
      response.writeHead(302, { location }).end()
    })

    await expect(exchange(get(server.url), options())).rejects.toMatchObject({
      code: "EGRESS_BLOCKED",
    })
    expect(server.requests).toHaveLength(1)
  })

  test("a name and a password in the address are not taken up", async () => {
    await using server = await serve((request, response) => {
      const { host } = request.headers
      response.writeHead(302, { location: `http://a:b@${host}/x` }).end()
    })

    await expect(exchange(get(server.url), options())).rejects.toMatchObject({
      code: "EGRESS_BLOCKED",
    })
  })

  test.each([
    ["POST", 301, "GET", ""],
    ["POST", 302, "GET", ""],
    ["POST", 303, "GET", ""],
    ["PUT", 303, "GET", ""],
    ["PUT", 302, "PUT", "hi"],
    ["POST", 307, "POST", "hi"],
    ["POST", 308, "POST", "hi"],
  ])("within the origin, %s and %i gives %s", async (method, status, then, body) => {
    await using server = await serve((request, response) => {
      if (request.url === "/to?x=1") response.end("here")
      else response.writeHead(status, { location: "to?x=1" }).end("gone")
    })
    const headers = { "content-type": "text/x", "x-keep": "1" }

    const response = await exchange(
      get(`${server.url}/from`, { method, headers, body: "hi" }),
      options(),
    )

    expect(response).toMatchObject({ status: 200, url: `${server.url}/to?x=1` })
    expect(server.requests[1]).toEqual({ method: then, url: "/to?x=1", body })
    expect(server.headers[1]?.["content-type"]).toBe(body === "" ? undefined : "text/x")
    expect(server.headers[1]?.["x-keep"]).toBe("1")
    discard(response)
  })

  test("a stream is not sent twice", async () => {
    await using server = await serve((_request, response) => {
      response.writeHead(307, { location: "/to" }).end()
    })
    const body = new Blob(["x"]).stream() as ReadableStream<Uint8Array>

    const error = await failureOf(
      exchange(get(server.url, { method: "POST", body }), options({ mayHaveEffect: true })),
    )

    expect(error).toMatchObject({ code: "EXECUTION_ERROR", mayHaveExecuted: false })
    expect(server.requests).toHaveLength(1)
  })

  test("a circle ends", async () => {
    await using server = await serve((_request, response) => {
      response.writeHead(302, { location: "/again" }).end()
    })

    await expect(exchange(get(server.url), options({ maxRedirects: 3 }))).rejects.toThrow(
      "more than 3 times",
    )
    expect(server.requests).toHaveLength(4)
  })

  test("can be had as they are", async () => {
    await using server = await serve((_request, response) => {
      response.writeHead(302, { location: "https://files.test/a?sig=1" }).end()
    })

    const response = await exchange(get(server.url), options({ redirect: "return" }))

    expect(response.status).toBe(302)
    expect(response.headers["location"]).toBe("https://files.test/a?sig=1")
  })

  test("300, 304 and a redirect without an address are answers", async () => {
    await using server = await serve((request, response) => {
      response.writeHead(Number(request.url?.slice(1))).end()
    })

    for (const status of [300, 302, 304]) {
      const response = await exchange(get(`${server.url}/${status}`), options())
      expect(response.status).toBe(status)
    }
  })

  test("a POST that was answered with another place may have been done there and then", async () => {
    await using server = await serve((request, response) => {
      response.writeHead(Number(request.url?.slice(1)), { location: "https://b.test" }).end()
    })
    const post = async (status: number): Promise<unknown> =>
      await failureOf(
        exchange(
          get(`${server.url}/${status}`, { method: "POST" }),
          options({ mayHaveEffect: true }),
        ),
      )

    expect(await post(303)).toMatchObject({ mayHaveExecuted: true })
    expect(await post(307)).toMatchObject({ mayHaveExecuted: false })
  })

  test("a browser hides where a redirect leads: it is not followed blindly", async () => {
    const hidden = new Response(null)
    Object.defineProperty(hidden, "type", { value: "opaqueredirect" })
    const fetch = (): Promise<Response> => Promise.resolve(hidden)

    await expect(exchange(get("https://a.test"), options({ fetch }))).rejects.toMatchObject({
      code: "EGRESS_BLOCKED",
    })
  })

  test("a fetch that follows by itself is found out", async () => {
    await using other = await serve((_request, response) => response.end())
    await using server = await serve((_request, response) => {
      response.writeHead(302, { location: other.url }).end()
    })
    const fetch: typeof globalThis.fetch = (url, init) =>
      globalThis.fetch(url, { ...init, redirect: "follow" })

    await expect(exchange(get(server.url), options({ fetch }))).rejects.toMatchObject({
      code: "EGRESS_BLOCKED",
    })
  })
})

describe("abort", () => {
  test("before anything was sent, nothing is", async () => {
    await using server = await serve((_request, response) => response.end())

    const error = await failureOf(
      exchange(get(server.url), options({ signal: AbortSignal.abort(), mayHaveEffect: true })),
    )

    expect(error).toMatchObject({
      code: "ABORTED",
      mayHaveExecuted: false,
      operationId: "demo.get",
    })
    expect(server.requests).toEqual([])
  })

  test("while the server is silent, it closes the connection", async () => {
    await using server = await serve(() => undefined)
    const controller = new AbortController()
    const running = exchange(
      get(server.url, { method: "POST" }),
      options({ signal: controller.signal, mayHaveEffect: true }),
    )
    await until(() => server.requests.length === 1)

    controller.abort()

    await expect(running).rejects.toMatchObject({ code: "ABORTED", mayHaveExecuted: true })
    await until(() => server.open() === 0)
  })

  test("a time limit is a TIMEOUT, retryable where that is harmless", async () => {
    await using server = await serve(() => undefined)
    const limited = (method: string, mayHaveEffect: boolean): Promise<unknown> =>
      failureOf(
        exchange(
          get(server.url, { method }),
          options({ signal: AbortSignal.timeout(30), mayHaveEffect }),
        ),
      )

    expect(await limited("GET", false)).toMatchObject({ code: "TIMEOUT", retryable: true })
    expect(await limited("POST", true)).toMatchObject({
      code: "TIMEOUT",
      retryable: false,
      mayHaveExecuted: true,
    })
    expect(await limited("PUT", true)).toMatchObject({ retryable: true, mayHaveExecuted: true })
  })

  test("an error of ours as the reason is the error", async () => {
    const reason = new CallError("TIMEOUT", "The call took too long.")
    await using server = await serve(() => undefined)
    const controller = new AbortController()
    const running = exchange(get(server.url), options({ signal: controller.signal }))
    await until(() => server.requests.length === 1)

    controller.abort(reason)

    expect(await failureOf(running)).toBe(reason)
  })

  test("frees the caller of a fetch that does not listen, and drops what it brings later", async () => {
    let answer: ((response: Response) => void) | undefined
    const fetch = (): Promise<Response> => new Promise((resolve) => (answer = resolve))
    const controller = new AbortController()
    const running = exchange(get("http://a.test"), options({ fetch, signal: controller.signal }))
    await until(() => answer !== undefined)
    let isCancelled = false
    const body = new ReadableStream({ cancel: () => void (isCancelled = true) })

    controller.abort()
    await expect(running).rejects.toMatchObject({ code: "ABORTED" })
    answer?.(new Response(body))

    await until(() => isCancelled)
    expect(isCancelled).toBe(true)
  })
})
