import type { Client } from "@modelcontextprotocol/client"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { rejection } from "../../../support/operations.ts"
import { EVERYTHING, everything } from "../servers/support.ts"
import { real } from "../support/real.ts"
import { connect, gateway, until } from "./support.ts"
import type { Era, Gateway, WatchedClient } from "./support.ts"

const FORM = { name: "Ada", check: true, integer: 1, number: 2, firstLine: "It was." }
const REPLY = { role: "assistant", model: "none", content: { type: "text", text: "42" } } as const
const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} }

/** An input for each tool whose result says nothing of the time or of the process. */
const CALLS: readonly [string, object][] = [
  ["echo", { message: "hi" }],
  ["get-annotated-message", { messageType: "error", includeImage: true }],
  ["get-resource-links", { count: 3 }],
  ["get-structured-content", { location: "Los Angeles" }],
  ["get-sum", { a: 1, b: 2 }],
  ["get-tiny-image", {}],
  ["gzip-file-as-resource", { name: "a", data: "data:text/plain,a", outputType: "resource" }],
  ["gzip-file-as-resource", { name: "b", data: "data:text/plain,b" }],
  ["gzip-file-as-resource", { name: "c", data: "ftp://example.com/c" }],
  ["trigger-long-running-operation", { duration: 0.1, steps: 2 }],
  ["trigger-elicitation-request", {}],
  ["trigger-url-elicitation", { url: "https://example.com/", elicitationId: "e" }],
  ["trigger-sampling-request", { prompt: "How many?" }],
]

function prepare(client: Client): void {
  client.setRequestHandler("elicitation/create", async ({ params }) => ({
    action: "accept",
    ...(params.mode !== "url" && { content: withDefaults(params.requestedSchema, FORM) }),
  }))
  client.setRequestHandler("sampling/createMessage", async () => REPLY)
  client.setRequestHandler("roots/list", async () => ({ roots: [{ uri: "file:///projects" }] }))
}

/** As a form is sent back: what was left as it was has its defaults. */
function withDefaults(
  schema: { readonly properties: Readonly<Record<string, { readonly default?: unknown }>> },
  given: Readonly<Record<string, unknown>>,
): Record<string, string> {
  const defaults = Object.entries(schema.properties)
    .filter(([key, property]) => property.default !== undefined && !(key in given))
    .map(([key, property]) => [key, property.default])
  return { ...given, ...Object.fromEntries(defaults) } as Record<string, string>
}

function essence(result: Readonly<Record<string, unknown>> | undefined): object {
  const { _meta: _, resultType: __, ...rest } = result ?? {}
  return rest
}

describe.each(["legacy", "modern"] as const)("everything behind a gateway, %s", (era: Era) => {
  describe.each(["stdio", "streamableHttp"] as const)("over %s", (channel) => {
    let way: Awaited<ReturnType<typeof everything>>
    let gate: Gateway
    let direct: WatchedClient
    let through: WatchedClient

    beforeAll(async () => {
      way = await everything(channel)
      gate = await gateway({ ...way.config, forwardInput: true })
      const { url } = way.config
      const own = url === undefined ? real(EVERYTHING, "stdio") : { url: String(url) }
      direct = await connect(own, "legacy", { capabilities, prepare })
      through = await connect(gate.way, era, { capabilities, prepare })
      await until(() => gate.wrapper.tools.length === 17)
    })

    afterAll(async () => {
      for (const one of [direct, through, gate, way]) await one[Symbol.asyncDispose]()
    })

    test("definitions are the same, but for tasks", async () => {
      const sorted = (tools: Readonly<Record<string, unknown>>[]): object[] =>
        tools
          .map(({ execution: _, ...tool }) => tool)
          .toSorted((left, right) => (String(left["name"]) < String(right["name"]) ? -1 : 1))

      expect(sorted(await through.tools())).toEqual(sorted(await direct.tools()))
    })

    test.each(CALLS)("%s with %o gives the same", async (tool, input) => {
      const expected = await direct.call(tool, input)
      const got = await through.call(tool, input)

      expect(essence(got.result)).toEqual(essence(expected.result))
    })

    test("a page that has to be opened first is the same error", async () => {
      const input = { url: "https://example.com/", elicitationId: `${era} first`, errorPath: true }
      const { error } = await through.call("trigger-url-elicitation", input)

      expect(error).toMatchObject({ code: -32042, data: { elicitations: [{ mode: "url" }] } })
    })

    test("progress is the same, and a call can be taken back", async () => {
      const abort = new AbortController()
      const seen: object[] = []
      const call = through.call(
        "trigger-long-running-operation",
        { duration: 20, steps: 400 },
        {
          signal: abort.signal,
          onprogress: (progress) => {
            seen.push(progress)
            if (seen.length === 3) abort.abort()
          },
        },
      )

      await rejection(call)
      expect(seen.slice(0, 3)).toMatchObject(
        [1, 2, 3].map((progress) => ({ progress, total: 400 })),
      )
      expect((await through.call("echo", { message: "on" })).result).toBeDefined()
    })
  })
})
