import { Type } from "typebox"
import { createMCPClient } from "../../../src/from-mcp.ts"
import { createClient, defineOperation, isCallError } from "../../../src/index.ts"
import { silentLogger } from "../../../src/testing.ts"
import type { Identity } from "../../../src/index.ts"
import { createRegistry } from "../../../src/engine/registry.ts"
import type { AnyRegistry } from "../../../src/engine/registry.ts"
import { unwrapOrThrow } from "../../../src/core/envelope.ts"
import type { ResponseEnvelope } from "../../../src/core/envelope.ts"
import type { HTTPProblem } from "../../../src/to-http.ts"
import { readBearerToken } from "../../../src/to-http.ts"
import type { UpgradeRequestLike } from "../../../src/to-http.ts"
import { toMCP } from "../../../src/to-mcp.ts"
import { createHTTPTransport } from "../../../src/http.ts"
import { createWebSocketTransport } from "../../../src/websocket.ts"
import { eventsOf, serve } from "./support.ts"

/** What a failure says, whichever way it came. */
export interface Failure {
  readonly code: string
  readonly message: string
  readonly details?: unknown
  readonly retryable?: boolean
  readonly mayHaveExecuted?: boolean
}

/** What became of a call. */
export type Outcome =
  | { readonly data: unknown }
  | { readonly error: Failure; readonly items?: readonly unknown[] }

/** What became of a stream: its items, and why it broke off if it did. */
export interface StreamOutcome {
  readonly items: readonly unknown[]
  readonly error?: Failure
}

export interface Terms {
  readonly signal?: AbortSignal
  readonly timeout?: number
}

/** One way to call operations. */
export interface Way {
  readonly name: string
  readonly call: (id: string, input?: unknown, terms?: Terms) => Promise<Outcome>
  /** Not every way has streams. */
  readonly stream?: (id: string, input?: unknown, terms?: Terms) => Promise<StreamOutcome>
}

/** What handlers saw of callers who gave up. */
export interface Watched {
  started: number
  aborted: number
}

const ADA: Identity = { id: "ada", scopes: ["shop"] }
const TOKEN = "token-of-ada"

const base = {
  namespace: "shop",
  version: "1.0.0",
  description: "Of a test",
  accessControl: { requiredScopes: [] },
} as const

const Price = Type.Object({ sku: Type.String(), cents: Type.Integer() })

function createShop(watched: Watched): AnyRegistry {
  const wait = async (signal: AbortSignal): Promise<void> => {
    watched.started++
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve()
      else signal.addEventListener("abort", () => resolve())
    })
    watched.aborted++
  }
  return createRegistry(
    [
      defineOperation({
        ...base,
        name: "price",
        type: "query",
        inputSchema: Type.Object({ sku: Type.String({ minLength: 2 }), count: Type.Integer() }),
        outputSchema: Price,
        handler: ({ sku, count }) => ({ sku, cents: 250 * count }),
      }),
      defineOperation({
        ...base,
        name: "echo",
        type: "mutation",
        inputSchema: Type.Object({ value: Type.Unknown() }),
        outputSchema: Type.Object({ value: Type.Unknown() }),
        handler: (input) => input,
      }),
      defineOperation({
        ...base,
        name: "buy",
        type: "mutation",
        inputSchema: Type.Object({ sku: Type.String() }),
        outputSchema: Price,
        errorSchemas: [
          {
            code: "SOLD_OUT",
            description: "Nothing left",
            httpStatus: 409,
            schema: Type.Object({ sku: Type.String(), left: Type.Integer() }),
          },
        ],
        handler: ({ sku }) => {
          throw Object.assign(new Error("Out of tea until Monday."), {
            code: "SOLD_OUT",
            details: { sku, left: 0 },
          })
        },
      }),
      defineOperation({
        ...base,
        name: "broken",
        type: "query",
        inputSchema: Type.Object({}),
        outputSchema: Type.Unknown(),
        handler: () => {
          throw new Error("The till is jammed; token=abcdefghijklmnop123456")
        },
      }),
      defineOperation({
        ...base,
        name: "vault",
        type: "query",
        accessControl: { requiredScopes: ["owner"] },
        inputSchema: Type.Object({}),
        outputSchema: Type.Unknown(),
        handler: () => "gold",
      }),
      defineOperation({
        ...base,
        name: "hang",
        type: "mutation",
        inputSchema: Type.Object({}),
        outputSchema: Type.Unknown(),
        handler: async (_, { signal }) => await wait(signal),
      }),
      defineOperation({
        ...base,
        name: "ticks",
        type: "subscription",
        inputSchema: Type.Object({ to: Type.Integer({ maximum: 1000 }) }),
        outputSchema: Type.Object({ at: Type.Integer() }),
        async *handler({ to }) {
          for (let at = 1; at <= to; at++) yield { at }
        },
      }),
      defineOperation({
        ...base,
        name: "leak",
        type: "subscription",
        inputSchema: Type.Object({}),
        outputSchema: Type.Object({ at: Type.Integer() }),
        errorSchemas: [
          { code: "BURST", description: "A pipe", schema: Type.Object({ at: Type.Integer() }) },
        ],
        async *handler() {
          yield { at: 1 }
          yield { at: 2 }
          throw Object.assign(new Error("The pipe burst."), { code: "BURST", details: { at: 3 } })
        },
      }),
      defineOperation({
        ...base,
        name: "drip",
        type: "subscription",
        inputSchema: Type.Object({}),
        outputSchema: Type.Object({ at: Type.Integer() }),
        async *handler(_, { signal }) {
          yield { at: 1 }
          await wait(signal)
        },
      }),
    ],
    { logger: silentLogger },
  )
}

