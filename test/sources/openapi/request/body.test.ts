import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { isCallError } from "../../../../src/core/errors.ts"
import type { BodyModel, RequestPlan } from "../../../../src/sources/openapi/model.ts"
import type { PreparedRequest } from "../../../../src/http-client/request.ts"
import { buildRequest } from "../../../../src/sources/openapi/request/build.ts"
import { bodyOf, mediaOf, parameterOf, planOf } from "./plan.ts"

const FORM = "application/x-www-form-urlencoded"

describe("the content type", () => {
  const bytes = new Uint8Array([1, 2])

  test.each<[string, string[], unknown, string]>([
    ["JSON before all", ["text/plain", "application/json", FORM], {}, "application/json"],
    [
      "JSON as declared",
      ["application/json; charset=utf-8"],
      {},
      "application/json; charset=utf-8",
    ],
    [
      "JSON by another name",
      ["application/xml", "application/vnd.api+json"],
      {},
      "application/vnd.api+json",
    ],
    ["a patch", ["application/json-patch+json"], [], "application/json-patch+json"],
    ["AWS", ["application/x-amz-json-1.1"], {}, "application/x-amz-json-1.1"],
    ["anything", ["*/*"], {}, "application/json"],
    ["any application", ["application/*"], {}, "application/json"],
    ["form before multipart", ["text/plain", "multipart/form-data", FORM], {}, FORM],
    ["the first", ["text/csv", "text/plain"], "a,b", "text/csv"],
    ["any text", ["text/*"], "x", "text/plain"],
    ["bytes", ["application/json", "application/octet-stream"], bytes, "application/octet-stream"],
    ["bytes as anything", ["*/*"], bytes, "application/octet-stream"],
    ["a picture", ["image/jpeg", "image/png"], new Blob(["x"], { type: "image/png" }), "image/png"],
    ["any picture", ["image/*"], new Blob(["x"], { type: "image/gif" }), "image/gif"],
    ["any picture, unnamed", ["image/*"], bytes, "application/octet-stream"],
    ["bytes of text", ["text/csv"], bytes, "text/csv"],
    ["search parameters", ["application/json", FORM], new URLSearchParams("a=1"), FORM],
  ])("%s", (_what, types, body, expected) => {
    expect(send(bodyOf(...types), body).headers["content-type"]).toBe(expected)
  })

  test("bytes somewhere inside mean multipart", () => {
    const body = bodyOf("application/json", "multipart/form-data")

    expect(send(body, { file: bytes }).body).toBeInstanceOf(FormData)
    expect(send(body, { file: "text" }).body).toBe('{"file":"text"}')
  })

  test("the user chooses among the declared ones", () => {
    const body = bodyOf("application/json", FORM, "image/*")
    const wanted = (contentType: string, value: unknown): PreparedRequest =>
      buildRequest(post(body), { body: value }, { base: "https://a.test", contentType })

    expect(wanted(FORM, { a: 1 }).body).toBe("a=1")
    expect(wanted("APPLICATION/json", { a: 1 }).headers["content-type"]).toBe("application/json")
    expect(wanted("application/json; v=2", {}).headers["content-type"]).toBe(
      "application/json; v=2",
    )
    expect(wanted("image/webp", bytes).headers["content-type"]).toBe("image/webp")
    expect(faultOf(() => wanted("text/plain", "x"))).toBe(
      'Input for "demo.op" is invalid: the body cannot be sent as "text/plain"; the operation takes ' +
        `"application/json", "${FORM}", "image/*".`,
    )
    expect(faultOf(() => wanted("image/*", bytes))).toContain("cannot be sent as")
  })

  test("a Content-Type parameter says what is sent", () => {
    const parameters = [parameterOf("header", "Content-Type", { key: "type" })]
    const plan = planOf({
      method: "POST",
      parameters,
      body: bodyOf(mediaOf("application/octet-stream", {}, true), "application/json"),
    })
    const sent = (input: Record<string, unknown>): string | undefined =>
      buildRequest(plan, input, { base: "https://a.test" }).headers["content-type"]

    expect(sent({ body: bytes, type: "application/x-tar" })).toBe("application/x-tar")
    expect(sent({ body: { a: 1 }, type: "application/json" })).toBe("application/json")
    expect(sent({ body: bytes })).toBe("application/octet-stream")
    expect(sent({ type: "application/x-tar" })).toBe("application/x-tar")
  })

  test("a type that breaks out of its header is refused", () => {
    expect(faultOf(() => send(bodyOf("application/json\r\nx-evil: 1"), {}))).toContain(
      "content-type",
    )
  })
})

