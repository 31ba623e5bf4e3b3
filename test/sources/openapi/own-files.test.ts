// Files of a registry that is served over HTTP, and imported again from its own document.
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { FromOpenAPI } from "../../../src/from-openapi.ts"
import { createRegistry } from "../../../src/index.ts"
import { silentLogger } from "../../../src/testing.ts"
import type { AnyOperation, OperationRegistry } from "../../../src/index.ts"
import { toHTTP } from "../../../src/to-http.ts"
import { Bytes, FileStream, toFile } from "../../../src/type.ts"
import type { FileLike } from "../../../src/type.ts"
import { operation } from "../../support/operations.ts"

const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0xff, 0x00])
const RAW = { format: "binary" }
const object = (properties: object): object => ({ type: "object", properties })
const list = (items: object): object => ({ type: "array", items })

/** A value whose files are described: kind, name, type and bytes in hexadecimal. */
async function described(value: unknown): Promise<unknown> {
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString("hex")}`
  if (Array.isArray(value)) return await Promise.all(value.map(described))
  if (typeof value !== "object" || value === null) return value
  const { name = "-", type, stream } = value as Partial<FileLike>
  if (typeof stream === "function") {
    const hex = Buffer.from(await (value as FileLike).arrayBuffer()).toString("hex")
    return `file ${name} ${type || "-"} ${hex}`
  }
  const members = Object.entries(value).map(async ([key, one]) => [key, await described(one)])
  return Object.fromEntries((await Promise.all(members)) as [string, unknown][])
}

interface Row {
  readonly schema: object
  readonly value: () => unknown
  /** What arrives; default: the description of the value. */
  readonly arrives?: unknown
}

const png = (): FileLike => toFile(PNG, { name: "Größe.png", type: "image/png" })
const page = (): FileLike => toFile("hello", { name: "a.txt", type: "text/plain" })
const octets = "application/octet-stream"

/** Files as results, and how they arrive at a caller of the imported operation. */
const RESULTS: Readonly<Record<string, Row>> = {
  "a text file": { schema: FileStream(), value: page },
  "a text file with a declared type": {
    schema: FileStream({ contentMediaType: "text/plain" }),
    value: page,
  },
  "a file of JSON": {
    schema: FileStream({ contentMediaType: "application/json" }),
    value: () => toFile('{"a":1}', { name: "a.json", type: "application/json" }),
  },
  "an image": { schema: FileStream({ contentMediaType: "image/png" }), value: png },
  "an empty file": {
    schema: FileStream(),
    value: () => toFile("", { name: "empty.txt", type: "text/plain" }),
  },
  "a stream": {
    schema: FileStream(),
    value: () => toFile(new Blob([PNG]).stream(), { name: "s.bin", type: octets }),
    arrives: `file s.bin ${octets} 89504e47ff00`,
  },
  bytes: { schema: Bytes(), value: () => PNG },
  "bytes of text": { schema: Bytes({ contentMediaType: "text/plain" }), value: () => PNG },
  "no bytes": { schema: Bytes(), value: () => new Uint8Array() },
  "bytes of a plain schema": { schema: RAW, value: () => PNG },
  "no bytes of a plain schema": { schema: RAW, value: () => new Uint8Array() },
  "bytes in an object": { schema: object({ b: Bytes() }), value: () => ({ b: PNG }) },
  "empty bytes in an object": {
    schema: object({ b: Bytes() }),
    value: () => ({ b: new Uint8Array() }),
  },
  "a file in an object": {
    schema: object({ f: FileStream({ contentMediaType: "image/png" }), n: { type: "number" } }),
    value: () => ({ f: png(), n: 1 }),
    arrives: { f: "file - image/png 89504e47ff00", n: 1 },
  },
  "bytes of a plain schema in an object": {
    schema: object({ b: RAW }),
    value: () => ({ b: PNG }),
  },
  "a list of files": {
    schema: list(FileStream()),
    value: () => [png(), page()],
    arrives: ["file - - 89504e47ff00", "file - - 68656c6c6f"],
  },
  "bytes deep in lists of objects": {
    schema: object({ a: list(object({ b: Bytes() })) }),
    value: () => ({ a: [{ b: PNG }, { b: new Uint8Array() }] }),
  },
}

/** Files as inputs, and how they arrive at the handler. */
const INPUTS: Readonly<Record<string, Row>> = {
  "a file": { schema: FileStream(), value: png },
  "a text file": { schema: FileStream({ contentMediaType: "text/plain" }), value: page },
  "an empty file": {
    schema: FileStream(),
    value: () => toFile("", { name: "empty.txt", type: "text/plain" }),
  },
  "a file of JSON": {
    schema: FileStream(),
    value: () => toFile('{"a":1}', { name: "a.json", type: "application/json" }),
  },
  bytes: { schema: Bytes(), value: () => PNG },
  "a file and fields": {
    schema: object({ f: FileStream(), title: { type: "string" } }),
    value: () => ({ f: png(), title: "A cat" }),
  },
  "a list of files": {
    schema: object({ f: list(FileStream()) }),
    value: () => ({ f: [png(), page()] }),
  },
  "bytes and fields": {
    schema: object({ b: Bytes(), n: { type: "number" } }),
    value: () => ({ b: PNG, n: 1 }),
  },
  "bytes in a nested object": {
    schema: object({ a: object({ b: Bytes() }) }),
    value: () => ({ a: { b: PNG } }),
  },
  "files deep in lists of objects": {
    schema: object({ a: list(object({ f: FileStream({ contentMediaType: "image/png" }) })) }),
    value: () => ({ a: [{ f: png() }] }),
    arrives: { a: [{ f: "file - image/png 89504e47ff00" }] },
  },
  "a stream in a nested object": {
    schema: object({ a: object({ f: FileStream() }) }),
    value: () => ({ a: { f: toFile(new Blob([PNG]).stream()) } }),
    arrives: { a: { f: "file - - 89504e47ff00" } },
  },
  "bytes of a plain schema in a nested object": {
    schema: object({ a: object({ b: RAW }) }),
    value: () => ({ a: { b: PNG } }),
  },
}

const id = (name: string): string => name.replaceAll(" ", "-").toLowerCase()

let isCancelled = false
async function* endless(): AsyncGenerator<Uint8Array> {
  try {
    for (;;) yield new Uint8Array(64 * 1024).fill(7)
  } finally {
    isCancelled = true
  }
}

const operations: AnyOperation[] = [
  ...Object.entries(RESULTS).map(([name, { schema, value }]) =>
    operation(`out.${id(name)}`, { outputSchema: schema, handler: value }),
  ),
  ...Object.entries(INPUTS).map(([name, { schema }]) =>
    operation(`in.${id(name)}`, {
      type: "mutation",
      inputSchema: schema,
      handler: async (input: unknown) => ({ received: await described(input) }),
    }),
  ),
  operation("out.endless", {
    outputSchema: FileStream({ contentMediaType: "text/csv" }),
    handler: () => toFile(endless(), { name: "endless.csv", type: "text/csv" }),
  }),
]

const options = { logger: silentLogger, maxUploadBytes: 1024 ** 2 }
const served = toHTTP(createRegistry(operations, { logger: silentLogger }), options)
let imported: OperationRegistry
beforeAll(async () => {
  const document = await served.fetch(new Request("http://localhost/openapi.json"))
  const again = FromOpenAPI(await document.text(), {
    namespace: "api",
    baseUrl: "http://localhost",
    fetch: async (request, init) => await served.fetch(new Request(request, init)),
  })
  imported = createRegistry(again as readonly AnyOperation[], { logger: silentLogger })
})
afterAll(() => served.close())

/** The input of the imported operation: an input other than an object is its body. */
function inputOf(operationId: string, value: unknown): unknown {
  const { properties = {} }: { properties?: object } =
    imported.getSpec(operationId)?.inputSchema ?? {}
  return Object.hasOwn(properties, "body") ? { body: value } : value
}

describe("FromOpenAPI with the document of a served registry", () => {
  test.each(Object.entries(RESULTS))("reads back %s", async (name, { value, arrives }) => {
    const { data } = await imported.execute(`api.out.${id(name)}`, {})
    expect(await described(data)).toEqual(arrives ?? (await described(value())))
  })

  test.each(Object.entries(INPUTS))("sends %s", async (name, { value, arrives }) => {
    const operationId = `api.in.${id(name)}`
    const { data } = await imported.execute(operationId, inputOf(operationId, value()))
    expect(data).toEqual({ received: arrives ?? (await described(value())) })
  })

  test("streams a download, and cancels it with its reader", async () => {
    const { data } = await imported.execute("api.out.endless", {})
    const file = data as FileLike
    expect([file.name, file.type]).toEqual(["endless.csv", "text/csv"])
    const reader = file.stream().getReader()
    const { value } = await reader.read()
    expect(value?.[0]).toBe(7)
    await reader.cancel()
    await expect.poll(() => isCancelled).toBe(true)
  })
})
