// Six servers of other people, directly and behind a gateway.
import { writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import type { Client } from "@modelcontextprotocol/client"
import { describe, expect, test } from "vitest"
import {
  CONTEXT7,
  EVERYTHING,
  FILESYSTEM,
  MEMORY,
  temporaryFolder,
  THINKING,
} from "../servers/support.ts"
import { program } from "../support/program.ts"
import { real } from "../support/real.ts"
import { connect, gateway, type Way } from "./support.ts"

type Item = Readonly<Record<string, unknown>>

/** Each with what its folder is needed for. */
const SERVERS: readonly (readonly [name: string, way: (folder: string) => Way])[] = [
  ["everything", () => real(EVERYTHING, "stdio")],
  ["filesystem", (folder) => real(FILESYSTEM, folder)],
  ["memory", () => real(MEMORY)],
  ["sequential thinking", () => real(THINKING)],
  ["context7", () => real(CONTEXT7)],
  [
    "an app built with the SDK",
    () => ({
      command: process.execPath,
      args: [program(resolve(import.meta.dirname, "app-server.ts"))],
    }),
  ],
]

/** Values that a server makes anew each time. */
const TIMES = /\d{4}-\d\d-\d\dT[\d:.]+Z|\d{1,2}:\d\d:\d\d(?: [AP]M)?/g

function essence(value: unknown): unknown {
  const { _meta: _, resultType: __, ttlMs: ___, cacheScope: ____, ...rest } = value as Item
  return JSON.parse(JSON.stringify(rest).replaceAll(TIMES, "<time>"))
}

const byKey = (items: readonly object[], key: string): object[] =>
  items
    .map((one) => one as Item)
    .map(({ execution: _, ...item }) => item)
    .toSorted((left, right) => (String(left[key]) < String(right[key]) ? -1 : 1))

/** Everything that a client can learn of a server without an effect. */
async function everythingOf(client: Client): Promise<unknown> {
  const { resources: has, prompts: hasPrompts } = client.getServerCapabilities() ?? {}
  const { tools } = await client.listTools()
  const resources = has === undefined ? [] : (await client.listResources()).resources
  const templates =
    has === undefined ? [] : (await client.listResourceTemplates()).resourceTemplates
  const prompts = hasPrompts === undefined ? [] : (await client.listPrompts()).prompts
  const plain = prompts.filter(({ arguments: given = [] }) => !given.some((one) => one.required))
  const uris = resources.map(({ uri }) => uri).toSorted()
  return {
    tools: byKey(tools, "name"),
    resources: byKey(resources, "uri"),
    templates: byKey(templates, "uriTemplate"),
    prompts: byKey(prompts, "name"),
    read: await Promise.all(uris.map(async (uri) => essence(await client.readResource({ uri })))),
    got: await Promise.all(
      plain.map(async ({ name }) => essence(await client.getPrompt({ name, arguments: {} }))),
    ),
  }
}

describe.each(SERVERS)("%s behind a gateway", (_, wayOf) => {
  test.each(["legacy", "modern"] as const)(
    "has the same tools, resources, templates, prompts and instructions, %s",
    async (era) => {
      using folder = temporaryFolder()
      writeFileSync(join(folder.path, "note.txt"), "Milk")
      const way = wayOf(folder.path)
      await using direct = await connect(way, "legacy")
      await using gate = await gateway({
        ...(way as { readonly command: string }),
        resources: true,
        prompts: true,
        trust: true,
      })
      await using through = await connect(gate.way, era)

      const expected = await everythingOf(direct.client)
      expect(await everythingOf(through.client)).toEqual(expected)
      const { tools } = expected as { readonly tools: readonly unknown[] }
      expect(tools.length).toBeGreaterThan(0)
      const [line = ""] = (direct.client.getInstructions() ?? "").slice(0, 400).trim().split("\n")
      expect(through.client.getInstructions() ?? "").toContain(line)
    },
  )
})

test.each(["legacy", "modern"] as const)(
  "the page of an app is read through a gateway, byte for byte, from the address in its tool, %s",
  async (era) => {
    const [, wayOf] = SERVERS[5]!
    const way = wayOf("")
    await using direct = await connect(way, "legacy")
    await using gate = await gateway({ ...(way as { readonly command: string }), resources: true })
    await using through = await connect(gate.way, era)

    const { tools } = await through.client.listTools()
    const uri = "ui://chart/view"
    expect(tools[0]).toMatchObject({ _meta: { ui: { resourceUri: uri } } })
    const read = async (client: Client) => (await client.readResource({ uri })).contents
    const [page] = await read(through.client)
    expect(page).toMatchObject({ mimeType: "text/html;profile=mcp-app", _meta: { ui: {} } })
    expect(await read(through.client)).toEqual(await read(direct.client))
  },
)
