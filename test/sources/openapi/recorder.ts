import { createServer } from "node:net"
import type { AddressInfo, Socket } from "node:net"
import { expect } from "vitest"
import { FromOpenAPI, prepareRequest } from "../../../src/from-openapi.ts"
import type {
  ImportedOperation,
  OpenAPIConfig,
  PreparedRequest,
} from "../../../src/from-openapi.ts"
import { encodeMultipart } from "../../../src/sources/openapi/request/multipart.ts"
import { quietRegistry } from "../../support/operations.ts"

/** A request as it came over the wire. */
export interface Recorded {
  /** `GET /pets?limit=2 HTTP/1.1`. */
  readonly line: string
  /** Without those that the platform adds to any request; names as they were sent. */
  readonly headers: Readonly<Record<string, string>>
  /** All of them. */
  readonly rawHeaders: readonly (readonly [string, string])[]
  readonly bytes: Uint8Array
  /** The same, one character for each byte. */
  readonly body: string
}

/** A server that keeps each byte it is sent. */
export interface Recorder extends AsyncDisposable {
  readonly url: string
  readonly requests: readonly Recorded[]
}

/** What `fetch` of Node adds by itself. */
const PLATFORM = new Set([
  ...["host", "connection", "accept-language", "accept-encoding", "sec-fetch-mode", "user-agent"],
  ...["content-length", "transfer-encoding"],
])

/** An answer in the bytes of HTTP, after which the connection is closed. */
export function reply(status = 200, body = "", headers: Readonly<Record<string, string>> = {}) {
  const lines = Object.entries({
    ...(body !== "" && { "content-type": "application/json" }),
    "content-length": String(new TextEncoder().encode(body).length),
    connection: "close",
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} Said\r\n${lines.join("")}\r\n${body}`
}

/** Starts a server on loopback that reads TCP, and answers with what it is told. */
export async function record(
  answer: (request: Recorded) => string = () => reply(),
): Promise<Recorder> {
  const requests: Recorded[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    let bytes = Buffer.alloc(0)
    sockets.add(socket)
    socket.on("close", () => sockets.delete(socket))
    socket.on("error", () => undefined)
    socket.on("data", (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk])
      const request = readRequest(bytes)
      if (request === undefined) return
      requests.push(request)
      socket.end(answer(request))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

/** A whole request, or `undefined` while some of it is missing. */
function readRequest(bytes: Buffer): Recorded | undefined {
  const end = bytes.indexOf("\r\n\r\n")
  if (end === -1) return undefined
  const [line = "", ...fields] = bytes.subarray(0, end).toString("latin1").split("\r\n")
  const rawHeaders = fields.map((field) => {
    const colon = field.indexOf(": ")
    return [field.slice(0, colon), field.slice(colon + 2)] as const
  })
  const all = new Map(rawHeaders)
  const rest = bytes.subarray(end + 4)
  const isChunked = all.get("transfer-encoding") === "chunked"
  const length = Number(all.get("content-length") ?? 0)
  const body = isChunked ? unchunked(rest) : rest.length < length ? undefined : rest
  if (body === undefined) return undefined
  expect(body.length).toBe(isChunked ? body.length : length)
  const shown = rawHeaders.filter(
    ([name, value]) => !PLATFORM.has(name) && !(name === "accept" && value === "*/*"),
  )
  return {
    line,
    rawHeaders,
    headers: Object.fromEntries(shown),
    bytes: new Uint8Array(body),
    body: body.toString("latin1"),
  }
}

function unchunked(bytes: Buffer): Buffer | undefined {
  const chunks: Buffer[] = []
  for (let at = 0; ;) {
    const end = bytes.indexOf("\r\n", at)
    if (end === -1) return undefined
    const size = Number.parseInt(bytes.subarray(at, end).toString("latin1"), 16)
    if (bytes.length < end + 2 + size + 2) return undefined
    if (size === 0) return Buffer.concat(chunks)
    chunks.push(bytes.subarray(end + 2, end + 2 + size))
    at = end + 2 + size + 2
  }
}

/** The parts of a document that a test is about, in any version. */
export type Raw = Record<string, unknown>

/** A document of OpenAPI 3 with these paths. */
export function openapi(paths: Raw, more: Raw = {}): Raw {
  return { openapi: "3.1.0", info: { title: "Test", version: "1.0.0" }, paths, ...more }
}

/** A document of Swagger 2.0 with these paths. */
export function swagger(paths: Raw, more: Raw = {}): Raw {
  return { swagger: "2.0", info: { title: "Test", version: "1.0.0" }, paths, ...more }
}

/** A document with one operation, called `op`. */
export function oneOperation(path: string, method: string, operation: Raw, more: Raw = {}): Raw {
  const documented = { operationId: "op", responses: { 200: { description: "" } }, ...operation }
  return openapi({ [path]: { [method]: documented } }, more)
}

/** What is imported of a document, under the namespace `api`. */
export function importOne(
  spec: Raw | string,
  config: Partial<OpenAPIConfig> = {},
  name = "op",
): ImportedOperation {
  const operations = FromOpenAPI(spec, { namespace: "api", ...config })
  const found = operations.find((operation) => operation.name === name)
  if (found === undefined) throw new Error(`There is no operation "${name}".`)
  return found
}

/**
 * Calls an operation through a registry, and gives the request that arrived.
 *
 * The request that `prepareRequest` gives for the same call has to be the same.
 */
export async function sent(
  spec: Raw | string,
  input: Raw = {},
  config: Partial<OpenAPIConfig> = {},
  name = "op",
): Promise<Recorded> {
  await using server = await record()
  return await sentTo(server, spec, input, { baseUrl: server.url, ...config }, name)
}

/** The same with a server of the test's own. */
export async function sentTo(
  server: Recorder,
  spec: Raw | string,
  input: Raw,
  config: Partial<OpenAPIConfig>,
  name = "op",
): Promise<Recorded> {
  const operation = importOne(spec, config, name)
  const prepared = await prepareRequest(operation, input)
  const before = server.requests.length
  await quietRegistry([operation]).execute(`api.${name}`, input)
  expect(server.requests.length).toBe(before + 1)
  const request = server.requests[before] as Recorded
  await expectSame(prepared, request, server.url)
  return request
}

async function expectSame(
  { method, url, headers, body }: PreparedRequest,
  request: Recorded,
  origin: string,
): Promise<void> {
  expect(new URL(url).origin).toBe(origin)
  expect(`${method} ${url.slice(origin.length)} HTTP/1.1`).toBe(request.line)
  if (body instanceof FormData) {
    const { "content-type": type = "", ...others } = request.headers
    const boundary = /boundary=(\S+)$/.exec(type)?.[1] ?? ""
    expect(others).toEqual(headers)
    expect(withBoundary(await latin1(encodeMultipart(body).body))).toBe(
      request.body.replaceAll(boundary, "BOUNDARY"),
    )
    return
  }
  expect(headers).toEqual(request.headers)
  expect(await latin1(body)).toBe(request.body)
}

function withBoundary(text: string): string {
  const boundary = /^--(\S+)/.exec(text)?.[1] ?? ""
  return text.replaceAll(boundary, "BOUNDARY")
}

async function latin1(body: PreparedRequest["body"]): Promise<string> {
  if (body === undefined) return ""
  const bytes = await new Response(body as BodyInit).arrayBuffer()
  return Buffer.from(bytes).toString("latin1")
}
