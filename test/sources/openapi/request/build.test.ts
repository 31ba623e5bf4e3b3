import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { isCallError } from "../../../../src/core/errors.ts"
import type { RequestPlan } from "../../../../src/sources/openapi/model.ts"
import { buildRequest, type BuildOptions } from "../../../../src/sources/openapi/request/build.ts"
import { encodeMultipart } from "../../../../src/sources/openapi/request/multipart.ts"
import { bodyOf, mediaOf, parameterOf, planOf } from "./plan.ts"

const AUTH = { headers: {}, query: [], cookies: [] }

describe("headers", () => {
  test("have lower-case names, and Accept says what is understood", () => {
    const plan = planOf({
      accept: ["application/json", "text/plain"],
      parameters: [parameterOf("header", "X-Trace"), parameterOf("header", "__proto__")],
    })

    const input = JSON.parse('{"X-Trace":["a","b"],"__proto__":"p"}') as Record<string, unknown>
    const { headers } = build(plan, input)

    expect(Object.entries(headers)).toEqual([
      ["accept", "application/json, text/plain"],
      ["x-trace", "a,b"],
      ["__proto__", "p"],
    ])
    expect(build(planOf()).headers).toEqual({})
  })

  test("a caller may override a configured header, but no credential", () => {
    const names = ["Authorization", "X-Api-Key", "X-Auth-Token", "X-Tenant", "Accept", "X-Free"]
    const plan = planOf({
      accept: ["application/json"],
      parameters: names.map((name) => parameterOf("header", name)),
    })
    const input = Object.fromEntries(names.map((name) => [name, "input"]))

    const { headers } = build(plan, input, {
      headers: { "X-Tenant": "fixed", "x-api-key": "fixed", "X-Auth-Token": "fixed" },
      auth: { ...AUTH, headers: { Authorization: "Bearer t", "X-API-Key": "k" } },
    })

    expect(headers).toEqual({
      authorization: "Bearer t",
      "x-api-key": "k",
      "x-auth-token": "fixed",
      "x-tenant": "input",
      accept: "input",
      "x-free": "input",
    })
  })

  test.each([
    "Host",
    "content-length",
    "Cookie",
    "Connection",
    "Transfer-Encoding",
    "Upgrade",
    "TE",
  ])("%s cannot be set by an input", (name) => {
    const plan = planOf({ parameters: [parameterOf("header", name, { key: "h" })] })

    expect(faultOf(() => build(plan, { h: "x" }))).toContain(
      `header parameter "h" may not set "${name}"`,
    )
    expect(build(plan, {}).headers).toEqual({})
  })

  test("the user's own cannot change how the message is framed", () => {
    const headers = { "Transfer-Encoding": "chunked" }

    expect(faultOf(() => build(planOf(), {}, { headers }))).toContain("`headers`")
    expect(faultOf(() => build(planOf(), {}, { headers: { "a b": "c" } }))).toContain('"a b"')
  })

  test("a content type of the user's own is for requests without a body", () => {
    const headers = { "Content-Type": "text/x-own" }
    const sent = (type: string, body: unknown): unknown =>
      build(planOf({ method: "POST", body: bodyOf(type) }), { body }, { headers }).headers

    expect(sent("application/json", undefined)).toEqual({ "content-type": "text/x-own" })
    expect(sent("application/json", {})).toEqual({ "content-type": "application/json" })
    expect(sent("multipart/form-data", {})).toEqual({})
  })

  // OA13
  test.each(["a\r\nX-Evil: 1", "a\nb", "a\rb", "a\0b", "a\u001bb", "🐢", "ł", "a\u007f"])(
    "a value that a header cannot carry is refused: %j",
    (value) => {
      const plan = planOf({
        parameters: [parameterOf("header", "X-A"), parameterOf("header", "X-B", { explode: true })],
      })

      expect(faultOf(() => build(plan, { "X-A": value }))).toContain('header "x-a"')
      expect(faultOf(() => build(plan, { "X-A": [value] }))).toContain('header "x-a"')
      expect(faultOf(() => build(plan, { "X-B": { [value]: "v" } }))).toContain('header "x-b"')
      expect(faultOf(() => build(planOf(), {}, { headers: { "X-C": value } }))).toContain("x-c")
    },
  )

  test("a refused credential is not repeated in the message", () => {
    const secret = "canary\r\nx: 1"
    const attempts: Partial<BuildOptions>[] = [
      { auth: { ...AUTH, headers: { authorization: secret } } },
      { auth: { ...AUTH, cookies: [["session", secret]] } },
      { headers: { "X-Key": secret } },
    ]
    for (const options of attempts) {
      const message = faultOf(() => build(planOf(), {}, options))

      expect(message).toContain('"demo.op"')
      expect(message).not.toContain("canary")
    }
  })

  test("cookies are joined, and those of a credential win", () => {
    const plan = planOf({
      parameters: [
        parameterOf("cookie", "a"),
        parameterOf("cookie", "sid"),
        parameterOf("cookie", "list", { style: "cookie" }),
      ],
    })
    const options = {
      headers: { Cookie: "fixed=1" },
      auth: { ...AUTH, cookies: [["sid", "secret"]] as [string, string][] },
    }

    expect(build(plan, { a: "1 2", sid: "input", list: ["x", "y"] }, options).headers).toEqual({
      cookie: "fixed=1; a=1%202; list=x; list=y; sid=secret",
    })
    const odd = planOf({ parameters: [parameterOf("cookie", "a=b;c", { style: "cookie" })] })
    expect(faultOf(() => build(odd, { "a=b;c": "x" }))).toContain("is not a valid cookie name")
  })
})