describe("JSON", () => {
  const json = bodyOf("application/json")

  test.each([
    [null, "null"],
    [false, "false"],
    ["", '""'],
    [[], "[]"],
    [{}, "{}"],
    [{ a: null, b: undefined }, '{"a":null}'],
    [new Date(0), '"1970-01-01T00:00:00.000Z"'],
    [{ id: 12345678901234567890n, n: [-1n] }, '{"id":12345678901234567890,"n":[-1]}'],
    ["\ud83d", '"\\ud83d"'],
    [JSON.parse('{"__proto__":{"x":1}}'), '{"__proto__":{"x":1}}'],
  ])("value %#", (body, expected) => {
    expect(send(json, body).body).toBe(expected)
  })

  test("text that looks like a big integer stays text", () => {
    fc.assert(
      fc.property(fc.string(), fc.bigInt(), (text, number) => {
        const sent = send(json, { text: `bigint:${text}:1`, number }).body as string

        expect(JSON.parse(sent)).toEqual({ text: `bigint:${text}:1`, number: Number(number) })
        expect(sent).toContain(`:${number}}`)
      }),
    )
  })

  test.each<[string, unknown, string]>([
    ["bytes", new Uint8Array(1), "has raw bytes, and JSON has no form for them"],
    ["bytes inside", { a: [new Uint8Array(1)] }, "has raw bytes at /a/0"],
    ["a blob inside", { a: new Blob([]) }, "has raw bytes at /a"],
    ["a stream", new ReadableStream(), "has raw bytes"],
    ["NaN", { a: { b: Number.NaN } }, "has NaN at /a/b"],
    ["Infinity", [1, Infinity], "has Infinity at /1"],
    ["a map", { a: new Map([[1, 2]]) }, "has a Map (pass a plain object) at /a"],
    ["a form", new FormData(), "has a form"],
    ["a function", () => 1, "is a function"],
    ["a loop", loop(), "refers to itself"],
    ["a loop with big integers", { loop: loop(), n: 1n }, "refers to itself"],
    ["depth", deep(200_000), "nested too deeply"],
    [
      "a toJSON that throws",
      {
        toJSON: () => {
          throw new Error("canary")
        },
      },
      "its own toJSON() failed",
    ],
  ])("%s cannot be said", (_what, body, reason) => {
    const message = faultOf(() => send(json, body))

    expect(message).toContain('Input for "demo.op" is invalid: the body')
    expect(message).toContain(reason)
    expect(message).not.toContain("canary")
  })

  test("lines and sequences", () => {
    expect(send(bodyOf("application/x-ndjson"), [{ a: 1 }, 2]).body).toBe('{"a":1}\n2\n')
    expect(send(bodyOf("application/json-seq"), [1]).body).toBe("\u001e1\n")
    expect(send(bodyOf("application/x-ndjson"), '{"raw":1}\n').body).toBe('{"raw":1}\n')
  })
})

