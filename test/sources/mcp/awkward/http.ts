// An awkward MCP server on loopback. No SDK: it says what a well-behaved one never would.
//
//   await using server = await serveAwkward({ era: "legacy", pages: 3 })
//   server.url                      where it is: http://127.0.0.1:PORT/mcp
//   server.requests                 what came: method, url, headers, the message
//   server.faults.token = "secret"  faults can be changed while it runs
//   server.expire()                 forgets all sessions;  server.cut() destroys all connections
//   server.peer                     what it knows: `cancelled`, `journal`, `calls`, `change()`, `pullRug()`
//
// Faults: those of faults.ts, and those of `HttpFaults` below. A crash is a cut of all connections.

import { randomUUID } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { faultsOf, type Faults } from "./faults.ts"
import { AwkwardPeer, VERSION_KEY, type Link } from "./peer.ts"

/** What can be wrong with a server over HTTP, beside what can be wrong with any. */
export interface HttpFaults extends Faults {
  /** Legacy clients get a session. */
  sessions: boolean
  /** How a session that is not known is answered. */
  expired: 404 | 400
  /** Answers are plain JSON instead of streams of events. */
  json: boolean
  /** There is no stream for notices: GET is answered with 405. */
  noGet: boolean
  /** Only the transport of 2024-11-05: GET opens a stream, POST to the same address gives 405. */
  sse: boolean
  /** The streams of this many calls are cut after their first bytes. */
  dropCalls: number
  /** Who does not have this bearer token gets 401. */
  token: string
  /** Calls get 403: this scope is missing. */
  scope: string
  /** The next `times` requests are answered like this; only those of `methods`, where given. */
  refuse: Refusal | undefined
  /** What becomes of `server/discover`. */
  probe: "" | "500" | "404" | "400" | "html" | "hang" | "cut"
  /** Where requests are sent on to (307): another origin, or a path on this one. */
  redirect: string
  /** Headers that do not say what the body says are refused with -32020. */
  strictHeaders: boolean
}

/** An answer that has nothing to do with the protocol. */
export interface Refusal {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly times?: number
  readonly methods?: readonly string[]
}

/** A request as it came. */
export interface SeenRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage["headers"]
  /** The message that was posted. */
  readonly message: Message | undefined
}

interface Message {
  readonly id?: unknown
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
}

export interface AwkwardHttp extends AsyncDisposable {
  readonly url: string
  readonly faults: HttpFaults
  readonly requests: SeenRequest[]
  readonly peer: AwkwardPeer
  readonly sessions: Set<string>
  expire(): void
  cut(): void
  /** Connections that are open. */
  open(): number
}

const HTTP_DEFAULTS = {
  sessions: true,
  expired: 404,
  json: false,
  noGet: false,
  sse: false,
  dropCalls: 0,
  token: "",
  scope: "",
  refuse: undefined,
  probe: "",
  redirect: "",
  strictHeaders: false,
} as const

/** Starts an awkward server on a free port of loopback. */
export async function serveAwkward(some: Partial<HttpFaults> = {}): Promise<AwkwardHttp> {
  const server = new AwkwardServer({ ...faultsOf({}), ...HTTP_DEFAULTS, ...some })
  await server.start()
  return server
}

class AwkwardServer implements AwkwardHttp {
  url = ""
  readonly faults: HttpFaults
  readonly requests: SeenRequest[] = []
  readonly peer: AwkwardPeer
  readonly sessions = new Set<string>()
  readonly #sockets = new Set<Socket>()
  readonly #streams = new Map<string, Link>()
  readonly #server = createServer((request, response) => void this.#take(request, response))
  #refused = 0