describe("the query", () => {
  test("what is fixed and credentials come last and cannot be set by an input", () => {
    const plan = planOf({
      path: "/watch?api_key=path",
      parameters: ["watch", "q", "api_key"].map((name) => parameterOf("query", name)),
      fixed: { query: { watch: "true" } },
    })
    const auth = { ...AUTH, query: [["api_key", "s&t"]] as [string, string][] }

    expect(build(plan, { watch: false, q: 1, api_key: "input" }, { auth }).url).toBe(
      "https://api.test/watch?q=1&watch=true&api_key=s%26t",
    )
  })

  test.each<[string | undefined, unknown, string]>([
    ["application/x-www-form-urlencoded", { a: "b c", d: [1, 2] }, "?a=b+c&d=1&d=2"],
    [undefined, { a: { b: 1 } }, "?a%5Bb%5D=1"],
    ["application/x-www-form-urlencoded", "?a=1&b=%20+#x", "?a=1&b=%20+%23x"],
    ["application/json", { a: [1] }, "?%7B%22a%22%3A%5B1%5D%7D"],
    ["application/jsonpath", "$.a[?(@.b)]", "?%24.a%5B%3F%28%40.b%29%5D"],
    ["application/json", undefined, ""],
  ])("as a whole from one parameter: %s", (content, value, expected) => {
    const plan = planOf({ parameters: [parameterOf("querystring", "all", { content })] })

    expect(build(plan, { all: value }).url).toBe(`https://api.test/${expected}`)
  })
})

