// Bodies and parts that are streams, as they arrive, and that they are sent once.
import { Readable } from "node:stream"
import { describe, expect, test } from "vitest"
import { prepareRequest } from "../../../src/from-openapi.ts"
import type { OpenAPIConfig } from "../../../src/from-openapi.ts"
import { serve } from "../../http-client/server.ts"
import type { TestServer } from "../../http-client/server.ts"
import { quietRegistry, rejection } from "../../support/operations.ts"
import { importOne, oneOperation, record, reply } from "./recorder.ts"
import type { Raw, Recorded } from "./recorder.ts"

const BINARY = { type: "string", format: "binary" }

function withBody(type: string, schema: Raw = {}, more: Raw = {}): Raw {
  return oneOperation(
    "/x",
    "post",
    { requestBody: { required: true, content: { [type]: { schema } } } },
    more,
  )
}

async function* pieces(...texts: readonly (string | Uint8Array)[]): AsyncGenerator {
  for (const text of texts) {
    await Promise.resolve()
    yield text
  }
}

function webStream(...texts: readonly string[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const text of texts) controller.enqueue(new TextEncoder().encode(text))
      controller.close()
    },
  })
}

/** Called once: what is a stream is gone after that. */
async function arrived(
  spec: Raw,
  body: unknown,
  config: Partial<OpenAPIConfig> = {},
): Promise<Recorded> {
  await using server = await record()
  const operation = importOne(spec, { baseUrl: server.url, ...config })
  await quietRegistry([operation]).execute("api.op", { body })
  return server.requests[0] as Recorded
}

const STREAMS: readonly (readonly [string, () => unknown])[] = [
  ["a ReadableStream", () => webStream("one ", "zwölf")],
  ["an async generator", () => pieces("one ", new TextEncoder().encode("zwölf"))],
  ["a stream of Node", () => Readable.from([Buffer.from("one "), Buffer.from("zwölf")])],
  ["a Blob", () => new Blob(["one ", "zwölf"])],
]

describe("a body", () => {
  test.each(STREAMS)("of bytes may be %s", async (_name, stream) => {
    const { bytes, headers } = await arrived(withBody("application/octet-stream"), stream())

    expect(new TextDecoder().decode(bytes)).toBe("one zwölf")
    expect(headers).toMatchObject({ "content-type": "application/octet-stream" })
  })

  test.each(
    STREAMS.flatMap(([name, stream]) =>
      ["text/plain", "application/xml", "text/csv"].map((type) => [type, name, stream] as const),
    ),
  )("of %s may be %s", async (type, _name, stream) => {
    const { bytes, headers } = await arrived(withBody(type, { type: "string" }), stream())

    expect(new TextDecoder().decode(bytes)).toBe("one zwölf")
    expect(headers).toMatchObject({ "content-type": type })
  })

  test.each([new TextEncoder().encode("<a/>"), new TextEncoder().encode("<a/>").buffer])(
    "of text or XML may be bytes: %o",
    async (bytes) => {
      expect((await arrived(withBody("application/xml", { type: "object" }), bytes)).body).toBe(
        "<a/>",
      )
      expect((await arrived(withBody("text/plain", { type: "string" }), bytes)).body).toBe("<a/>")
    },
  )

  test("of text is still no object and no number", async () => {
    const registry = quietRegistry([importOne(withBody("text/plain", { type: "string" }))])

    for (const body of [{}, 7, new Date(), ["a"]]) {
      expect(await rejection(registry.execute("api.op", { body }))).toMatchObject({
        code: "VALIDATION_ERROR",
      })
    }
  })

  test("that fails on the way ends the call, and that nobody reads is closed", async () => {
    await using server = await record()
    const operation = importOne(withBody("application/octet-stream"), { baseUrl: server.url })
    async function* failing(): AsyncGenerator<string> {
      yield await Promise.resolve("a")
      throw new Error("The disk is gone.")
    }
    const error = await rejection(quietRegistry([operation]).execute("api.op", { body: failing() }))

    expect(error).toMatchObject({ retryable: false })
    expect(server.requests).toEqual([])
  })

  test("that is being read already is refused", async () => {
    const operation = importOne(withBody("application/octet-stream"), { baseUrl: "http://a.test" })
    const body = webStream("a")
    body.getReader()

    expect(String(await rejection(prepareRequest(operation, { body })))).toContain("read already")
  })
})

describe("a part of a multipart body", () => {
  const spec = withBody("multipart/form-data", {
    type: "object",
    properties: { title: { type: "string" }, file: BINARY, more: { type: "array", items: BINARY } },
    required: ["title", "file"],
  })

  test.each(STREAMS)("may be %s", async (_name, stream) => {
    const { headers, bytes } = await arrived(spec, { title: "T", file: stream() })
    const type = headers["content-type"] ?? ""
    const boundary = /^multipart\/form-data; boundary=(\S+)$/.exec(type)?.[1] ?? "none"

    expect(new TextDecoder().decode(bytes).split(`--${boundary}`)).toEqual([
      "",
      '\r\nContent-Disposition: form-data; name="title"\r\n\r\nT\r\n',
      '\r\nContent-Disposition: form-data; name="file"; filename="file"\r\n' +
        "Content-Type: application/octet-stream\r\n\r\none zwölf\r\n",
      "--\r\n",
    ])
  })

  test("may be one of several streams, read one after the other", async () => {
    const form = {
      title: "T",
      file: webStream("1"),
      more: [pieces("2"), new Blob(["3"]), pieces("4")],
    }
    const { headers, bytes } = await arrived(spec, form)
    const whole = new Response(bytes as BodyInit, {
      headers: { "content-type": headers["content-type"] ?? "" },
    })
    const read = await whole.formData()

    expect(read.get("title")).toBe("T")
    expect(await (read.get("file") as File).text()).toBe("1")
    expect(await Promise.all(read.getAll("more").map((file) => (file as File).text()))).toEqual([
      "2",
      "3",
      "4",
    ])
  })
})

