import { createServer } from "node:http"
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { inspect } from "node:util"
import type { Logger } from "../../../../src/index.ts"

/** A request that a hostile server has got. */
export interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly message: Message
}

export interface Message {
  readonly id?: unknown
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
}

/** What a method is answered with: a result, or whatever the function does to the response itself. */
export type Answer = (seen: Seen, response: ServerResponse) => object | undefined

export interface Hostile extends AsyncDisposable {
  readonly url: string
  readonly origin: string
  readonly seen: Seen[]
  /** By method; `*` is asked before all others. Can be changed while it runs. */
  readonly answers: Record<string, Answer>
}

/** A server of the legacy era on loopback that does what its test wants. */
export async function hostile(answers: Record<string, Answer> = {}): Promise<Hostile> {
  const seen: Seen[] = []
  const server = createServer((request, response) => {
    response.on("error", () => undefined)
    void bodyOf(request).then((body) => {
      const message = body === "" ? {} : (JSON.parse(body) as Message)
      const { method = "", url = "", headers } = request
      const one: Seen = { method, url, headers, message }
      seen.push(one)
      respond({ ...STANDARD, ...answers }, one, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    url: `${origin}/mcp`,
    seen,
    answers,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

const STANDARD: Record<string, Answer> = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: "hostile", version: "6.6.6" },
  }),
  "tools/list": () => ({ tools: [tool("echo")] }),
  "tools/call": ({ message }) => ({
    content: [{ type: "text", text: JSON.stringify(message.params?.["arguments"]) }],
  }),
}

function respond(answers: Record<string, Answer>, seen: Seen, response: ServerResponse): void {
  const { method, id } = seen.message
  const first = answers["*"]?.(seen, response)
  if (response.writableEnded || response.headersSent) return
  if (seen.method !== "POST") response.writeHead(405).end()
  else if (id === undefined) response.writeHead(202).end()
  else {
    const answer = Object.hasOwn(answers, method ?? "") ? answers[method ?? ""] : undefined
    const result = first ?? answer?.(seen, response)
    if (response.writableEnded || response.headersSent) return
    if (answer !== undefined && result === undefined) return
    const error = { code: -32601, message: "Method not found" }
    json(response, 200, { jsonrpc: "2.0", id, ...(result === undefined ? { error } : { result }) })
  }
}

/** Answers with a body of JSON. */
export function json(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): undefined {
  response.writeHead(status, { "content-type": "application/json", ...headers })
  response.end(JSON.stringify(body))
}

/** The definition of a tool. */
export function tool(name: string, more: object = {}): object {
  return { name, description: `Tool ${name}`, inputSchema: { type: "object" }, ...more }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ""
  request.setEncoding("utf8")
  for await (const chunk of request) text += String(chunk)
  return text
}

/** A logger that keeps every word, with all that can be seen of its fields. */
export function recorder(): { readonly logger: Logger; readonly text: () => string } {
  const lines: string[] = []
  const note = (...words: unknown[]): void => void lines.push(words.map(shown).join(" "))
  return {
    logger: { debug: note, info: note, warn: note, error: note },
    text: () => lines.join("\n"),
  }
}

/** All that can be seen of a value, by a console or on a wire: causes, hidden members, its JSON. */
export function shown(value: unknown): string {
  return `${inspect(value, { depth: 50, showHidden: true, getters: true, maxStringLength: null, maxArrayLength: null })}\n${jsonOf(value)}`
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? ""
  } catch {
    return ""
  }
}

/** The command of a server that is this script of Node, told its answers by `reply(method, params)`. */
export function scripted(script: string): { readonly command: string; readonly args: string[] } {
  return { command: process.execPath, args: ["-e", `${PREAMBLE}\n${script}`] }
}

const PREAMBLE = `
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n")
const on = {
  initialize: () => ({ protocolVersion: "2025-11-25", capabilities: { tools: { listChanged: true } },
    serverInfo: { name: "scripted", version: "1" } }),
  "tools/list": () => ({ tools: [{ name: "echo", inputSchema: { type: "object" } }] }),
  "tools/call": ({ arguments: a }) => ({ content: [{ type: "text", text: JSON.stringify(a) }] }),
}
let rest = ""
process.stdin.setEncoding("utf8").on("data", (chunk) => {
  const lines = (rest + chunk).split("\\n")
  rest = lines.pop()
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line)
    if (id === undefined || method === undefined) continue
    const answer = on[method]
    if (answer === undefined) say({ id, error: { code: -32601, message: "Method not found" } })
    else {
      try {
        const result = answer(params, id)
        if (result !== undefined) say({ id, result })
      } catch (error) {
        say({ id, error: { code: error.code ?? -32603, message: error.message, data: error.data } })
      }
    }
  }
}).on("end", () => process.exit(0))
`
