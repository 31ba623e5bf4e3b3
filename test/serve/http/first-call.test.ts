// @isolated: it asks what is loaded before the first use.
// What few calls need is loaded with the first of them: its answer is that of the later ones.

import { beforeEach, expect, test, vi } from "vitest"

beforeEach(() => {
  vi.resetModules()
})

const json = { "content-type": "application/json" }

async function open() {
  const { apiOf, operation } = await import("./routes-support.ts")
  const { createRegistry } = await import("../../../src/engine/registry.ts")
  const { FileStream } = await import("../../../src/type.ts")
  const bytes = { raw: new Uint8Array([1, 2, 3]) }
  return apiOf(
    createRegistry([
      operation({ name: "bytes", handler: () => bytes }),
      operation({ name: "change", type: "mutation", handler: () => bytes }),
      operation({
        name: "own",
        type: "mutation",
        route: { method: "POST", path: "/own/{place}" },
        inputSchema: {
          type: "object",
          properties: { place: { type: "string" }, file: FileStream() },
        },
        handler: async ({ place, file }: { place: string; file?: File }) => ({
          ...{ place, text: await file?.text() },
          ...bytes,
        }),
      }),
      operation({
        name: "read",
        type: "mutation",
        inputSchema: { type: "object", properties: { file: FileStream() } },
        handler: async ({ file }: { file: File }) => await file.text(),
      }),
      operation({
        name: "file",
        handler: () => new File(["abc"], "a.txt", { type: "text/plain" }),
      }),
      operation({
        name: "referred",
        type: "mutation",
        inputSchema: { $ref: "#/$defs/one", $defs: { one: { type: "object" } } },
        handler: (input: unknown) => ({ got: input }),
      }),
      operation({
        name: "stream",
        type: "subscription",
        inputSchema: { $ref: "#/$defs/one", $defs: { one: { type: "object" } } },
        handler: async function* () {
          yield bytes
          yield 1
        },
      }),
    ]),
  )
}

const post = (body: unknown, headers: object = {}): RequestInit => ({
  method: "POST",
  headers: { ...json, ...headers },
  body: JSON.stringify(body),
})
const file = { file: Buffer.from("abc").toString("base64") }

test.each<[name: string, path: string, init: RequestInit, text: string]>([
  ["bytes over the gateway", "/operations/shop.bytes", post({}), '"AQID"'],
  ["bytes as data", "/operations/shop.bytes?unwrap", post({}), '"AQID"'],
  [
    "bytes, preferred as data",
    "/operations/shop.bytes",
    post({}, { prefer: "return=data" }),
    "AQID",
  ],
  ["bytes in a batch", "/batch", post([{ id: "shop.bytes" }]), '"AQID"'],
  ["bytes over REST", "/api/shop/change", post({}), '"AQID"'],
  ["bytes of a query over REST", "/api/shop/bytes", {}, '"AQID"'],
  ["bytes of an own route", "/own/here", post({}), '"AQID"'],
  [
    "bytes of a stream",
    "/operations/shop.stream",
    post({}, { accept: "text/event-stream" }),
    "AQID",
  ],
  [
    "a stream without a body",
    "/operations/shop.stream",
    { method: "POST", headers: { accept: "text/event-stream" } },
    "AQID",
  ],
  [
    "bytes of a stream over REST",
    "/api/shop/stream",
    { headers: { accept: "text/event-stream" } },
    "AQID",
  ],
  ["a file", "/operations/shop.file", post({}), "YWJj"],
  [
    "a file, preferred as a file",
    "/operations/shop.file",
    post({}, { prefer: "return=file" }),
    "abc",
  ],
  ["a file over REST", "/api/shop/file", {}, "abc"],
  ["a dry run with a file", "/operations/shop.read", post(file, { "x-dry-run": "1" }), "shop.read"],
  ["a file as input of the gateway", "/operations/shop.read", post(file), "abc"],
  ["a file as input of a batch", "/batch", post([{ id: "shop.read", input: file }]), "abc"],
  ["a file as input over REST", "/api/shop/read", post(file), "abc"],
  ["a file as input of an own route", "/own/here", post(file), "abc"],
  ["no body over the gateway", "/operations/shop.referred", { method: "POST" }, '"got":{}'],
  ["no body over REST", "/api/shop/referred", { method: "POST" }, '"got":{}'],
  ["no input in a batch", "/batch", post([{ id: "shop.referred" }]), '"got":{}'],
])("%s: the first answer is that of later calls", async (_name, path, init, text) => {
  await using api = await open()
  const answers: unknown[] = []
  for (let round = 0; round < 2; round++) {
    const response = await api(path, init)
    const body = await response.text()
    answers.push([
      response.status,
      body.replaceAll(/"timestamp":\d+/g, "").replaceAll(/"(?:requestId|id)":"[^"]*"/g, ""),
    ])
    expect(body).toContain(text)
  }
  expect(answers[0]).toEqual(answers[1])
})