/** Everything open, and every way into it. */
export interface Ways extends AsyncDisposable {
  readonly ways: readonly Way[]
  readonly watched: Watched
}

/** The same registry, by every way that there is. */
export async function openWays(): Promise<Ways> {
  const watched: Watched = { started: 0, aborted: 0 }
  const registry = createShop(watched)
  const authenticate = (asking: UpgradeRequestLike): Identity | undefined =>
    readBearerToken(asking) === TOKEN ? ADA : undefined
  const mcp = toMCP(registry, {
    errors: "expose",
    logger: silentLogger,
    authenticate,
    expose: { mode: "all" },
  })
  const api = await serve(registry, { errors: "expose", authenticate, mcp })
  const transport = createWebSocketTransport(`${api.url.replace("http", "ws")}/ws`, {
    token: TOKEN,
    logger: silentLogger,
  })
  const client = createClient(transport)
  const headers = { authorization: `Bearer ${TOKEN}` }
  const plain = createClient(createHTTPTransport(api.url, { headers }))
  const wrapper = await createMCPClient("up", {
    url: `${api.url}/mcp`,
    headers,
    logger: silentLogger,
  })
  const mcpCall = (id: string, input: unknown, terms?: Terms): Promise<ResponseEnvelope> =>
    wrapper.client.callTool(id.replace(".", "_"), input, terms)
  return {
    watched,
    ways: [
      {
        name: "execute",
        call: (id, input, terms) =>
          outcomeOf(registry.execute(id, input, { identity: ADA, ...terms })),
        stream: (id, input, terms) =>
          collect(registry.subscribe(id, input, { identity: ADA, ...terms })),
      },
      {
        name: "gateway",
        call: (id, input, terms) => request(`${api.url}/operations/${id}`, input, terms, "data"),
        stream: (id, input, terms) => events(`${api.url}/operations/${id}`, input, terms, "data"),
      },
      {
        // Streams as `EventSource` asks for them; calls are only taken by POST.
        name: "gateway, bare and by GET",
        call: (id, input, terms) =>
          request(`${api.url}/operations/${id}?unwrap=1`, input, terms, undefined),
        stream: (id, input, terms) => {
          const query = `input=${encodeURIComponent(JSON.stringify(input ?? null))}`
          return events(`${api.url}/operations/${id}?${query}`, undefined, terms, "data", "GET")
        },
      },
      {
        name: "REST",
        call: (id, input, terms) =>
          request(`${api.url}/api/${id.replace(".", "/")}`, input, terms, undefined),
        stream: (id, input, terms) =>
          events(`${api.url}/api/${id.replace(".", "/")}`, input, terms, undefined),
      },
      {
        name: "batch",
        async call(id, input, terms) {
          const whole = await request(`${api.url}/batch`, [{ id, input }], terms, "results")
          if ("error" in whole) return whole
          const [first] = whole.data as [
            { envelope: { data: unknown }; problem?: undefined } | { problem: HTTPProblem },
          ]
          return first.problem === undefined
            ? { data: first.envelope.data }
            : { error: failureOf(first.problem) }
        },
      },
      {
        name: "WebSocket",
        call: (id, input, terms) => outcomeOf(client.call(id, input, terms)),
        stream: (id, input, terms) => collect(client.subscribe(id, input, terms)),
      },
      {
        name: "HTTP client",
        call: (id, input, terms) => outcomeOf(plain.call(id, input, terms)),
        stream: (id, input, terms) => collect(plain.subscribe(id, input, terms)),
      },
      {
        name: "MCP",
        call: (id, input, terms) => outcomeOf(mcpCall(id, input, terms)),
        // A tool collects what a stream gives.
        async stream(id, input, terms) {
          const outcome = await outcomeOf(mcpCall(id, input, terms))
          if ("error" in outcome) return { items: outcome.items ?? [], error: outcome.error }
          return { items: (outcome.data as { items: unknown[] }).items }
        },
      },
    ],
    async [Symbol.asyncDispose]() {
      await client.close()
      await plain.close()
      await wrapper.close()
      await api.close()
      await mcp.close()
    },
  }

  async function request(
    url: string,
    input: unknown,
    terms: Terms | undefined,
    field: string | undefined,
  ): Promise<Outcome> {
    const answer = await send(url, input, terms, "application/json", "POST")
    const text = await answer.text()
    if (!answer.ok) return { error: failureOf(JSON.parse(text) as HTTPProblem, answer) }
    if (text === "") return { data: undefined }
    const body = JSON.parse(text) as unknown
    return { data: field === undefined ? body : (body as Record<string, unknown>)[field] }
  }

  async function events(
    url: string,
    input: unknown,
    terms: Terms | undefined,
    field: string | undefined,
    method = "POST",
  ): Promise<StreamOutcome> {
    const answer = await send(url, input, terms, "text/event-stream", method)
    const text = await answer.text()
    if (!answer.ok) return { items: [], error: failureOf(JSON.parse(text) as HTTPProblem, answer) }
    const all = eventsOf(text)
    const items = all
      .filter(({ event }) => event === undefined)
      .map(({ data = "" }) => JSON.parse(data) as Record<string, unknown>)
      .map((item) => (field === undefined ? item : item[field]))
    const last = all.at(-1)
    if (last?.event === "end") return { items }
    return { items, error: failureOf(JSON.parse(last?.data ?? "") as HTTPProblem) }
  }

  function send(
    url: string,
    input: unknown,
    terms: Terms | undefined,
    accept: string,
    method: string,
  ): Promise<Response> {
    const isEmpty = input === undefined
    return fetch(url, {
      method,
      headers: {
        ...headers,
        accept,
        ...(terms?.timeout !== undefined && { "x-timeout-ms": String(terms.timeout) }),
        ...(!isEmpty && { "content-type": "application/json" }),
      },
      ...(!isEmpty && { body: JSON.stringify(input) }),
      ...(terms?.signal !== undefined && { signal: terms.signal }),
    })
  }
}

