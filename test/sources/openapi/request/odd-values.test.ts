import { describe, expect, test } from "vitest"
import {
  Unwritable,
  encodeKeeping,
  encodeStrict,
  shapeOf,
} from "../../../../src/sources/openapi/request/text.ts"
import {
  concreteType,
  formText,
  orderedFields,
  serializeCookie,
  serializeHeader,
  serializePath,
  serializeQuery,
} from "../../../../src/sources/openapi/request/serialize.ts"
import { asciiJson, checkJson, jsonText } from "../../../../src/sources/openapi/request/json.ts"
import { chooseMedia, contentKind } from "../../../../src/sources/openapi/request/media.ts"
import { writeBody } from "../../../../src/sources/openapi/request/body.ts"
import { bodyOf, mediaOf, parameterOf, planOf } from "./plan.ts"

describe("a parameter that is described by a media type", () => {
  const plain = { content: "text/plain" }
  const json = { content: "application/json" }

  test.each([null, undefined])("leaves no trace for %s, wherever it is", (none) => {
    expect(serializePath(parameterOf("path", "p", json), none)).toBeUndefined()
    expect(serializeQuery(parameterOf("query", "q", json), none)).toEqual([])
    expect(serializeHeader(parameterOf("header", "h", json), none)).toBeUndefined()
    expect(serializeHeader(parameterOf("header", "h", plain), none)).toBeUndefined()
    expect(serializeCookie(parameterOf("cookie", "c", json), none)).toEqual([])
  })

  test("is JSON where it says so, and text where it has some", () => {
    expect(serializePath(parameterOf("path", "p", json), "a/b")).toBe("%22a%2Fb%22")
    expect(serializePath(parameterOf("path", "p", plain), "a/b")).toBe("a%2Fb")
    expect(serializeQuery(parameterOf("query", "q", plain), [1, 2])).toEqual([["q", "%5B1%2C2%5D"]])
    expect(serializeHeader(parameterOf("header", "h", json), "é")).toBe(`"\\u00e9"`)
    expect(serializeHeader(parameterOf("header", "h", plain), { a: 1 })).toBe(`{"a":1}`)
    expect(serializeCookie(parameterOf("cookie", "c", json), "a;b")).toEqual([["c", "%22a%3Bb%22"]])
    expect(serializeCookie(parameterOf("cookie", "c", plain), "a b")).toEqual([["c", "a b"]])
  })

  test("as text in a cookie may not end it", () => {
    expect(() => serializeCookie(parameterOf("cookie", "c", plain), "a; admin=1")).toThrow(
      "would end the cookie",
    )
  })
})

describe("reserved characters", () => {
  test("stay where a document lets them, in paths and in queries", () => {
    const allowed = { allowReserved: true }

    expect(serializePath(parameterOf("path", "p", allowed), "a/b?c")).toBe("a/b%3Fc")
    expect(serializeQuery(parameterOf("query", "q", allowed), "a/b?c&d")).toEqual([
      ["q", "a/b?c%26d"],
    ])
    expect(encodeKeeping("%41%zz", "")).toBe("%41%25zz")
  })

  test("half of a surrogate pair cannot be written", () => {
    expect(() => encodeStrict("\ud800")).toThrow("half of a surrogate pair")
  })
})

describe("an empty list in a style", () => {
  test("is a bare name where empty values are allowed, else nothing", () => {
    const empty = { allowEmptyValue: true }

    expect(serializeQuery(parameterOf("query", "q", empty), [])).toEqual([["q", ""]])
    expect(serializeQuery(parameterOf("query", "q", empty), null)).toEqual([])
    expect(serializeQuery(parameterOf("query", "q", { explode: false }), [])).toEqual([])
    expect(serializeQuery(parameterOf("query", "q", { explode: false }), {})).toEqual([])
    expect(
      serializeCookie(parameterOf("cookie", "c", { style: "cookie", allowEmptyValue: true }), {}),
    ).toEqual([["c", ""]])
  })

  test.each(["simple", "label", "matrix"] as const)("%s: is no text at all", (style) => {
    for (const explode of [true, false]) {
      const parameter = parameterOf("path", "p", { style, explode })

      expect(serializePath(parameter, [])).toBeUndefined()
      expect(serializePath(parameter, {})).toBeUndefined()
      expect(serializePath(parameter, null)).toBeUndefined()
    }
  })

  test("what is deep has nothing for null, and an end", () => {
    const deep = parameterOf("query", "q", { style: "deepObject", explode: true })
    const loop: Record<string, unknown> = {}
    loop["self"] = loop

    expect(serializeQuery(deep, null)).toEqual([])
    expect(serializeQuery(deep, { a: [{ toJSON: () => null }] })).toEqual([])
    expect(() => serializeQuery(deep, loop)).toThrow("nested deeper than 100 levels")
  })
})