  constructor(faults: HttpFaults) {
    this.faults = faults
    this.peer = new AwkwardPeer(faults, { crash: () => this.cut(), describe: () => ({}) })
    this.#server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket)
      socket.on("close", () => this.#sockets.delete(socket))
    })
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve))
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/mcp`
  }

  expire(): void {
    this.sessions.clear()
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  open(): number {
    return this.#sockets.size
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url = "", headers } = request
    const text = await bodyOf(request)
    const message = method === "POST" ? (JSON.parse(text) as Message) : undefined
    this.requests.push({ method, url, headers, message })
    if (this.#refuse(request, response, message)) return
    if (url.startsWith("/messages")) this.#takeOld(url, message, response)
    else if (method === "POST" && message !== undefined && !this.faults.sse) {
      this.#post(message, request, response)
    } else if (method === "GET" && this.#mayListen(request)) this.#get(request, response)
    else if (method === "DELETE" && this.sessions.delete(sessionOf(request))) response.end()
    else response.writeHead(405, { allow: "POST" }).end()
  }

  /** Answers that come before anybody looks at the message. */
  #refuse(
    request: IncomingMessage,
    response: ServerResponse,
    message: Message | undefined,
  ): boolean {
    const { refuse, redirect, token, scope, probe } = this.faults
    const called = message?.method ?? ""
    const isMeant = refuse?.methods?.includes(called) ?? true
    if (refuse !== undefined && isMeant && this.#refused < (refuse.times ?? Infinity)) {
      this.#refused++
      response.writeHead(refuse.status, { "content-type": "text/plain", ...refuse.headers })
      response.end(refuse.body ?? "refused")
      return true
    }
    if (redirect !== "" && request.url !== redirect) {
      response.writeHead(307, { location: redirect }).end()
      return true
    }
    if (token !== "" && request.headers.authorization !== `Bearer ${token}`) {
      const metadata = `${new URL(this.url).origin}/.well-known/oauth-protected-resource`
      const challenge = `Bearer error="invalid_token", resource_metadata="${metadata}"`
      response.writeHead(401, { "www-authenticate": challenge }).end("who are you?")
      return true
    }
    if (scope !== "" && called === "tools/call") {
      const challenge = `Bearer error="insufficient_scope", scope="${scope}"`
      response.writeHead(403, { "www-authenticate": challenge }).end("not you")
      return true
    }
    return called === "server/discover" && this.#probe(probe, response)
  }

  #probe(probe: HttpFaults["probe"], response: ServerResponse): boolean {
    if (probe === "") return false
    if (probe === "cut") response.destroy()
    else if (probe === "html") {
      response.writeHead(200, { "content-type": "text/html" }).end("<h1>Welcome</h1>")
    } else if (probe !== "hang") {
      response.writeHead(Number(probe), { "content-type": "text/plain" }).end("no such thing")
    }
    return true
  }

  #post(message: Message, request: IncomingMessage, response: ServerResponse): void {
    const isModern = metaOf(message)[VERSION_KEY] !== undefined && this.faults.era !== "legacy"
    if (!isModern && this.faults.era !== "modern" && !this.#session(message, request, response))
      return
    if (isModern && this.faults.strictHeaders) {
      const wrong = wrongHeader(message, request, this.peer)
      if (wrong !== undefined) {
        answerJson(response, 400, { id: message.id, error: { code: -32020, message: wrong } })
        return
      }
    }
    if (message.id === undefined || message.method === undefined) {
      this.peer.receive(message, { send: () => undefined, raw: () => undefined })
      response.writeHead(202).end()
      return
    }
    const isCall = message.method === "tools/call"
    if (isCall && this.faults.dropCalls > 0) {
      this.faults.dropCalls--
      this.peer.calls++
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.write(": hello\n\n", () => response.destroy())
      return
    }
    response.on("close", () => {
      if (isModern && !response.writableFinished) this.peer.cancel(message.id, "stream closed")
    })
    this.peer.receive(message, this.#linkOf(message, response, isModern))
  }

  /** Whether the request may go on: it opens a session, or has one. */
  #session(message: Message, request: IncomingMessage, response: ServerResponse): boolean {
    if (!this.faults.sessions) return true
    if (message.method === "initialize") {
      const id = randomUUID()
      this.sessions.add(id)
      response.setHeader("mcp-session-id", id)
      return true
    }
    const id = sessionOf(request)
    if (this.sessions.has(id)) return true
    const status = id === "" ? 400 : this.faults.expired
    const text = status === 404 ? "Session not found" : "Bad Request: No valid session ID provided"
    const code = status === 404 ? -32001 : -32000
    answerJson(response, status, { id: null, error: { code, message: text } })
    return false
  }

  #linkOf(message: Message, response: ServerResponse, isModern: boolean): Link {
    const events = eventsOf(response)
    return {
      raw: (text) => {
        if (!this.faults.json) events.raw(text)
      },
      send: (sent) => {
        const { id, error, method } = sent as {
          id?: unknown
          error?: { code: number }
          method?: string
        }
        const isAnswer = method === undefined && id === message.id
        const isStream = !this.faults.json || message.method === "subscriptions/listen"
        if (isAnswer && !response.headersSent && (error !== undefined || !isStream)) {
          answerJson(response, isModern ? statusOf(error?.code) : 200, sent)
        } else if (isStream) {
          events.send(sent)
          if (isAnswer) response.end()
        }
      },
    }
  }

  #mayListen(request: IncomingMessage): boolean {
    const { noGet, sse, era, sessions } = this.faults
    if (sse) return true
    return !noGet && era !== "modern" && (!sessions || this.sessions.has(sessionOf(request)))
  }

  #get(request: IncomingMessage, response: ServerResponse): void {
    const link = eventsOf(response)
    const id = randomUUID()
    response.on("close", () => {
      this.peer.unlisten(link)
      this.#streams.delete(id)
    })
    if (this.faults.sse) {
      this.#streams.set(id, link)
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.write(`event: endpoint\ndata: /messages?session=${id}\n\n`)
    } else {
      this.peer.listen(link)
      response.writeHead(200, { "content-type": "text/event-stream" }).write(": hello\n\n")
    }
  }

  /** The transport of 2024-11-05: answers go to the stream that is open. */
  #takeOld(url: string, message: Message | undefined, response: ServerResponse): void {
    const link = this.#streams.get(new URL(url, this.url).searchParams.get("session") ?? "")
    response.writeHead(link === undefined ? 404 : 202).end()
    if (link !== undefined) this.peer.receive(message, link)
  }
}

function eventsOf(response: ServerResponse): Link {
  const raw = (text: string): void => {
    if (response.destroyed || response.writableEnded) return
    if (!response.headersSent) response.writeHead(200, { "content-type": "text/event-stream" })
    response.write(`event: message\ndata: ${text}\n\n`)
  }
  return { raw, send: (message) => raw(JSON.stringify(message)) }
}

function answerJson(response: ServerResponse, status: number, message: object): void {
  response.writeHead(status, { "content-type": "application/json" })
  response.end(JSON.stringify({ jsonrpc: "2.0", ...message }))
}

function statusOf(code: number | undefined): number {
  if (code === -32601) return 404
  return code !== undefined && (code === -32602 || (code <= -32020 && code >= -32022)) ? 400 : 200
}

/** The header that does not say what the body says. */
function wrongHeader(
  message: Message,
  request: IncomingMessage,
  peer: AwkwardPeer,
): string | undefined {
  const { headers } = request
  if (headers["mcp-method"] !== message.method) return "Mcp-Method does not match the body"
  if (message.method !== "tools/call") return undefined
  const { name, arguments: input } = message.params ?? {}
  if (headers["mcp-name"] !== name) return "Mcp-Name does not match the body"
  const region = (input as { region?: unknown } | undefined)?.region
  const isAsked = name === "region" && peer.faults.groups.includes("headers")
  if (!isAsked || decoded(headers["mcp-param-region"]) === region) return undefined
  return "Mcp-Param-Region does not match the body"
}

/** What a header says: values that are not plain text are sent in base64. */
function decoded(header: string | string[] | undefined): string | undefined {
  const [, base64] = /^=\?base64\?(.*)\?=$/.exec(String(header)) ?? []
  if (base64 !== undefined) return Buffer.from(base64, "base64").toString("utf8")
  return header === undefined ? undefined : String(header)
}

function metaOf(message: Message): Readonly<Record<string, unknown>> {
  return (message.params?.["_meta"] ?? {}) as Readonly<Record<string, unknown>>
}

function sessionOf(request: IncomingMessage): string {
  return String(request.headers["mcp-session-id"] ?? "")
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  request.setEncoding("utf8")
  let text = ""
  for await (const chunk of request) text += String(chunk)
  return text
}
