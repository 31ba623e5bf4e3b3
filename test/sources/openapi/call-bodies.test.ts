// Bodies of every content type, as they arrive.
import { describe, expect, test } from "vitest"
import { CallError } from "../../../src/index.ts"
import { prepareRequest } from "../../../src/from-openapi.ts"
import type { OpenAPIConfig } from "../../../src/from-openapi.ts"
import { quietRegistry, rejection } from "../../support/operations.ts"
import { importOne, oneOperation, record, sent, swagger } from "./recorder.ts"
import type { Raw, Recorded } from "./recorder.ts"

function withBody(content: Raw, more: Raw = {}, method = "post"): Raw {
  return oneOperation("/b", method, { requestBody: { content, ...more } })
}

function withType(type: string, schema: unknown = {}, more: Raw = {}): Raw {
  return withBody({ [type]: { schema, ...more } })
}

async function body(
  spec: Raw,
  value: unknown,
  config: Partial<OpenAPIConfig> = {},
): Promise<[string | undefined, string]> {
  const { headers, body: written } = await sent(spec, { body: value }, config)
  return [headers["content-type"], written]
}

/** The parts of a multipart body: their heads and their contents, one character per byte. */
function parts({ headers, body: written }: Recorded): [string, string][] {
  const boundary = /^multipart\/[a-z-]+; boundary=(\S+)$/.exec(headers["content-type"] ?? "")?.[1]
  const pieces = written.split(`--${boundary}`)
  expect(pieces[0]).toBe("")
  expect(pieces.at(-1)).toBe("--\r\n")
  return pieces.slice(1, -1).map((piece) => {
    const end = piece.indexOf("\r\n\r\n")
    expect(piece.startsWith("\r\n") && piece.endsWith("\r\n")).toBe(true)
    return [piece.slice(2, end), piece.slice(end + 4, -2)]
  })
}

describe("a JSON body", () => {
  test.each([
    ["application/json", { a: [1, null, "é"], b: true }, '{"a":[1,null,"Ã©"],"b":true}'],
    ["application/vnd.api+json", { data: {} }, '{"data":{}}'],
    [
      "application/json-patch+json",
      [{ op: "remove", path: "/a" }],
      '[{"op":"remove","path":"/a"}]',
    ],
    ["application/json; charset=utf-8", "text", '"text"'],
    ["application/json", null, "null"],
    ["application/json", 0, "0"],
    ["application/json", false, "false"],
    ["application/json", { id: 12345678901234567890n }, '{"id":12345678901234567890}'],
    ["application/json", { at: new Date(0) }, '{"at":"1970-01-01T00:00:00.000Z"}'],
    ["application/json", { a: undefined, b: 1 }, '{"b":1}'],
  ])("of %s", async (type, value, expected) => {
    expect(await body(withType(type), value)).toEqual([type, expected])
  })

  test("goes out for any type at all", async () => {
    expect(await body(withType("*/*"), { a: 1 })).toEqual(["application/json", '{"a":1}'])
  })

  test("keeps a property that is called __proto__", async () => {
    const value = JSON.parse('{"__proto__":{"a":1}}') as unknown

    expect(await body(withType("application/json"), value)).toEqual([
      "application/json",
      '{"__proto__":{"a":1}}',
    ])
  })

  test("goes with DELETE and QUERY, not with GET", async () => {
    const content = { "application/json": { schema: {} } }
    const deleted = withBody(content, {}, "delete")
    const queried = { ...withBody(content, {}, "query"), openapi: "3.2.0" }
    const got = withBody(content, {}, "get")
    const error = await rejection(
      quietRegistry([importOne(got, { baseUrl: "http://localhost" })]).execute("api.op", {
        body: { a: 1 },
      }),
    )

    expect(await body(deleted, [1])).toEqual(["application/json", "[1]"])
    expect((await sent(queried, { body: { a: 1 } })).line).toBe("QUERY /b HTTP/1.1")
    expect(error).toMatchObject({ code: "VALIDATION_ERROR" })
    expect(String(error)).toContain("GET request cannot carry a body")
    // An empty one is nothing.
    expect(await body(got, {})).toEqual([undefined, ""])
    expect((await sent(got)).body).toBe("")
  })

  test("is left out when it is not given and not needed", async () => {
    const request = await sent(withType("application/json"))

    expect(request.headers).toEqual({})
    expect(request.body).toBe("")
    expect(request.rawHeaders).toContainEqual(["content-length", "0"])
  })

  test.each([
    ["missing", undefined, "required"],
    ["with a number that is none", { a: Number.NaN }, "NaN"],
    ["with bytes", { a: new Uint8Array(1) }, "raw bytes at /a"],
    ["with a Map", { a: new Map() }, "Map"],
  ])("%s is refused, and nothing leaves", async (_what, value, why) => {
    await using server = await record()
    const spec = withBody({ "application/json": { schema: {} } }, { required: true })
    const registry = quietRegistry([importOne(spec, { baseUrl: server.url })])
    const error = await rejection(registry.execute("api.op", { body: value }))

    expect(error).toBeInstanceOf(CallError)
    expect(error).toMatchObject({ code: "VALIDATION_ERROR" })
    expect(String(error)).toContain(why)
    expect(server.requests).toEqual([])
  })
})