describe("the shape of a value", () => {
  test("is that of its own toJSON()", () => {
    expect(shapeOf({ toJSON: () => null })).toEqual({ kind: "none" })
    expect(shapeOf({ toJSON: () => undefined })).toEqual({ kind: "none" })
    expect(shapeOf({ toJSON: () => 5 })).toEqual({ kind: "scalar", text: "5" })
    expect(shapeOf({ toJSON: () => [1, null] })).toEqual({ kind: "list", items: [1] })
    expect(shapeOf({ toJSON: () => ({ a: 1, b: null }) })).toEqual({
      kind: "record",
      entries: [["a", 1]],
    })
  })

  test.each<[string, unknown, string]>([
    ["NaN", Number.NaN, "is NaN, which cannot be sent"],
    ["a function", () => 1, "is a function, which has no text"],
    ["a symbol", Symbol("s"), "is a symbol, which has no text"],
    ["no date", new Date(Number.NaN), "is an invalid Date"],
    ["bytes", new Uint8Array(1), "is raw bytes, which only a body can carry"],
    ["a stream", new ReadableStream(), "is raw bytes, which only a body can carry"],
    ["a map", new Map(), "is a Map or a Set"],
    ["a set", new Set(), "is a Map or a Set"],
  ])("%s has none", (_, value, message) => {
    expect(() => shapeOf(value)).toThrow(Unwritable)
    expect(() => shapeOf(value)).toThrow(message)
  })

  test("big integers and dates are texts", () => {
    expect(shapeOf(12n)).toEqual({ kind: "scalar", text: "12" })
    expect(shapeOf(false)).toEqual({ kind: "scalar", text: "false" })
    expect(shapeOf(new Date(0))).toEqual({ kind: "scalar", text: "1970-01-01T00:00:00.000Z" })
  })
})

describe("JSON", () => {
  test.each<[string, unknown, string]>([
    ["a map within", { a: new Map() }, "has a Map (pass a plain object) at /a"],
    ["a set", new Set(), "has a Set (pass a list)"],
    ["a form", { a: new URLSearchParams() }, "has a form, not data at /a"],
    ["no date", [new Date(Number.NaN)], "has an invalid Date at /0"],
    ["infinity", { a: [1, Infinity] }, "has Infinity at /a/1"],
    ["bytes", { a: new ArrayBuffer(1) }, "has raw bytes at /a, and JSON has no form for them"],
    ["a function", () => 1, "is a function, which JSON cannot represent"],
    ["nothing", undefined, "is a undefined, which JSON cannot represent"],
  ])("refuses %s", (_, value, message) => {
    expect(() => jsonText(value)).toThrow(message)
  })

  test("refuses loops, with and without big integers", () => {
    const loop: Record<string, unknown> = { big: 1n }
    loop["self"] = loop

    expect(() => jsonText(loop)).toThrow("refers to itself, which JSON cannot represent")
  })

  test("refuses what fails while it is written", () => {
    const failing = (thrown: unknown): unknown => ({
      toJSON: () => {
        throw thrown
      },
    })

    expect(() => jsonText(failing(new Error("secret")))).toThrow("its own toJSON() failed")
    expect(() => jsonText(failing(new RangeError("stack")))).toThrow("is nested too deeply")
    const later = { big: 1n, then: failing(new Error("secret")) }
    expect(() => jsonText(later)).toThrow(Unwritable)
  })

  test("has the digits of big integers, and no letters beyond ASCII in a header", () => {
    expect(jsonText({ a: -12345678901234567890n })).toBe(`{"a":-12345678901234567890}`)
    expect(asciiJson("ü\u{1f600}")).toBe(`"\\u00fc\\ud83d\\ude00"`)
  })

  test("names the places of bytes", () => {
    const bytes = new Uint8Array(1)

    expect(checkJson({ a: [1, bytes] }).bytesAt).toBe("/a/1")
    // The first, where there are several.
    expect(checkJson({ a: [bytes, bytes], b: bytes }).bytesAt).toBe("/a/0")
    expect(checkJson(bytes).bytesAt).toBe("")
    expect(checkJson(null)).toEqual({ bytesAt: undefined, unsayable: undefined })
  })
})

