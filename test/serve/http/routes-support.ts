import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Type } from "typebox"
import { CallError } from "../../../src/core/errors.ts"
import { createRegistry } from "../../../src/engine/registry.ts"
import type { AnyRegistry } from "../../../src/engine/registry.ts"
import { mcpEnvelope } from "../../../src/core/envelope.ts"
import { toHTTP } from "../../../src/serve/http/to-http.ts"
import type { AnyOperation } from "../../../src/core/define.ts"
import type { Identity } from "../../../src/core/types.ts"

export const ANN: Identity = { id: "ann", scopes: ["admin"] }

/** An operation with everything filled in that a test does not care about. */
export function operation(
  given: Partial<AnyOperation> & { readonly handler?: unknown },
): AnyOperation {
  return {
    namespace: "shop",
    name: "x",
    version: "1.0.0",
    type: "query",
    description: "Does something",
    inputSchema: {},
    outputSchema: {},
    accessControl: { requiredScopes: [] },
    handler: () => null,
    ...given,
  }
}

/** A shop with an operation for every kind of answer; `calls` counts what ran. */
export function shop(): { readonly registry: AnyRegistry; readonly calls: string[] } {
  const calls: string[] = []
  const registry = createRegistry([
    operation({
      name: "find",
      title: "Find articles",
      description: "Finds articles by their name",
      tags: ["articles"],
      inputSchema: Type.Object({
        name: Type.String(),
        limit: Type.Optional(Type.Integer()),
        tags: Type.Optional(Type.Array(Type.String())),
      }),
      outputSchema: Type.Object({ got: Type.Unknown() }),
      handler: (input: unknown) => {
        calls.push("find")
        return { got: input }
      },
    }),
    operation({
      name: "order",
      type: "mutation",
      description: "Orders an article",
      inputSchema: Type.Object({ article: Type.String() }),
      errorSchemas: [
        { code: "SOLD_OUT", description: "None left", schema: Type.Object({}), httpStatus: 410 },
        { code: "ODD", description: "Odd", schema: Type.Object({}) },
      ],
      handler: ({ article }: { article: string }) => {
        calls.push("order")
        if (article === "gone") throw Object.assign(new Error("No lamps."), { code: "SOLD_OUT" })
        if (article === "odd") throw Object.assign(new Error("Odd."), { code: "ODD" })
        if (article === "bug") throw new Error("Bug at password=canary")
        if (article === "busy") throw new CallError("BUSY", "Later", { retryAfterMs: 1500 })
        return { article }
      },
    }),
    operation({
      name: "void",
      type: "mutation",
      outputSchema: Type.Void(),
      handler: () => undefined,
    }),
    operation({ name: "null", handler: () => null }),
    operation({ name: "bytes", handler: () => ({ raw: new Uint8Array([1, 2, 3]) }) }),
    operation({ name: "loop", handler: () => looped() }),
    operation({
      name: "tool",
      handler: () =>
        mcpEnvelope(undefined, { isError: true, content: [{ type: "text", text: "Tool broke" }] }),
    }),
    operation({
      name: "ticks",
      type: "subscription",
      description: "Counts",
      inputSchema: Type.Object({ to: Type.Integer() }),
      handler: async function* ({ to }: { to: number }) {
        for (let at = 1; at <= to; at++) yield { at }
      },
    }),
    operation({ name: "secret", accessControl: { requiredScopes: ["admin"] }, handler: () => "s" }),
    operation({ name: "inner", visibility: "internal", handler: () => calls.push("inner") }),
    operation({ name: "dotted.name", handler: () => "dotted" }),
    operation({ namespace: "other", name: "old", deprecated: true }),
  ])
  return { registry, calls }
}

function looped(): unknown {
  const value: Record<string, unknown> = {}
  value["self"] = value
  return value
}

type Options = Parameters<typeof toHTTP>[1]

export interface Api extends AsyncDisposable {
  (path: string, init?: RequestInit, identity?: Identity): Promise<Response>
  post(path: string, body?: unknown, headers?: HeadersInit, identity?: Identity): Promise<Response>
}

/** Asks an API of a registry: over a socket, or directly where it has to be told who asks. */
export function apiOf(registry: AnyRegistry, options?: Options): Api {
  const server = toHTTP(registry, options)
  const listener = createServer((request, response) => server.node(request, response))
  const listening = once(listener.listen(0, "127.0.0.1"), "listening")
  const ask = async (path: string, init?: RequestInit, identity?: Identity): Promise<Response> => {
    if (identity !== undefined) {
      return await server.fetch(new Request(`http://localhost${path}`, init), { identity })
    }
    await listening
    return await fetch(`http://127.0.0.1:${(listener.address() as AddressInfo).port}${path}`, init)
  }
  return Object.assign(ask, {
    post: (path: string, body?: unknown, headers?: HeadersInit, identity?: Identity) =>
      ask(
        path,
        {
          method: "POST",
          headers: { "content-type": "application/json", ...(headers as Record<string, string>) },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        },
        identity,
      ),
    [Symbol.asyncDispose]: async () => {
      await server.close()
      await listening
      listener.closeAllConnections()
      await new Promise((resolve) => listener.close(resolve))
    },
  })
}

/** The `data` of every event, and the names of those that have one. */
export async function eventsOf(response: Response): Promise<{ name?: string; data: unknown }[]> {
  const text = await response.text()
  return text.split("\n\n").flatMap((block) => {
    const lines = block.split("\n")
    const data = lines.find((line) => line.startsWith("data:"))?.slice(5)
    if (data === undefined) return []
    const name = lines
      .find((line) => line.startsWith("event:"))
      ?.slice(6)
      .trim()
    return [{ ...(name !== undefined && { name }), data: JSON.parse(data) as unknown }]
  })
}