describe("urlencoded forms", () => {
  test.each<[string, unknown, string]>([
    ["nothing", {}, ""],
    ["plain values", { a: 1, b: true, c: "x", d: null, e: undefined }, "a=1&b=true&c=x"],
    ["a space, a plus and unicode", { "a b": "c+d é*~" }, "a+b=c%2Bd+%C3%A9*%7E"],
    ["a list", { a: [1, 2] }, "a=1&a=2"],
    ["nested", { a: { b: ["c", { d: 1 }] } }, "a%5Bb%5D%5B0%5D=c&a%5Bb%5D%5B1%5D%5Bd%5D=1"],
    ["a list of objects", { a: [{ b: 1 }, { b: 2 }] }, "a%5B0%5D%5Bb%5D=1&a%5B1%5D%5Bb%5D=2"],
    ["text as it is", "a=1&b=2", "a=1&b=2"],
    ["search parameters", new URLSearchParams({ a: "1 2" }), "a=1+2"],
    ["__proto__", JSON.parse('{"__proto__":"x"}'), "__proto__=x"],
  ])("%s", (_what, body, expected) => {
    expect(send(bodyOf(FORM), body).body).toBe(expected)
  })

  test("are written as their encoding says", () => {
    const how = { allowReserved: false, explode: false }
    const body = bodyOf(
      mediaOf(FORM, {
        csv: { encoding: { serialization: { ...how, style: "form" } } },
        spaces: { encoding: { serialization: { ...how, style: "spaceDelimited" } } },
        deep: { encoding: { serialization: { ...how, style: "deepObject" } } },
        flat: { encoding: { serialization: { ...how, style: "form", explode: true } } },
        raw: { encoding: { serialization: { ...how, style: "form", allowReserved: true } } },
        json: { encoding: { contentType: "application/json" } },
        any: { encoding: { contentType: "application/json, text/plain" } },
      }),
    )

    expect(send(body, { csv: ["a,b", "c"] }).body).toBe("csv=a%2Cb,c")
    expect(send(body, { spaces: ["a", "b"] }).body).toBe("spaces=a%20b")
    expect(send(body, { deep: ["a", "b"] }).body).toBe("deep%5B0%5D=a&deep%5B1%5D=b")
    expect(send(body, { flat: { x: 1, y: 2 } }).body).toBe("x=1&y=2")
    expect(send(body, { raw: "a/b:c&d" }).body).toBe("raw=a/b:c%26d")
    expect(send(body, { json: { a: [1] } }).body).toBe("json=%7B%22a%22%3A%5B1%5D%7D")
    expect(send(body, { json: "x" }).body).toBe("json=%22x%22")
    expect(send(body, { any: ["x", "y"] }).body).toBe("any=x&any=y")
  })

  test("are read back by the platform", () => {
    const text = fc.string({ unit: "grapheme" })
    fc.assert(
      fc.property(fc.dictionary(text, fc.array(text, { minLength: 1 })), (fields) => {
        const read = new URLSearchParams(send(bodyOf(FORM), fields).body as string)
        const pairs = Object.entries(fields).flatMap(([name, items]) =>
          items.map((item) => [name, item]),
        )

        expect([...read]).toEqual(pairs)
      }),
    )
  })

  test.each<[unknown, string]>([
    [[1], "must be an object"],
    [5, "must be an object"],
    [{ a: new Uint8Array(1) }, "at /a is raw bytes"],
    [{ a: Number.NaN }, "at /a is NaN"],
    [loop(), "refers to itself"],
  ])("value %# cannot be a form", (body, reason) => {
    expect(faultOf(() => send(bodyOf(FORM), body))).toContain(reason)
  })
})

describe("text and bytes", () => {
  test("go out untouched", () => {
    const stream = new ReadableStream<Uint8Array>()
    const blob = new Blob(["x"])
    const view = new DataView(new Uint8Array([1, 2, 3, 4]).buffer, 1, 2)

    expect(send(bodyOf("text/plain"), "a\r\n\0").body).toBe("a\r\n\0")
    expect(send(bodyOf("application/xml"), "<a/>").body).toBe("<a/>")
    expect(send(bodyOf("application/octet-stream"), stream).body).toBe(stream)
    expect(send(bodyOf("application/octet-stream"), blob).body).toBe(blob)
    expect(send(bodyOf("application/octet-stream"), "text").body).toBe("text")
    expect(send(bodyOf("application/zip"), view).body).toEqual(new Uint8Array([2, 3]))
    expect(send(bodyOf("application/zip"), new Uint8Array([7]).buffer).body).toEqual(
      new Uint8Array([7]),
    )
    expect(send(bodyOf("text/plain"), 12n).body).toBe("12")
    expect(send(bodyOf("text/plain"), { a: 1 }).body).toBe('{"a":1}')
    expect(send(bodyOf("application/vnd.custom"), { a: 1 }).body).toBe('{"a":1}')
  })

  test("an object is neither XML nor bytes", () => {
    expect(faultOf(() => send(bodyOf("text/xml"), { a: 1 }))).toContain("pass the XML as text")
    expect(faultOf(() => send(bodyOf("application/octet-stream"), { a: 1 }))).toContain(
      "Uint8Array",
    )
    expect(faultOf(() => send(bodyOf("image/png"), [1]))).toContain("Uint8Array")
    expect(faultOf(() => send(bodyOf(mediaOf("application/x", {}, true)), {}))).toContain("Blob")
  })
})

