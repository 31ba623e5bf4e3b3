import { describe, expect, test } from "vitest"
import { createTokenSource } from "../../src/http-client/oauth.ts"
import type { TokenSource, TokenSourceOptions } from "../../src/http-client/oauth.ts"
import { deadUrl, failureOf, serve, until } from "./server.ts"
import type { TestServer } from "./server.ts"

const SECRET = "canary s/5f0d1a77"

function source(server: { url: string }, more: Partial<TokenSourceOptions> = {}): TokenSource {
  return createTokenSource({
    tokenUrl: `${server.url}/oauth/token`,
    clientId: "me:1",
    clientSecret: SECRET,
    fetch: globalThis.fetch,
    ...more,
  })
}

function never(): AbortSignal {
  return new AbortController().signal
}

async function answering(
  status: number,
  body: string,
  headers: Record<string, string> = { "content-type": "application/json" },
): Promise<TestServer> {
  return await serve((_request, response) => response.writeHead(status, headers).end(body))
}

/** Gives `t1`, `t2`, … */
async function counting(more: object = { expires_in: 3600 }): Promise<TestServer> {
  let count = 0
  return await serve((_request, response) => {
    response.setHeader("content-type", "application/json")
    response.end(JSON.stringify({ access_token: `t${++count}`, token_type: "bearer", ...more }))
  })
}

describe("createTokenSource", () => {
  test("asks as RFC 6749 says, with the secret in a header", async () => {
    await using server = await counting()

    const token = await source(server, { scopes: ["read:a", "b"] }).token(never())

    expect(token).toBe("t1")
    expect(server.requests).toEqual([
      {
        method: "POST",
        url: "/oauth/token",
        body: "grant_type=client_credentials&scope=read%3Aa+b",
      },
    ])
    expect(server.headers[0]).toMatchObject({
      "content-type": "application/x-www-form-urlencoded",
      authorization: `Basic ${btoa("me%3A1:canary+s%2F5f0d1a77")}`,
    })
  })

  test("or in the form", async () => {
    await using server = await counting()

    await source(server, { authMethod: "body" }).token(never())

    expect(server.requests[0]?.body).toBe(
      "grant_type=client_credentials&client_id=me%3A1&client_secret=canary+s%2F5f0d1a77",
    )
    expect(server.headers[0]?.authorization).toBeUndefined()
  })

  test("100 callers share one request", async () => {
    await using server = await counting()
    const tokens = source(server)

    const got = await Promise.all(Array.from({ length: 100 }, () => tokens.token(never())))

    expect(new Set(got)).toEqual(new Set(["t1"]))
    expect(server.requests).toHaveLength(1)
  })

  test("who aborts leaves alone; the others get their token", async () => {
    let answer: (() => void) | undefined
    await using server = await serve((_request, response) => {
      response.setHeader("content-type", "application/json")
      answer = () => response.end('{"access_token":"t"}')
    })
    const tokens = source(server)
    const controller = new AbortController()
    const leaving = tokens.token(controller.signal)
    const staying = [tokens.token(never()), tokens.token(never())]
    await until(() => answer !== undefined)

    controller.abort()
    await expect(leaving).rejects.toMatchObject({ code: "ABORTED", mayHaveExecuted: false })
    answer?.()

    expect(await Promise.all(staying)).toEqual(["t", "t"])
    expect(server.requests).toHaveLength(1)
  })

  test("when all leave, the request is dropped, and the next caller starts anew", async () => {
    let isSilent = true
    await using server = await serve((_request, response) => {
      response.setHeader("content-type", "application/json")
      if (!isSilent) response.end('{"access_token":"t"}')
    })
    const tokens = source(server)
    const controller = new AbortController()
    const both = [tokens.token(controller.signal), tokens.token(controller.signal)]
    await until(() => server.requests.length === 1)

    controller.abort()
    for (const one of both) await expect(one).rejects.toMatchObject({ code: "ABORTED" })
    await until(() => server.open() === 0)
    isSilent = false

    expect(await tokens.token(never())).toBe("t")
  })

  test("keeps a token while it is good, with a margin", async () => {
    await using server = await counting({ expires_in: "100" })
    let time = 0
    const tokens = source(server, { now: () => time })

    expect(await tokens.token(never())).toBe("t1")
    time = 89_999
    expect(await tokens.token(never())).toBe("t1")
    time = 90_000
    expect(await tokens.token(never())).toBe("t2")
  })

  test.each([{ expires_in: 0 }, { expires_in: -5 }])("%j is not kept at all", async (more) => {
    await using server = await counting(more)
    const tokens = source(server)

    expect([await tokens.token(never()), await tokens.token(never())]).toEqual(["t1", "t2"])
  })

  test.each([{}, { expires_in: "soon" }, { expires_in: null }])(
    "with %j it is kept for some minutes",
    async (more) => {
      await using server = await counting(more)
      let time = 0
      const tokens = source(server, { now: () => time })
      await tokens.token(never())

      time = 269_999
      const isKept = (await tokens.token(never())) === "t1"
      time = 270_000
      const isRenewed = (await tokens.token(never())) === "t2"

      expect({ isKept, isRenewed }).toEqual({ isKept: true, isRenewed: true })
    },
  )

  test("a refused token is forgotten, but not the one that came after it", async () => {
    await using server = await counting()
    const tokens = source(server)
    await tokens.token(never())

    tokens.forget("t1")
    expect(await tokens.token(never())).toBe("t2")
    tokens.forget("t1")
    expect(await tokens.token(never())).toBe("t2")
  })

  test("a failure is not kept", async () => {
    let isDown = true
    await using server = await serve((_request, response) => {
      response.setHeader("content-type", "application/json")
      response.statusCode = isDown ? 500 : 200
      response.end('{"access_token":"t"}')
    })
    const tokens = source(server)
    await expect(tokens.token(never())).rejects.toMatchObject({ code: "UNAVAILABLE" })

    isDown = false

    expect(await tokens.token(never())).toBe("t")
  })

  test("reads a form as an answer", async () => {
    await using server = await answering(200, "access_token=abc&expires_in=5", {
      "content-type": "application/x-www-form-urlencoded",
    })

    expect(await source(server).token(never())).toBe("abc")
  })
})