describe("a content type for a value", () => {
  const blob = new Blob(["x"], { type: "image/png" })
  const bytes = new Uint8Array(1)
  const chosenFor = (types: string[], value: unknown, wanted?: string): string[] => {
    const { type, kind } = chooseMedia(bodyOf(...types), value, checkJson(value), wanted)
    return [type, kind]
  }

  test.each<[string[], unknown, string, string]>([
    [["application/json", "image/png"], blob, "image/png", "binary"],
    [["image/*"], blob, "image/png", "binary"],
    [["audio/*"], blob, "application/octet-stream", "binary"],
    [["image/*"], bytes, "application/octet-stream", "binary"],
    [["*/*"], bytes, "application/octet-stream", "binary"],
    [["*/*"], blob, "image/png", "binary"],
    [[""], { a: 1 }, "application/json", "json"],
    [["*"], { a: 1 }, "application/json", "json"],
    [["text/*"], "a", "text/plain", "text"],
    [["multipart/*"], { a: 1 }, "multipart/form-data", "multipart"],
    [["video/*"], "a", "application/octet-stream", "binary"],
    [["application/xml"], bytes, "application/xml", "xml"],
    [["application/x-ndjson"], bytes, "application/x-ndjson", "sequence"],
    [["text/csv", "application/json"], bytes, "text/csv", "text"],
    [["application/json", "multipart/form-data"], { f: blob }, "multipart/form-data", "multipart"],
    [
      ["application/json", "multipart/form-data"],
      new FormData(),
      "multipart/form-data",
      "multipart",
    ],
    [
      ["application/json", "application/x-www-form-urlencoded"],
      new URLSearchParams(),
      "application/x-www-form-urlencoded",
      "form",
    ],
    [["*/*", "application/problem+json"], {}, "application/problem+json", "json"],
    [["application/xml", "text/plain"], "a", "application/xml", "xml"],
  ])("of %j", (types, value, type, kind) => {
    expect(chosenFor(types, value)).toEqual([type, kind])
  })

  test("that the caller wants is declared, by itself or by a wildcard", () => {
    expect(chosenFor(["text/*"], "a", "text/csv; header=absent")).toEqual([
      "text/csv; header=absent",
      "text",
    ])
    expect(chosenFor(["text/csv;charset=utf-8"], "a", "text/csv")).toEqual([
      "text/csv;charset=utf-8",
      "text",
    ])
    expect(chosenFor(["*/*"], "a", "application/graphql")).toEqual(["application/graphql", "text"])
    expect(() => chosenFor(["text/*"], "a", "text/*")).toThrow(`cannot be sent as "text/*"`)
    expect(() => chosenFor(["text/csv"], "a", "image/png")).toThrow(
      `the operation takes "text/csv"`,
    )
  })

  test("has to be there", () => {
    expect(() => chosenFor([], "a")).toThrow("has no content type in the document")
  })

  test("of multipart stays that for bytes", () => {
    const media = mediaOf("multipart/mixed", {}, true)

    expect(chooseMedia(bodyOf(media), bytes, checkJson(bytes), undefined).kind).toBe("multipart")
    expect(contentKind("application/json-seq")).toBe("sequence")
    expect(contentKind("application/yaml")).toBe("text")
  })
})

describe("a form", () => {
  test("takes texts and parameters as they are, and refuses what has no fields", () => {
    expect(formText(new Map(), "a=1")).toBe("a=1")
    expect(formText(new Map(), new URLSearchParams({ a: "1 2" }))).toBe("a=1+2")
    expect(() => formText(new Map(), [1])).toThrow("must be an object to be sent as a form")
  })

  test("writes a field as its encoding says", () => {
    const { fields } = mediaOf("application/x-www-form-urlencoded", {
      json: { encoding: { contentType: "application/json" } },
      any: { encoding: { contentType: "*/*" } },
      text: { encoding: { contentType: "text/plain" } },
      piped: {
        encoding: {
          serialization: { style: "pipeDelimited", explode: false, allowReserved: false },
        },
      },
      kept: { encoding: { serialization: { style: "form", explode: true, allowReserved: true } } },
    })
    const value = {
      json: [1],
      any: [1, 2],
      text: { a: [1, { b: 2 }] },
      piped: [1, 2],
      kept: "a/b",
      none: null,
      gone: undefined,
    }

    expect(formText(fields(), value)).toBe(
      "json=%5B1%5D&any=1&any=2&text%5Ba%5D%5B0%5D=1&text%5Ba%5D%5B1%5D%5Bb%5D=2" +
        "&piped=1%7C2&kept=a/b",
    )
    expect(concreteType(fields().get("piped"))).toBeUndefined()
    expect(concreteType(undefined)).toBeUndefined()
  })

  test("says which field cannot be written, and hands on what it did not expect", () => {
    const failing = {
      toJSON: () => {
        throw new SyntaxError("own fault")
      },
    }

    expect(() => formText(new Map(), { a: new Map() })).toThrow("at /a is a Map or a Set")
    expect(() => formText(new Map(), { a: failing })).toThrow(SyntaxError)
  })

  test("has its declared fields first", () => {
    const { fields } = mediaOf("multipart/form-data", { b: {}, missing: {} })

    expect(orderedFields(fields(), { a: 1, b: 2 })).toEqual([
      ["b", 2],
      ["a", 1],
    ])
  })
})