describe("what was a stream is sent once", () => {
  const secured = withBody(
    "application/octet-stream",
    {},
    {
      security: [{ oauth: [] }],
      components: {
        securitySchemes: {
          oauth: {
            type: "oauth2",
            flows: { clientCredentials: { tokenUrl: "/token", scopes: {} } },
          },
        },
      },
    },
  )
  const auth = { type: "clientCredentials", clientId: "a", clientSecret: "b" } as const

  /** Says 401 to a first token. */
  async function revoking(): Promise<TestServer> {
    let tokens = 0
    return await serve((request, response) => {
      const isToken = request.url === "/token"
      const isGood = request.headers.authorization === "Bearer t2"
      response.writeHead(isToken || isGood ? 200 : 401, { "content-type": "application/json" })
      response.end(isToken ? JSON.stringify({ access_token: `t${++tokens}` }) : "{}")
    })
  }

  test.each(STREAMS)("also after a 401: %s", async (_name, stream) => {
    await using server = await revoking()
    const operation = importOne(secured, { baseUrl: server.url, auth })
    const error = await rejection(quietRegistry([operation]).execute("api.op", { body: stream() }))

    expect(error).toMatchObject({ details: { statusCode: 401 }, retryable: false })
    expect(server.requests.filter(({ url }) => url === "/x")).toHaveLength(1)
  })

  test("unlike bytes, after a 401", async () => {
    await using server = await revoking()
    const operation = importOne(secured, { baseUrl: server.url, auth })
    await quietRegistry([operation]).execute("api.op", { body: new Uint8Array(3) })

    expect(server.requests.filter(({ url }) => url === "/x")).toHaveLength(2)
  })

  test.each(STREAMS)("also as a part: %s", async (_name, stream) => {
    await using busy = await record(() => reply(503, "{}", { "retry-after": "1" }))
    const schema = { type: "object", properties: { file: BINARY } }
    const operation = importOne(withBody("multipart/form-data", schema), { baseUrl: busy.url })
    const body = { file: stream() }

    const error = await rejection(quietRegistry([operation]).execute("api.op", { body }))
    expect(error).toMatchObject({ retryable: false })
    expect(busy.requests).toHaveLength(1)
  })

  test.each(STREAMS)("and its failure asks nobody to try again: %s", async (_name, stream) => {
    await using busy = await record(() => reply(503, "{}", { "retry-after": "1" }))
    const operation = importOne(withBody("application/octet-stream"), { baseUrl: busy.url })
    const registry = quietRegistry([operation])

    const error = await rejection(registry.execute("api.op", { body: stream() }))
    expect(error).toMatchObject({ retryable: false })
    expect(busy.requests).toHaveLength(1)
  })

  test("and a redirect that wants it again is an error", async () => {
    await using server = await record(() => reply(307, "", { location: "/y" }))
    const operation = importOne(withBody("application/octet-stream"), { baseUrl: server.url })
    const error = await rejection(
      quietRegistry([operation]).execute("api.op", { body: pieces("a") }),
    )

    expect(error).toMatchObject({ retryable: false })
    expect(server.requests).toHaveLength(1)
  })

  test.each([307, 308])(
    "but a Blob is sent again where %i leads: it is not used up",
    async (status) => {
      await using server = await record(({ line }) =>
        line.includes("/x ") ? reply(status, "", { location: "/y" }) : reply(503, "{}"),
      )
      const config = { baseUrl: server.url }
      const raw = importOne(withBody("application/octet-stream"), config)
      const schema = { type: "object", properties: { file: BINARY } }
      const form = importOne(withBody("multipart/form-data", schema), config)
      const blob = new Blob(["one ", "zwölf"])
      const sent = [
        [raw, blob],
        [form, { file: blob }],
      ] as const
      for (const [operation, body] of sent) {
        const error = await rejection(quietRegistry([operation]).execute("api.op", { body }))
        // It followed a redirect, and is not repeated for any other reason.
        expect(error).toMatchObject({ details: { statusCode: 503 }, retryable: false })
      }

      expect(server.requests.map(({ line }) => line.split(" ")[1])).toEqual([
        "/x",
        "/y",
        "/x",
        "/y",
      ])
      for (const { bytes } of server.requests) {
        expect(new TextDecoder().decode(bytes)).toContain("one zwölf")
      }
      expect(server.requests[1]?.bytes).toEqual(server.requests[0]?.bytes)
      expect(server.requests[3]?.bytes).toEqual(server.requests[2]?.bytes)
    },
  )
})
