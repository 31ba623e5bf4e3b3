import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { isCallError } from "../../../../src/core/errors.ts"
import type { FieldModel } from "../../../../src/sources/openapi/model.ts"
import { buildRequest } from "../../../../src/sources/openapi/request/build.ts"
import { encodeMultipart } from "../../../../src/sources/openapi/request/multipart.ts"
import { bodyOf, mediaOf, planOf } from "./plan.ts"

function lockedStream(): ReadableStream {
  const stream = new ReadableStream()
  stream.getReader()
  return stream
}

describe("a multipart body", () => {
  test("has files with name and type, JSON parts without a file name, and text", async () => {
    const text = await sent({
      note: "hi",
      count: 3,
      meta: { a: [1] },
      bytes: new Uint8Array([65, 66]),
      file: new File(["pdf"], "a.pdf", { type: "application/pdf" }),
      blob: new Blob(["x"], { type: "image/png" }),
      gone: undefined,
      none: null,
    })

    expect(text).toBe(
      part('name="note"', "", "hi") +
        part('name="count"', "", "3") +
        part('name="meta"', "application/json", '{"a":[1]}') +
        part('name="bytes"; filename="bytes"', "application/octet-stream", "AB") +
        part('name="file"; filename="a.pdf"', "application/pdf", "pdf") +
        part('name="blob"; filename="blob"', "image/png", "x") +
        "--B--\r\n",
    )
  })

  test("repeats parts for lists, of files, objects and plain values", async () => {
    const text = await sent({
      f: [new File(["1"], "1.txt", { type: "text/plain" }), new Uint8Array([50])],
      o: [{ a: 1 }, { a: 2 }],
      s: ["x", null, "y"],
      empty: [],
    })

    expect(text).toBe(
      part('name="f"; filename="1.txt"', "text/plain", "1") +
        part('name="f"; filename="f"', "application/octet-stream", "2") +
        part('name="o"', "application/json", '{"a":1}') +
        part('name="o"', "application/json", '{"a":2}') +
        part('name="s"', "", "x") +
        part('name="s"', "", "y") +
        "--B--\r\n",
    )
  })

  test("sends declared fields first, in their order", async () => {
    const text = await sent({ z: "1", file: "2", key: "3" }, { key: {}, file: {} })

    expect([...text.matchAll(/name="(\w+)"/g)].map(([, name]) => name)).toEqual([
      "key",
      "file",
      "z",
    ])
  })

  test("does as its encoding says", async () => {
    const how = { style: "form" as const, explode: false, allowReserved: false }
    const text = await sent(
      {
        xml: "<a/>",
        json: "[1]",
        plain: "t",
        image: new Uint8Array([65]),
        any: new Uint8Array([66]),
        list: ["a b", "c|d"],
        pipes: ["a", "b"],
        deep: { a: { b: 1 } },
        binary: "text of a file",
      },
      {
        xml: { encoding: { contentType: "application/xml; charset=utf-8" } },
        json: { encoding: { contentType: "application/json" } },
        plain: { encoding: { contentType: "text/plain" } },
        image: { isBinary: true, encoding: { contentType: "image/png" } },
        any: { isBinary: true, encoding: { contentType: "image/png, image/jpeg" } },
        list: { encoding: { serialization: how } },
        pipes: { encoding: { serialization: { ...how, style: "pipeDelimited" } } },
        deep: { encoding: { serialization: { ...how, style: "deepObject" } } },
        binary: { isBinary: true },
      },
    )

    expect(text).toBe(
      part('name="xml"', "application/xml; charset=utf-8", "<a/>") +
        part('name="json"', "application/json", "[1]") +
        part('name="plain"', "", "t") +
        part('name="image"; filename="image"', "image/png", "A") +
        part('name="any"; filename="any"', "application/octet-stream", "B") +
        part('name="list"', "", "a b,c|d") +
        part('name="pipes"', "", "a|b") +
        part('name="deep[a][b]"', "", "1") +
        part('name="binary"; filename="binary"', "application/octet-stream", "text of a file") +
        "--B--\r\n",
    )
  })

  test("names cannot break out of their quotes", async () => {
    const file = new File(["x"], 'a"\r\nX-Evil: 1')
    const text = await sent({ 'n"\r\nX-Evil: 1': "v", file })

    expect(text).toContain('name="n%22%0D%0AX-Evil: 1"\r\n')
    expect(text).toContain('filename="a%22%0D%0AX-Evil: 1"\r\n')
  })

  test("takes a FormData of the caller as it is, and keeps the declared kind of multipart", () => {
    const form = new FormData()
    form.append("a", "1")
    const plan = planOf({ method: "POST", body: bodyOf("multipart/mixed") })
    const { body, headers } = buildRequest(plan, { body: form }, { base: "https://a.test" })

    expect(body).toBe(form)
    expect(headers).toEqual({})
    expect(encodeMultipart(form).contentType).toMatch(/^multipart\/mixed; boundary=[\w-]+$/)
    expect(encodeMultipart(new FormData()).contentType).toMatch(/^multipart\/form-data; boundary=/)
  })

  test.each<[string, unknown, string]>([
    ["a stream that is being read", { f: lockedStream() }, "at /f is a stream"],
    ["bytes as a whole", new Uint8Array(1), "one member per part"],
    ["a list", [1], "one member per part"],
    ["text", "x", "one member per part"],
    ["NaN", { a: { b: Number.NaN } }, "at /a has NaN at /b"],
    ["bytes in JSON", { a: { b: new Uint8Array(1) } }, "at /a has raw bytes at /b"],
  ])("%s cannot be sent", (_what, value, reason) => {
    const thrown = caught(() => formOf(value))

    expect(isCallError(thrown, "VALIDATION_ERROR")).toBe(true)
    expect((thrown as Error).message).toContain(reason)
  })

  test("does not read files before they are sent", () => {
    const big = new Blob([new Uint8Array(1 << 20)])
    const file = new File([...Array<Blob>(64).fill(big)], "big")
    file.arrayBuffer = () => Promise.reject(new Error("read"))

    expect(encodeMultipart(formOf({ file })).body.size).toBeGreaterThan(64 << 20)
  })

  test("is read back by the platform", async () => {
    const text = fc
      .string({ unit: "grapheme", maxLength: 20 })
      .filter((name) => !/[\r\n"]/.test(name))
    const file = fc.uint8Array({ maxLength: 30 })
    const fields = fc.dictionary(text, fc.oneof(text, file), { noNullPrototype: true, minKeys: 1 })
    await fc.assert(
      fc.asyncProperty(fields, async (given) => {
        const { body, contentType } = encodeMultipart(formOf(given))
        const response = new Response(body, { headers: { "content-type": contentType } })
        const read = await readForm(await response.formData())

        expect(read).toEqual(Object.entries(given).map(([name, value]) => [name, value]))
      }),
      { numRuns: 100 },
    )
  })
})

function formOf(value: unknown, fields: Record<string, Partial<FieldModel>> = {}): FormData {
  const plan = planOf({ method: "POST", body: bodyOf(mediaOf("multipart/form-data", fields)) })
  const { body, headers } = buildRequest(plan, { body: value }, { base: "https://a.test" })
  expect(headers).not.toHaveProperty("content-type")
  return body as FormData
}

async function sent(
  value: unknown,
  fields: Record<string, Partial<FieldModel>> = {},
): Promise<string> {
  const { body, contentType } = encodeMultipart(formOf(value, fields))
  const [, boundary = ""] = contentType.split("boundary=")
  expect(body.type).toBe(contentType)
  return (await body.text()).replaceAll(boundary, "B")
}

function part(disposition: string, type: string, content: string): string {
  const typeLine = type === "" ? "" : `Content-Type: ${type}\r\n`
  return `--B\r\nContent-Disposition: form-data; ${disposition}\r\n${typeLine}\r\n${content}\r\n`
}

async function readForm(form: FormData): Promise<[string, string | Uint8Array][]> {
  const entries: [string, string | Uint8Array][] = []
  for (const [name, entry] of form) {
    const value = typeof entry === "string" ? entry : new Uint8Array(await entry.arrayBuffer())
    entries.push([name, value])
  }
  return entries
}

function caught(run: () => unknown): unknown {
  try {
    return run()
  } catch (thrown) {
    return thrown
  }
}