describe("what can go wrong", () => {
  test("a refusal names the endpoint and its reason, never the secret", async () => {
    await using server = await answering(
      401,
      JSON.stringify({ error: "invalid_client", error_description: `Bad ${SECRET}` }),
    )

    const error = await failureOf(source(server).token(never()))

    expect(error).toMatchObject({ code: "UNAUTHENTICATED", details: { statusCode: 401 } })
    expect((error as Error).message).toContain(
      `The token endpoint at ${server.url} answered 401 (invalid_client: Bad ***).`,
    )
    expect(JSON.stringify(error)).not.toContain("canary")
  })

  test("too many requests can be tried again later", async () => {
    await using server = await answering(429, "", { "retry-after": "3" })

    expect(await failureOf(source(server).token(never()))).toMatchObject({
      code: "UNAVAILABLE",
      retryable: true,
      retryAfterMs: 3000,
    })
  })

  test.each([
    ["{}"],
    ["[]"],
    ["null"],
    ["5"],
    ['{"access_token":""}'],
    ['{"access_token":5}'],
    ['{"access_token":"a\\r\\nx-evil: 1"}'],
    ["<html>"],
    [""],
  ])("%s is no token", async (body) => {
    await using server = await answering(200, body)

    await expect(source(server).token(never())).rejects.toMatchObject({ code: "UNAUTHENTICATED" })
  })

  test("an answer without an end is stopped", async () => {
    await using server = await answering(200, JSON.stringify({ access_token: "x".repeat(100_000) }))

    await expect(source(server).token(never())).rejects.toMatchObject({ code: "PAYLOAD_TOO_LARGE" })
  })

  test("a redirect is not followed with the secret", async () => {
    await using other = await counting()
    await using server = await answering(307, "", { location: `${other.url}/token` })

    await expect(source(server).token(never())).rejects.toMatchObject({ code: "UNAUTHENTICATED" })
    expect(other.requests).toEqual([])
  })

  test("a dead endpoint is unavailable; a silent one a timeout", async () => {
    await using silent = await serve(() => undefined)
    const dead = await deadUrl()

    expect(await failureOf(source({ url: dead }).token(never()))).toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining(`The request for an access token to ${dead} failed`),
    })
    expect(await failureOf(source(silent, { timeout: 30 }).token(never()))).toMatchObject({
      code: "TIMEOUT",
    })
    await until(() => silent.open() === 0)
  })

  test.each(["", "/token", "ftp://a.test/x", "https://a:b@c.test/", "file:///etc/passwd"])(
    "%j is no address for tokens",
    (tokenUrl) => {
      expect(() => source({ url: "" }, { tokenUrl })).toThrow("tokenUrl")
    },
  )
})
