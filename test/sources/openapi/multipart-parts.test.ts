// Parts of multipart bodies as the document describes them, as they arrive.
import { describe, expect, test } from "vitest"
import { FromOpenAPI } from "../../../src/from-openapi.ts"
import { quietRegistry, rejection } from "../../support/operations.ts"
import { importOne, oneOperation, record } from "./recorder.ts"
import type { Raw } from "./recorder.ts"

const OBJECT = { type: "object", properties: { a: { type: "integer" } } }

function form(properties: Raw, encoding: Raw = {}, type = "multipart/form-data"): Raw {
  const schema = { $ref: "#/components/schemas/Form" }
  return oneOperation(
    "/x",
    "post",
    { requestBody: { required: true, content: { [type]: { schema, encoding } } } },
    { components: { schemas: { Form: { type: "object", properties } } } },
  )
}

interface Arrived {
  readonly type: string
  /** The head and the content of each part. */
  readonly parts: readonly (readonly [head: readonly string[], content: string])[]
}

async function arrived(spec: Raw, input: Raw, config: Raw = {}): Promise<Arrived> {
  await using server = await record()
  const operation = importOne(spec, { baseUrl: server.url, ...config })
  await quietRegistry([operation]).execute("api.op", input)
  const [request] = server.requests
  const type = request?.headers["content-type"] ?? ""
  const boundary = /boundary=(\S+)/.exec(type)?.[1] ?? ""
  const parts = (request?.body ?? "").split(`--${boundary}`).slice(1, -1)
  return {
    type: type.replace(boundary, "B"),
    parts: parts.map((text) => {
      const [head = "", ...rest] = text.slice(2, -2).split("\r\n\r\n")
      return [head.split("\r\n"), rest.join("\r\n\r\n")]
    }),
  }
}

function notesOf(spec: Raw): readonly string[] {
  const { operations } = FromOpenAPI(spec, { namespace: "api" }).report
  return operations.flatMap(({ status, notes }) =>
    notes.map((note) => `${status}: ${note.message}`),
  )
}

describe("a part with an object as its schema", () => {
  test.each([{}, { flatten: true }])("that is XML is sent as text, with %j", async (config) => {
    const spec = form({ meta: OBJECT }, { meta: { contentType: "application/xml" } })
    const value = { meta: "<a/>" }
    const input = "flatten" in config ? value : { body: value }
    const { parts } = await arrived(spec, input, config)

    expect(parts).toEqual([
      [['Content-Disposition: form-data; name="meta"', "Content-Type: application/xml"], "<a/>"],
    ])
    expect(notesOf(spec)).toEqual([
      "widened: application/xml is passed as text; its schema is not used.",
    ])
    const registry = quietRegistry([importOne(spec, { baseUrl: "https://api.test", ...config })])
    const object = { meta: { a: 1 } }
    const refused = registry.execute("api.op", "flatten" in config ? object : { body: object })
    expect(String(await rejection(refused))).toContain("must be string")
  })

  test.each([
    ["text/csv", "a;b", "a;b"],
    ["text/plain", { a: 1 }, '{"a":1}'],
  ])("that is %s may be text or data", async (contentType, meta, expected) => {
    const spec = form({ meta: OBJECT }, { meta: { contentType } })
    const { parts } = await arrived(spec, { body: { meta } })

    expect(parts[0]?.[1]).toBe(expected)
    expect(notesOf(spec)).toEqual([])
  })

  test.each(["application/json", "image/png, image/jpeg", "*/*"])(
    "that is %s is data",
    async (contentType) => {
      const spec = form({ meta: OBJECT }, { meta: { contentType } })

      expect((await arrived(spec, { body: { meta: { a: 1 } } })).parts[0]?.[1]).toBe('{"a":1}')
    },
  )
})

