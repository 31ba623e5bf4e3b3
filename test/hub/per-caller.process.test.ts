// A hub forwards each caller's own token to every kind of source, and to no other caller's calls.
import { onTestFinished, describe, expect, test } from "vitest"
import { resolveConfig, type SourceConfig } from "../../src/config.ts"
import { serveHub } from "../../src/hub/serve-hub.ts"
import type { Hub, ServedHub } from "../../src/node.ts"
import { hashApiKey } from "../../src/to-http.ts"
import type { CredentialContext } from "../../src/index.ts"
import { rejection } from "../support/operations.ts"
import { folder, hubOf, operationText, sourceOf } from "./support.ts"

const USERS = Array.from({ length: 12 }, (_, at) => `user-${at}`)
const PEOPLE = ["hub", ...USERS]

function keyOf(id: string): string {
  return `key-of-${id}-0123456789abcdef`
}

/** The token of whoever calls, looked up in no particular order; the hub's own for its own requests. */
async function tokenOf({ identity }: CredentialContext): Promise<string> {
  for (let turn = 0; turn < (identity?.id.length ?? 0) % 5; turn++) await Promise.resolve()
  return keyOf(identity?.id ?? "hub")
}

/** A hub that knows its callers by their keys, and says who they are. */
async function upstream(): Promise<ServedHub> {
  const scan = folder({
    "who.mjs": operationText("w.who", "(_, { identity }) => identity.id"),
    "ticks.mjs": operationText(
      "w.ticks",
      "async function* (_, { identity }) { for (let at = 0; at < 3; at++) yield identity.id }",
    ).replace('type: "query"', 'type: "subscription"'),
  })
  const hub = hubOf([sourceOf("local", { scan })])
  await hub.ready()
  const apiKeys = PEOPLE.map((id) => ({ id, hash: hashApiKey(keyOf(id)), scopes: [] }))
  const served = await serveHub(hub, { port: 0, apiKeys })
  onTestFinished(() => served.close())
  return served
}

async function frontOf(config: (served: ServedHub) => SourceConfig): Promise<Hub> {
  const hub = hubOf([sourceOf("far", config(await upstream()))])
  await hub.ready()
  expect(hub.sources[0]).toMatchObject({ state: "ready" })
  return hub
}

function idEnding(hub: Hub, ...ends: readonly string[]): string {
  const ids = hub.registry.list().map(({ namespace, name }) => `${namespace}.${name}`)
  const found = ids.find((id) => ends.some((end) => id.endsWith(end)))
  if (found === undefined) throw new Error(`There is none among ${ids.join(", ")}.`)
  return found
}

describe("the token of each caller reaches", () => {
  test.each<[string, (served: ServedHub) => SourceConfig]>([
    [
      "an API, as a credential",
      ({ url }) => ({
        openapi: `${url}/openapi.json`,
        baseUrl: url,
        documentHeaders: { authorization: `Bearer ${keyOf("hub")}` },
        auth: tokenOf,
      }),
    ],
    [
      "an API, in a header",
      ({ url }) => ({
        openapi: `${url}/openapi.json`,
        baseUrl: url,
        documentHeaders: { authorization: `Bearer ${keyOf("hub")}` },
        headers: { Authorization: async (context) => `Bearer ${await tokenOf(context)}` },
      }),
    ],
    [
      "an MCP server",
      ({ mcpUrl = "" }) => ({
        mcp: mcpUrl,
        headers: async (context) => ({ Authorization: `Bearer ${await tokenOf(context)}` }),
      }),
    ],
    [
      "an MCP server, in its entry",
      ({ mcpUrl = "" }) => ({
        mcp: {
          url: mcpUrl,
          headers: { Authorization: async (context) => `Bearer ${await tokenOf(context)}` },
        },
        headers: { "X-Fixed": "1" },
      }),
    ],
    ["another hub", ({ url }) => ({ remote: url, token: tokenOf })],
    [
      "another hub, in a header",
      ({ url }) => ({
        remote: url,
        headers: async (context) => ({ Authorization: `Bearer ${await tokenOf(context)}` }),
      }),
    ],
  ])("%s", async (_name, config) => {
    const hub = await frontOf(config)
    const id = idEnding(hub, "w.who", "w_who")
    const callers = [...USERS, ...USERS]
    const answers = await Promise.all(
      callers.map((user) => hub.registry.execute(id, {}, { identity: { id: user, scopes: [] } })),
    )
    const own = await hub.registry.execute(id, {})
    const stranger = { identity: { id: "stranger", scopes: [] } }
    const refused = await rejection(hub.registry.execute(id, {}, stranger))

    expect(answers.map(({ data }) => said(data))).toEqual(callers)
    expect(said(own.data)).toBe("hub")
    expect(JSON.stringify(refused)).not.toContain("key-of")
  })

  test("the streams of another hub", async () => {
    const hub = await frontOf(({ url }) => ({ remote: url, token: tokenOf }))
    const streams = await Promise.all(
      USERS.map(async (id) => {
        const seen: unknown[] = []
        const options = { identity: { id, scopes: [] } }
        for await (const { data } of hub.registry.subscribe("far.w.ticks", {}, options)) {
          seen.push(data)
        }
        return seen
      }),
    )

    expect(streams).toEqual(USERS.map((id) => [id, id, id]))
  })
})

/** The answer itself: tools of MCP wrap a value that is no object. */
function said(data: unknown): unknown {
  const block: unknown = Array.isArray(data) ? data[0] : data
  return typeof block === "object" && block !== null ? (block as { text?: unknown }).text : block
}

test("a configuration may have functions where secrets go", () => {
  const sources = {
    api: { openapi: "api.json", auth: tokenOf, credentials: { a: tokenOf }, headers: tokenOf },
    tools: { mcp: "https://tools.test/mcp", headers: { "X-A": tokenOf, "X-B": "1" } },
    hub: { remote: "https://hub.test", token: tokenOf, headers: new Headers({ a: "b" }) },
  }

  expect(resolveConfig({ sources }, { baseDir: "/" }).sources).toHaveLength(3)
})