describe("an urlencoded form", () => {
  const FORM = "application/x-www-form-urlencoded"

  test.each<[string, unknown, string]>([
    ["plain values", { a: "b c", d: true, e: 1.5 }, "a=b+c&d=true&e=1.5"],
    ["everything reserved", { "a&b": "=+%é*~" }, "a%26b=%3D%2B%25%C3%A9*%7E"],
    ["a list, repeated", { a: [1, 2] }, "a=1&a=2"],
    [
      "nested values, in brackets",
      { card: { number: "42", tags: ["x"], owner: { name: "Ada" } } },
      "card%5Bnumber%5D=42&card%5Btags%5D%5B0%5D=x&card%5Bowner%5D%5Bname%5D=Ada",
    ],
    [
      "a list of objects, in brackets with numbers",
      { items: [{ price: 1 }, { price: 2 }] },
      "items%5B0%5D%5Bprice%5D=1&items%5B1%5D%5Bprice%5D=2",
    ],
    ["null and undefined, as nothing", { a: null, b: undefined, c: "" }, "c="],
    ["text that is a form already", "a=1&b=2", "a=1&b=2"],
    ["URLSearchParams", new URLSearchParams({ a: "b c" }), "a=b+c"],
  ])("has %s", async (_what, value, expected) => {
    expect(await body(withType(FORM), value)).toEqual([FORM, expected])
  })

  test("is written as its encoding says", async () => {
    const encoding = {
      csv: { style: "form", explode: false },
      deep: { style: "deepObject", explode: true },
      pipes: { style: "pipeDelimited" },
      json: { contentType: "application/json" },
      raw: { allowReserved: true },
    }
    const properties = Object.fromEntries(Object.keys(encoding).map((name) => [name, {}]))
    const spec = withType(FORM, { type: "object", properties }, { encoding })
    const value = {
      csv: ["a", "b c"],
      deep: { x: 1, y: 2 },
      pipes: ["a", "b"],
      json: { a: [1] },
      raw: "a/b?c=d&e",
    }

    expect(await body(spec, value)).toEqual([
      FORM,
      "csv=a,b+c&deep%5Bx%5D=1&deep%5By%5D=2&pipes=a%7Cb&json=%7B%22a%22%3A%5B1%5D%7D" +
        "&raw=a/b?c=d%26e",
    ])
  })

  test("of Swagger 2.0 has lists as their collectionFormat says", async () => {
    const list = { in: "formData", type: "array", items: { type: "string" } }
    const spec = swagger({
      "/f": {
        post: {
          operationId: "op",
          consumes: [FORM],
          parameters: [
            { name: "plain", in: "formData", type: "string", required: true },
            { name: "csv", ...list },
            { name: "multi", ...list, collectionFormat: "multi" },
            { name: "pipes", ...list, collectionFormat: "pipes" },
          ],
          responses: {},
        },
      },
    })
    const value = { plain: "a b", csv: ["a", "b"], multi: ["a", "b"], pipes: ["a", "b"] }

    expect(await body(spec, value)).toEqual([FORM, "plain=a+b&csv=a,b&multi=a&multi=b&pipes=a%7Cb"])
  })
})