async function outcomeOf(pending: PromiseLike<ResponseEnvelope>): Promise<Outcome> {
  try {
    const envelope = await pending
    const { meta } = envelope
    if (meta.source === "mcp" && meta.isError) return mcpFailure(meta)
    return { data: unwrapOrThrow(envelope) }
  } catch (error) {
    return { error: callFailure(error) }
  }
}

async function collect(stream: AsyncIterable<ResponseEnvelope>): Promise<StreamOutcome> {
  const items: unknown[] = []
  try {
    for await (const { data } of stream) items.push(data)
    return { items }
  } catch (error) {
    return { items, error: callFailure(error) }
  }
}

function callFailure(error: unknown): Failure {
  if (!isCallError(error)) throw error
  const { code, message, details, retryable, mayHaveExecuted } = error.toJSON()
  return {
    code,
    message,
    retryable,
    mayHaveExecuted,
    ...(details !== undefined && { details }),
  }
}

/** A problem says its message as `detail`; its status is that of the answer. */
function failureOf(problem: HTTPProblem, answer?: Response): Failure {
  const { code, detail, details, retryable, mayHaveExecuted, status } = problem
  if (answer !== undefined && answer.status !== status) {
    throw new Error(`The answer says ${answer.status}, its problem ${status}.`)
  }
  return {
    code,
    message: detail,
    retryable,
    mayHaveExecuted,
    ...(details !== undefined && { details }),
  }
}

/** A result of MCP says a failure in words for models: the code, the message, then lines with details. */
function mcpFailure(meta: Extract<ResponseEnvelope["meta"], { source: "mcp" }>): Outcome {
  const texts = meta.content.flatMap((block) => (block.type === "text" ? [block.text] : []))
  const line = texts.find((one) => /^[A-Z_]+: /.test(one)) ?? ""
  const [, code = "", message = ""] = /^([A-Z_]+): ([^]*)$/.exec(line) ?? []
  const known = meta._meta?.["alkdev.operations/error"] as Partial<Failure> | undefined
  return {
    error: {
      code,
      message,
      ...(known?.retryable !== undefined && { retryable: known.retryable }),
      ...(known?.mayHaveExecuted !== undefined && { mayHaveExecuted: known.mayHaveExecuted }),
    },
    items: texts,
  }
}