describe("on the wire", () => {
  const seen: { line: string; headers: Record<string, unknown>; body: string }[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const { method = "", url = "", headers } = request
      seen.push({
        line: `${method} ${url}`,
        headers,
        body: Buffer.concat(chunks).toString("latin1"),
      })
      response.end()
    })
  })
  let base = ""

  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  })
  afterAll(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })

  async function exchange(
    plan: RequestPlan,
    input: Record<string, unknown>,
  ): Promise<(typeof seen)[number]> {
    const request = buildRequest(plan, input, { base })
    const form = request.body instanceof FormData ? encodeMultipart(request.body) : undefined
    await fetch(request.url, {
      method: request.method,
      headers: form ? { ...request.headers, "content-type": form.contentType } : request.headers,
      body: (form?.body ?? request.body ?? null) as BodyInit | null,
      ...(request.body instanceof ReadableStream ? { duplex: "half" } : {}),
    })
    const record = seen.pop()
    if (record === undefined) throw new Error("nothing arrived")
    return record
  }

  test("fetch sends the URL byte by byte as it was written", async () => {
    const plan = planOf({
      path: "/f(x='{x}')/{y}",
      parameters: [
        parameterOf("path", "x"),
        parameterOf("path", "y", { style: "matrix", explode: true }),
        parameterOf("query", "q", { allowReserved: true }),
        parameterOf("query", "p", { style: "pipeDelimited" }),
        parameterOf("query", "d", { style: "deepObject" }),
      ],
    })
    const input = { x: "a/b'..", y: [1, 2], q: "/?:@!$'()*,;=[]", p: ["a", "b"], d: { e: ["ü"] } }

    const { line } = await exchange(plan, input)

    expect(line).toBe(
      "GET /v1/f(x='a%2Fb%27..')/;y=1;y=2?q=/?:@!$%27()*,;=[]&p=a%7Cb&d%5Be%5D%5B0%5D=%C3%BC",
    )
    expect(buildRequest(plan, input, { base }).url.endsWith(line.slice("GET /v1".length))).toBe(
      true,
    )
  })

  test("bodies arrive with the type that was declared", async () => {
    const post = (type: string): RequestPlan => planOf({ method: "POST", body: bodyOf(type) })

    const json = await exchange(post("application/vnd.api+json"), { body: { n: 2n ** 64n } })
    expect(json.body).toBe('{"n":18446744073709551616}')
    expect(json.headers["content-type"]).toBe("application/vnd.api+json")

    const text = await exchange(post("text/csv; header=present"), { body: "a,b\n" })
    expect(text.headers["content-type"]).toBe("text/csv; header=present")

    const bytes = await exchange(post("image/png"), { body: new Uint8Array([0, 255]) })
    expect(bytes.body).toBe("\u0000\u00ff")

    const stream = new Blob(["streamed"]).stream()
    expect((await exchange(post("application/zip"), { body: stream })).body).toBe("streamed")
  })

  test("multipart arrives with its boundary, and JSON parts are no files", async () => {
    const media = mediaOf("multipart/form-data", { metadata: {}, file: { isBinary: true } })
    const plan = planOf({ method: "POST", body: bodyOf(media) })

    const { headers, body } = await exchange(plan, {
      body: { file: new File(["x"], "x.bin"), metadata: { a: 1 } },
    })

    const [, boundary = "?"] = String(headers["content-type"]).split("boundary=")
    expect(
      body.startsWith(`--${boundary}\r\nContent-Disposition: form-data; name="metadata"\r\n`),
    ).toBe(true)
    expect(body.endsWith(`\r\nx\r\n--${boundary}--\r\n`)).toBe(true)
    expect(headers["content-length"]).toBe(String(body.length))
  })

  test("header values arrive as they were given", async () => {
    const plan = planOf({
      parameters: [parameterOf("header", "If-Match"), parameterOf("cookie", "c")],
    })

    const { headers } = await exchange(plan, { "If-Match": '"é/%20"', c: "a;b" })

    expect(headers["if-match"]).toBe('"é/%20"')
    expect(headers["cookie"]).toBe("c=a%3Bb")
  })

  test("nothing is sent when an input is refused", async () => {
    const plan = planOf({ path: "/a/{id}", parameters: [parameterOf("path", "id")] })

    await expect(exchange(plan, { id: ".." })).rejects.toThrow("leads to another resource")
    expect(seen).toEqual([])
  })
})

describe("the base", () => {
  test.each(["", "/v1", "ftp://a.test", "not a url"])("%j cannot be one", (base) => {
    expect(faultOf(() => buildRequest(planOf(), {}, { base }))).toContain(
      "absolute http: or https:",
    )
  })
})

function build(
  plan: RequestPlan,
  input: Record<string, unknown> = {},
  options: Partial<BuildOptions> = {},
): ReturnType<typeof buildRequest> {
  return buildRequest(plan, input, { base: "https://api.test", ...options })
}

function faultOf(write: () => unknown): string {
  try {
    write()
  } catch (thrown) {
    if (isCallError(thrown, "VALIDATION_ERROR")) return thrown.message
    throw thrown
  }
  return "nothing was refused"
}