describe("a multipart body", () => {
  const FORM = "multipart/form-data"
  const binary = { type: "string", format: "binary" }

  test("has files, JSON parts, lists and text, declared ones first", async () => {
    const properties = { meta: { type: "object" }, file: binary, photos: { items: binary }, n: {} }
    const spec = withType(FORM, { type: "object", properties })
    const request = await sent(spec, {
      body: {
        extra: true,
        n: ["é", 2],
        photos: [new File(["1"], "1.png", { type: "image/png" }), new Uint8Array([0, 255])],
        file: new Blob(["blob"], { type: "text/csv" }),
        meta: { a: [1] },
      },
    })

    expect(parts(request)).toEqual([
      [
        'Content-Disposition: form-data; name="meta"\r\nContent-Type: application/json',
        '{"a":[1]}',
      ],
      [
        'Content-Disposition: form-data; name="file"; filename="file"\r\nContent-Type: text/csv',
        "blob",
      ],
      [
        'Content-Disposition: form-data; name="photos"; filename="1.png"\r\nContent-Type: image/png',
        "1",
      ],
      [
        'Content-Disposition: form-data; name="photos"; filename="photos"\r\nContent-Type: application/octet-stream',
        "\0\u00ff",
      ],
      ['Content-Disposition: form-data; name="n"', "Ã©"],
      ['Content-Disposition: form-data; name="n"', "2"],
      ['Content-Disposition: form-data; name="extra"', "true"],
    ])
  })

  test("has the content type that its encoding says", async () => {
    const encoding = {
      xml: { contentType: "application/xml; charset=utf-8" },
      image: { contentType: "image/png, image/jpeg" },
      csv: { style: "form", explode: false },
    }
    const spec = withType(
      FORM,
      { type: "object", properties: { xml: { type: "string" }, image: binary, csv: {} } },
      { encoding },
    )
    const request = await sent(spec, {
      body: { xml: "<a/>", image: new Blob(["p"], { type: "image/png" }), csv: ["a", "b"] },
    })

    expect(parts(request)).toEqual([
      [
        'Content-Disposition: form-data; name="xml"\r\nContent-Type: application/xml; charset=utf-8',
        "<a/>",
      ],
      [
        'Content-Disposition: form-data; name="image"; filename="image"\r\nContent-Type: image/png',
        "p",
      ],
      ['Content-Disposition: form-data; name="csv"', "a,b"],
    ])
  })

  test("cannot be broken out of by a name", async () => {
    const request = await sent(withType(FORM), {
      body: { 'a"\r\nX: 1': new File(["x"], 'b"\r\n\r\nc') },
    })

    expect(parts(request)).toEqual([
      [
        'Content-Disposition: form-data; name="a%22%0D%0AX: 1"; filename="b%22%0D%0A%0D%0Ac"\r\nContent-Type: application/octet-stream',
        "x",
      ],
    ])
  })

  test("may be a FormData", async () => {
    const form = new FormData()
    form.append("a", "1")
    form.append("f", new File(["x"], "x.txt", { type: "text/plain" }))

    expect(parts(await sent(withType(FORM), { body: form }))).toEqual([
      ['Content-Disposition: form-data; name="a"', "1"],
      [
        'Content-Disposition: form-data; name="f"; filename="x.txt"\r\nContent-Type: text/plain',
        "x",
      ],
    ])
  })

  test("of Swagger 2.0 has its files", async () => {
    const spec = swagger({
      "/upload": {
        post: {
          operationId: "op",
          consumes: [FORM],
          parameters: [
            { name: "note", in: "formData", type: "string" },
            { name: "file", in: "formData", type: "file", required: true },
          ],
          responses: {},
        },
      },
    })

    expect(parts(await sent(spec, { body: { file: "text", note: "n" } }))).toEqual([
      ['Content-Disposition: form-data; name="note"', "n"],
      [
        'Content-Disposition: form-data; name="file"; filename="file"\r\nContent-Type: application/octet-stream',
        "text",
      ],
    ])
  })
})

describe("text and bytes", () => {
  test.each<[string, unknown, string, string]>([
    ["text/plain", "é", "text/plain", "Ã©"],
    ["application/xml", "<a>é</a>", "application/xml", "<a>Ã©</a>"],
    ["application/octet-stream", new Uint8Array([0, 255]), "application/octet-stream", "\0\u00ff"],
    ["application/octet-stream", new Uint8Array([7]).buffer, "application/octet-stream", "\u0007"],
    ["image/*", new Blob(["p"], { type: "image/png" }), "image/png", "p"],
    ["*/*", new Uint8Array([1]), "application/octet-stream", "\u0001"],
    ["application/x-ndjson", [{ a: 1 }, { b: 2 }], "application/x-ndjson", '{"a":1}\n{"b":2}\n'],
    ["application/json-seq", [1, 2], "application/json-seq", "\u001e1\n\u001e2\n"],
  ])("of %s goes out untouched", async (type, value, sentType, expected) => {
    expect(await body(withType(type), value)).toEqual([sentType, expected])
  })

  test("may come as a stream, whose length nobody knows", async () => {
    const stream = (): ReadableStream<Uint8Array> =>
      new ReadableStream({
        start(controller) {
          controller.enqueue(new Uint8Array([1, 2]))
          controller.enqueue(new Uint8Array([255]))
          controller.close()
        },
      })
    const spec = withType("application/octet-stream", { type: "string", format: "binary" })
    await using server = await record()
    const registry = quietRegistry([importOne(spec, { baseUrl: server.url })])
    await registry.execute("api.op", { body: stream() })

    expect(server.requests[0]?.rawHeaders).toContainEqual(["transfer-encoding", "chunked"])
    expect(server.requests[0]?.headers).toEqual({ "content-type": "application/octet-stream" })
    expect([...(server.requests[0]?.bytes ?? [])]).toEqual([1, 2, 255])
  })
})