describe("whether there is a body", () => {
  const json = bodyOf("application/json")

  test.each(["GET", "HEAD", "TRACE"])(
    "%s: an empty one vanishes, a real one is refused",
    (method) => {
      for (const body of [undefined, null, {}, { a: undefined }, ""]) {
        const request = send(json, body, { method })

        expect(request.body).toBeUndefined()
        expect(request.headers).toEqual({})
      }
      for (const body of [{ a: 1 }, [1], "x", new Uint8Array(1), 0, new URLSearchParams("a=1")]) {
        expect(faultOf(() => send(json, body, { method }))).toContain(
          `a ${method} request cannot carry a body`,
        )
      }
    },
  )

  test("QUERY, DELETE and methods of one's own may carry one", () => {
    for (const method of ["QUERY", "DELETE", "PURGE"]) {
      expect(send(json, { a: 1 }, { method }).body).toBe('{"a":1}')
    }
  })

  test("nothing is sent for nothing, unless a body is required", () => {
    const request = send(json, undefined)

    expect(request.body).toBeUndefined()
    expect(request.headers).toEqual({})
    expect(faultOf(() => send({ ...json, required: true }, undefined))).toContain(
      "the body is missing",
    )
    expect(send(json, {}).body).toBe("{}")
  })

  test("a flat body is put together from its inputs", () => {
    const flat = new Map([
      ["name", "name"],
      ["id__body", "id"],
      ["x", "__proto__"],
    ])
    const plan = post({ ...json, flat })
    const sent = (input: Record<string, unknown>): unknown =>
      buildRequest(plan, input, { base: "https://a.test" }).body

    expect(sent({ name: "a", id__body: null, x: { y: 1 }, other: 1 })).toBe(
      '{"name":"a","id":null,"__proto__":{"y":1}}',
    )
    expect(sent({ other: 1 })).toBeUndefined()
    expect(
      buildRequest(post({ ...json, flat, required: true }), {}, { base: "https://a.test" }).body,
    ).toBe("{}")
  })

  test("what is fixed comes last, and leaves the caller's own value alone", () => {
    const fixed = { body: { stream: true } }
    const given = { a: 1, stream: false }
    const params = new URLSearchParams("a=1")

    expect(send(json, given, { fixed }).body).toBe('{"a":1,"stream":true}')
    expect(given.stream).toBe(false)
    expect(send(json, undefined, { fixed }).body).toBe('{"stream":true}')
    expect(send(json, [1], { fixed }).body).toBe("[1]")
    expect(send(bodyOf(FORM), params, { fixed }).body).toBe("a=1&stream=true")
    expect(params.toString()).toBe("a=1")
    const form = send(bodyOf("multipart/form-data"), { a: "1" }, { fixed }).body as FormData
    expect([...form]).toEqual([
      ["a", "1"],
      ["stream", "true"],
    ])
  })
})

function post(body: BodyModel, parts: Partial<RequestPlan> = {}): RequestPlan {
  return planOf({ method: "POST", body, ...parts })
}

function send(model: BodyModel, body: unknown, parts: Partial<RequestPlan> = {}): PreparedRequest {
  return buildRequest(post(model, parts), { body }, { base: "https://a.test" })
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

function loop(): unknown {
  const value: Record<string, unknown> = {}
  value["self"] = { value }
  return value
}

function deep(levels: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < levels; level += 1) value = [value]
  return value
}