describe("a body", () => {
  const post = (types: string[], body: unknown, fixed?: Record<string, unknown>): unknown => {
    const parts = fixed === undefined ? {} : { fixed: { body: fixed } }
    const plan = planOf({ method: "POST", body: bodyOf(...types), ...parts })
    return writeBody(plan, { body }, undefined, undefined).body
  }

  test("of a method without one may be empty in any form", () => {
    const plan = planOf({ method: "GET", body: bodyOf("application/json") })
    const sent = (body: unknown): unknown => writeBody(plan, { body }, undefined, undefined).body

    for (const empty of ["", null, undefined, {}, { a: undefined }, new FormData()]) {
      expect(sent(empty)).toBeUndefined()
    }
    for (const full of [new Date(0), [1], { a: null }, new URLSearchParams("a=1"), 0, new Blob()]) {
      expect(() => sent(full)).toThrow("a GET request cannot carry a body")
    }
  })

  test("of several kinds of content", () => {
    expect(post(["text/plain"], null)).toBe("")
    expect(post(["text/plain"], { a: 1 })).toBe(`{"a":1}`)
    expect(post(["application/xml"], "<a/>")).toBe("<a/>")
    expect(() => post(["application/xml"], { a: 1 })).toThrow("pass the XML as text")
    expect(post(["application/x-ndjson"], [1, 2])).toBe("1\n2\n")
    expect(post(["application/x-ndjson"], "raw")).toBe("raw")
    expect(post(["application/json-seq"], { a: 1 })).toBe('\u001e{"a":1}\n')
    expect(post(["application/vnd.unknown"], { a: 1 })).toBe(`{"a":1}`)
    expect(() => post(["image/png"], { a: 1 })).toThrow("pass a Uint8Array")
  })

  test("of bytes is sent as those bytes, whatever view they have", () => {
    const { buffer } = new Uint8Array([1, 2, 3, 4])

    expect(post(["application/octet-stream"], buffer)).toEqual(new Uint8Array([1, 2, 3, 4]))
    expect(post(["text/plain"], new DataView(buffer, 1, 2))).toEqual(new Uint8Array([2, 3]))
    expect(post(["application/xml"], new Uint8Array([5]))).toEqual(new Uint8Array([5]))
    expect(post(["application/x-ndjson"], new Uint8Array([6]))).toEqual(new Uint8Array([6]))
  })

  test("gets what is fixed, without a change to what the caller gave", () => {
    const form = new FormData()
    form.append("a", "1")
    form.append("file", new File(["x"], "x.txt"))
    const query = new URLSearchParams("a=1")

    const sent = post(["multipart/form-data"], form, { a: 2 })
    expect(sent).toBeInstanceOf(FormData)
    expect([...(sent as FormData).keys()].toSorted()).toEqual(["a", "file"])
    expect((sent as FormData).get("a")).toBe("2")
    expect(form.get("a")).toBe("1")
    expect(post(["application/x-www-form-urlencoded"], query, { b: 2 })).toBe("a=1&b=2")
    expect(query.toString()).toBe("a=1")
    expect(post(["application/json"], undefined, { b: 2 })).toBe(`{"b":2}`)
    expect(post(["application/json"], { a: 1, b: 1 }, { b: 2 })).toBe(`{"a":1,"b":2}`)
    expect(post(["application/json"], [1], { b: 2 })).toBe("[1]")
  })
})