describe("of several content types", () => {
  const properties = { a: { type: "integer" }, file: { type: "string", format: "binary" } }
  const schema = { type: "object", properties }
  const content = {
    "application/xml": { schema },
    "multipart/form-data": { schema },
    "application/x-www-form-urlencoded": { schema },
    "application/json": { schema },
  }
  const spec = withBody(content)

  test("JSON is sent, unless the user chooses", async () => {
    const form = "application/x-www-form-urlencoded"

    expect(await body(spec, { a: 1 })).toEqual(["application/json", '{"a":1}'])
    expect(await body(spec, { a: 1 }, { contentType: form })).toEqual([form, "a=1"])
  })

  test("the input is what the chosen type takes", async () => {
    const xml = { contentType: "application/xml" }

    expect(await body(spec, "<a/>", xml)).toEqual(["application/xml", "<a/>"])
    expect(importOne(spec, xml).inputSchema).toMatchObject({
      properties: { body: { type: "string" } },
    })
    expect(importOne(spec, { ...xml, flatten: true }).inputSchema).toMatchObject({
      properties: { body: { type: "string" } },
    })
    expect(importOne(spec, { contentType: "text/csv" }).inputSchema).toMatchObject({
      properties: { body: { properties: { a: { type: "integer" } } } },
    })
  })

  test("multipart is sent where the value has bytes in it", async () => {
    const request = await sent(spec, { body: { a: 1, file: new Uint8Array([1]) } })

    expect(parts(request).map(([, part]) => part)).toEqual(["1", "\u0001"])
  })

  test("a type that is not declared is refused by name", async () => {
    const operation = importOne(spec, { baseUrl: "http://localhost" })
    const error = await rejection(
      prepareRequest(operation, { body: { a: 1 } }, { contentType: "text/csv" }),
    )

    expect(error).toMatchObject({ code: "VALIDATION_ERROR" })
    expect(String(error)).toContain('cannot be sent as "text/csv"')
    expect(String(error)).toContain('"application/xml", "multipart/form-data"')
  })

  test("a type can be chosen for one request", async () => {
    const operation = importOne(spec, { baseUrl: "http://localhost" })
    const form = "application/x-www-form-urlencoded"
    const request = await prepareRequest(operation, { body: { a: 1 } }, { contentType: form })

    expect(request).toEqual({
      method: "POST",
      url: "http://localhost/b",
      headers: { "content-type": form },
      body: "a=1",
    })
  })
})

describe("a patch", () => {
  const MERGE = "application/merge-patch+json"
  const STEPS = "application/json-patch+json"
  const STRATEGIC = "application/strategic-merge-patch+json"
  const steps = [{ op: "replace", path: "/a", value: 1 }]

  test.each<[string[], unknown, string]>([
    [[STEPS, MERGE], { a: 1 }, MERGE],
    [[STEPS, MERGE], steps, STEPS],
    [[MERGE, STEPS], steps, STEPS],
    [[STEPS, STRATEGIC, MERGE], { a: 1 }, MERGE],
    [[STEPS, STRATEGIC], { a: 1 }, STRATEGIC],
    [[STEPS, "application/json"], { a: 1 }, "application/json"],
    [[STEPS, "application/json"], steps, STEPS],
    [[STEPS, "application/json"], [1], "application/json"],
    [[STEPS], { a: 1 }, STEPS],
    [[`${STEPS}; charset=utf-8`, `${MERGE}; charset=utf-8`], { a: 1 }, `${MERGE}; charset=utf-8`],
    [[STEPS, "application/x-www-form-urlencoded"], { a: 1 }, "application/x-www-form-urlencoded"],
  ])("declared as %j is sent of %j as %s", async (types, patch, expected) => {
    const content = Object.fromEntries(types.map((type) => [type, {}]))
    const spec = oneOperation("/x", "patch", { requestBody: { required: true, content } })

    expect((await sent(spec, { body: patch })).headers["content-type"]).toBe(expected)
  })
})
