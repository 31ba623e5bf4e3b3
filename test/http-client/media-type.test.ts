import { describe, expect, test } from "vitest"
import { isJson, isText, parseMediaType, streamKindOf } from "../../src/http-client/media-type.ts"

describe("parseMediaType", () => {
  test("reads type, subtype and parameters", () => {
    const parsed = parseMediaType(' Text/HTML ; Charset="utf-8;x" ; a=1; A=2; q="\\"" ')

    expect(parsed).toMatchObject({ type: "text", subtype: "html", essence: "text/html" })
    expect(Object.fromEntries(parsed?.parameters ?? [])).toEqual({
      charset: "utf-8;x",
      a: "1",
      q: '"',
    })
  })

  test.each([undefined, null, "", "json", "a/b/c", "/x", "x/", "a b/c", "<html>"])(
    "%j is none",
    (value) => {
      expect(parseMediaType(value)).toBeUndefined()
    },
  )

  test("a parameter named __proto__ is a parameter", () => {
    expect(parseMediaType("a/b;__proto__=x")?.parameters.get("__proto__")).toBe("x")
  })
})

describe("kinds", () => {
  test.each([
    ["application/json", true],
    ["application/json; charset=utf-8", true],
    ["APPLICATION/JSON", true],
    ["application/vnd.github.v3+json", true],
    ["application/problem+json", true],
    ["text/json", true],
    ["text/plain; a=application/json", false],
    ["application/json-seq", false],
    ["application/x-ndjson", false],
    ["application/stream+json", false],
    ["application/jsonp", false],
  ])("isJson(%s) is %s", (type, expected) => {
    expect(isJson(type)).toBe(expected)
  })

  test.each([
    ["text/plain", true],
    ["text/html; charset=x", true],
    ["application/xml", true],
    ["image/svg+xml", true],
    ["application/javascript", true],
    ["application/x-www-form-urlencoded", true],
    ["application/yaml", true],
    ["application/x-ndjson", true],
    ["application/octet-stream", false],
    ["image/png", false],
    ["application/pdf", false],
    ["application/xmlish", false],
  ])("isText(%s) is %s", (type, expected) => {
    expect(isText(type)).toBe(expected)
  })

  test.each([
    ["text/event-stream", "sse"],
    ["text/event-stream;charset=utf-8", "sse"],
    ["application/x-ndjson", "ndjson"],
    ["application/ndjson", "ndjson"],
    ["application/jsonl", "ndjson"],
    ["application/x-jsonlines", "ndjson"],
    ["application/jsonlines", "ndjson"],
    ["application/json-lines", "ndjson"],
    ["application/stream+json", "ndjson"],
    ["application/json;stream=watch", "ndjson"],
    ["application/json-seq", "json-seq"],
    ["application/geo+json-seq", "json-seq"],
    ["application/json", undefined],
    ["application/json;stream=other", undefined],
    ["application/vnd.kubernetes.protobuf;stream=watch", undefined],
    ["text/plain; x=text/event-stream", undefined],
  ])("streamKindOf(%s) is %s", (type, expected) => {
    expect(streamKindOf(type)).toBe(expected)
  })
})
