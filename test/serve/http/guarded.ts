import { createServer, request } from "node:http"
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import type { Clock, Identity, Logger } from "../../../src/index.ts"
import { systemClock } from "../../../src/internal/clock.ts"
import { Guard } from "../../../src/serve/http/guard.ts"
import type { Admitted, GuardOptions } from "../../../src/serve/http/guard.ts"
import { answerHealth } from "../../../src/serve/http/endpoints.ts"
import type { HTTPIncoming } from "../../../src/serve/exchange.ts"

/** Keeps log lines, so that they can be searched. */
export class LogLines implements Logger {
  readonly lines: string[] = []
  readonly debug = (message: string, fields?: unknown): void => this.#add("debug", message, fields)
  readonly info = (message: string, fields?: unknown): void => this.#add("info", message, fields)
  readonly warn = (message: string, fields?: unknown): void => this.#add("warn", message, fields)
  readonly error = (message: string, fields?: unknown): void => this.#add("error", message, fields)

  get text(): string {
    return this.lines.join("\n")
  }

  #add(level: string, message: string, fields: unknown): void {
    this.lines.push(`${level} ${message} ${JSON.stringify(fields ?? {})}`)
  }
}

export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface Guarded extends AsyncDisposable {
  readonly guard: Guard
  readonly log: LogLines
  readonly port: number
  /** Requests that were let in, by the id of their caller. */
  readonly runs: (string | undefined)[]
  send(options?: {
    readonly method?: string
    readonly path?: string
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string
  }): Promise<Reply>
}

/** A real server on loopback with nothing but a guard in front of a counter. */
export async function serveGuarded(
  options: GuardOptions = {},
  clock: Clock = systemClock,
): Promise<Guarded> {
  const log = new LogLines()
  const guard = new Guard(options, clock, log)
  const runs: (string | undefined)[] = []
  const server = createServer((req, res) => void answer(guard, runs, req, res))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return {
    guard,
    log,
    port,
    runs,
    send: ({ method = "GET", path = "/operations", headers = {}, body } = {}) =>
      new Promise((resolve, reject) => {
        const sent = request({ port, host: "127.0.0.1", method, path, headers, agent: false })
        sent.on("error", reject)
        sent.on("response", (response) => void read(response).then(resolve, reject))
        sent.end(body)
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

/** A request that never was on a wire. */
export function incoming(
  headers: Readonly<Record<string, string>> = {},
  more: {
    readonly method?: string
    readonly remoteAddress?: string
    readonly localAddress?: string
    readonly identity?: Identity | null
  } = {},
): HTTPIncoming {
  const all: Readonly<Record<string, string | undefined>> = { host: "localhost:3000", ...headers }
  const { remoteAddress = "127.0.0.1", localAddress = "127.0.0.1", method = "GET" } = more
  return {
    method,
    path: "/operations",
    query: "",
    header: (name) => all[name],
    like: { url: "/operations", headers: all, socket: { remoteAddress, localAddress } },
    requestId: "of-a-test",
    identity: more.identity,
    readBody: () => Promise.resolve(""),
    onGone: () => () => {},
  }
}

/** Lets a request in, or throws: for tests of what comes after. */
export async function admitted(guard: Guard, from: HTTPIncoming): Promise<Admitted> {
  const admission = await guard.admit(from)
  if (admission.kind === "admitted") return admission
  throw new Error(`not admitted: ${JSON.stringify(admission)}`)
}

async function answer(
  guard: Guard,
  runs: (string | undefined)[],
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const path = req.url ?? "/"
  const health = answerHealth(req.method ?? "GET", path, true)
  if (health !== undefined) {
    res.writeHead(health.status, health.headers).end(health.body)
    return
  }
  const admission = await guard.admit({
    method: req.method ?? "GET",
    path,
    query: "",
    header(name) {
      const value = req.headers[name]
      return Array.isArray(value) ? value.join(", ") : value
    },
    like: req,
    requestId: "of-a-test",
    identity: undefined,
    readBody: () => Promise.resolve(""),
    onGone: () => () => {},
  })
  req.resume()
  if (admission.kind === "answered") {
    res.writeHead(admission.answer.status, admission.answer.headers).end()
  } else if (admission.kind === "refused") {
    res.writeHead(admission.status, admission.headers).end(JSON.stringify(admission.error))
  } else {
    runs.push(admission.identity?.id)
    res.writeHead(200, admission.headers).end("{}")
    admission.release()
  }
}

async function read(response: IncomingMessage): Promise<Reply> {
  let body = ""
  response.setEncoding("utf8")
  for await (const chunk of response) body += String(chunk)
  return { status: response.statusCode ?? 0, headers: response.headers, body }
}
