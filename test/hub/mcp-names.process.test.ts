// Names of tools that a hub serves, while its sources come and go: people allow tools by name.
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { resolveConfig, type SourceConfig } from "../../src/config.ts"
import type { ResolvedConfig } from "../../src/config/model.ts"
import { createHub } from "../../src/hub/create-hub.ts"
import { serveHub } from "../../src/hub/serve-hub.ts"
import { createMCPClient } from "../../src/from-mcp.ts"
import { silentLogger } from "../../src/internal/logger.ts"
import { ROOT } from "./plain.ts"
import { folder, operationText } from "./support.ts"

const mcp = `${process.execPath} ${join(ROOT, "test/sources/mcp/support/browser-server.mjs")}`

function configOf(...names: readonly string[]): ResolvedConfig {
  const sources = Object.fromEntries(names.map((name) => [name, { mcp }]))
  return resolveConfig({ sources }, { baseDir: ROOT })
}

function namesOf(...namespaces: readonly string[]): string[] {
  const tools = ["confirm", "navigate", "snapshot", "wait"]
  return namespaces.flatMap((namespace) => tools.map((tool) => `${namespace}_${tool}`))
}

/** A served hub, and what a new client sees of it. */
async function served(config: ResolvedConfig) {
  const hub = createHub(config, { logger: silentLogger })
  onTestFinished(() => hub.close())
  await hub.ready()
  const server = await serveHub(hub, { port: 0 })
  onTestFinished(() => server.close())
  const connect = async () => {
    const client = await createMCPClient("hub", { url: server.mcpUrl ?? "", logger: silentLogger })
    onTestFinished(() => client.close())
    return client
  }
  const names = async (): Promise<string[]> =>
    (await connect()).tools.map(({ name }) => name).toSorted()
  return { hub, connect, names }
}

describe("tools of the same server for staging and production", () => {
  test("keep their names while the sources come and go", async () => {
    const { hub, connect, names } = await served(configOf("staging"))
    expect(await names()).toEqual(namesOf("staging"))
    const client = await connect()

    await hub.apply(configOf("production", "staging"))
    expect(await names()).toEqual(namesOf("production", "staging"))
    await hub.apply(configOf("production"))
    expect(await names()).toEqual(namesOf("production"))
    // What was allowed for staging must not reach production, whether the client knows of the change yet or not.
    const call = client.client.callTool("staging_snapshot", {})
    await expect(call).rejects.toThrow(/(has no|no longer has the) tool "staging_snapshot"/)

    await hub.apply(configOf("staging"))
    expect(await names()).toEqual(namesOf("staging"))
  })
})

test("a source whose tools want the names of another, now or earlier, gets names of its own", async () => {
  const scanned = (id: string) => ({
    scan: folder({ "it.mjs": operationText(id, `() => "${id}"`) }),
  })
  const resolve = (sources: Readonly<Record<string, SourceConfig>>): ResolvedConfig =>
    resolveConfig({ sources }, { baseDir: ROOT })
  const [first, second] = [scanned("task.list_all"), scanned("task_list.all")]
  const { hub, names } = await served(resolve({ first }))
  expect(await names()).toEqual(["task_list_all"])
  await hub.apply(resolve({ second, first }))
  const both = await names()
  expect(both).toEqual(["task_list_all", expect.stringMatching(/^task_list_all_[0-9a-f]{6}$/)])
  await hub.apply(resolve({ second }))
  expect(await names()).toEqual([both[1]])
  await hub.apply(resolve({ first }))
  expect(await names()).toEqual(["task_list_all"])
})