describe("headers of a part", () => {
  const header = (schema: Raw, more: Raw = {}): Raw => ({ schema, ...more })

  test("are sent if they have one value", async () => {
    const headers = {
      "X-Default": header({ type: "string", default: "d" }),
      "X-Const": header({ const: "c" }),
      "X-Enum": header({ enum: ["e"] }),
      "Content-Id": header({ type: "string" }),
      "Content-Type": header({ type: "string", default: "text/evil" }),
    }
    const spec = form({ a: { type: "string" } }, { a: { headers } })
    const { parts } = await arrived(spec, { body: { a: "1" } })

    expect(parts[0]?.[0]).toEqual([
      'Content-Disposition: form-data; name="a"',
      "X-Default: d",
      "X-Const: c",
      "X-Enum: e",
      "Content-Id: a",
    ])
    expect(notesOf(spec)).toEqual([])
  })

  test.each<[string, Raw, string]>([
    ["X-Any", header({ type: "string" }), "kept"],
    ["X-Any", header({ type: "string" }, { required: true }), "widened"],
    ["X-Lines", header({ default: "a\r\nX-Evil: 1" }), "kept"],
    ["X Space", header({ default: "a" }), "kept"],
  ])("are noted if they cannot be set: %s", async (name, declared, status) => {
    const spec = form({ a: { type: "string" } }, { a: { headers: { [name]: declared } } })

    expect(notesOf(spec)).toEqual([
      `${status}: The header "${name}" of the part "a" cannot be set; it is left out.`,
    ])
    const { parts } = await arrived(spec, { body: { a: "1" } })
    expect(parts[0]?.[0]).toEqual(['Content-Disposition: form-data; name="a"'])
  })
})

describe("multipart/related", () => {
  const properties = { json: OBJECT, data: { type: "string", format: "binary" } }

  test("has the type of its root, and an id for each part", async () => {
    const encoding = { data: { contentType: "application/vnd.3gpp.5gnas" } }
    const spec = form(properties, encoding, "multipart/related")
    const body = { data: new Uint8Array([65]), json: { a: 1 } }
    const { type, parts } = await arrived(spec, { body })

    expect(type).toBe('multipart/related; type="application/json"; boundary=B')
    expect(parts).toEqual([
      [
        [
          'Content-Disposition: form-data; name="json"',
          "Content-Type: application/json",
          "Content-ID: <json>",
        ],
        '{"a":1}',
      ],
      [
        [
          'Content-Disposition: form-data; name="data"; filename="data"',
          "Content-Type: application/vnd.3gpp.5gnas",
          "Content-ID: <data>",
        ],
        "A",
      ],
    ])
  })

  test("has the ids that the document declares", async () => {
    const headers = { "Content-Id": { schema: { type: "string" } } }
    const spec = form(properties, { data: { headers } }, "multipart/related")
    const { parts } = await arrived(spec, { body: { data: new Uint8Array([65]) } })

    expect(parts[0]?.[0]).toContain("Content-Id: data")
  })

  test.each<[string, unknown, string]>([
    ["of streams", { data: new Blob(["A"]).stream() }, 'type="application/octet-stream"; '],
    ["with text first", { note: "n" }, 'type="text/plain"; '],
    ["without parts", {}, ""],
  ])("%s", async (_what, body, type) => {
    const spec = form(properties, {}, "multipart/related")
    const { type: sent } = await arrived(spec, { body })

    expect(sent).toBe(`multipart/related; ${type}boundary=B`)
  })

  test("cannot be broken by the names of its parts", async () => {
    const spec = form({}, {}, "multipart/related")
    const { parts } = await arrived(spec, { body: { 'n>"\r\nX-Evil: 1': "v" } })

    expect(parts[0]?.[0]).toHaveLength(2)
  })
})

describe("the schema of a part in 3.1", () => {
  test("says its content type and its encoding", async () => {
    const spec = form({
      image: { contentMediaType: "image/png" },
      text: { type: "string", contentMediaType: "image/png", contentEncoding: "base64" },
      plain: { type: "string" },
    })
    const body = { image: new Uint8Array([65]), text: "QQ==", plain: "p" }
    const { parts } = await arrived(spec, { body })

    expect(parts.map(([[, ...head], content]) => [head, content])).toEqual([
      [["Content-Type: image/png"], "A"],
      [["Content-Type: image/png", "Content-Transfer-Encoding: base64"], "QQ=="],
      [[], "p"],
    ])
  })

  test("is overridden by its encoding", async () => {
    const image = { contentMediaType: "image/png" }
    const spec = form({ image }, { image: { contentType: "image/webp" } })
    const { parts } = await arrived(spec, { body: { image: new Uint8Array([65]) } })

    expect(parts[0]?.[0]).toContain("Content-Type: image/webp")
  })
})
