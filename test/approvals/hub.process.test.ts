import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { createHub } from "../../src/hub/create-hub.ts"
import { loadConfig } from "../../src/hub/config-file/load.ts"
import { serveHub } from "../../src/hub/serve-hub.ts"
import { silentLogger } from "../../src/testing.ts"
import { run } from "../cli/support/run.ts"
import { folder } from "../hub/support.ts"

interface Answer {
  readonly code?: string
  readonly details: { readonly approvalId: string; readonly address: string }
}

const KEYS = { admin: "key-of-grace", agent: "key-of-the-agent" }

function configure(config: object = {}): string {
  const dir = folder({
    "drop.ts": `export default {
  namespace: "w", name: "drop", version: "1.0.0", type: "mutation", description: "Drops something",
  inputSchema: { type: "object" }, outputSchema: {}, accessControl: { requiredScopes: [] },
  handler: () => "dropped",
}
`,
  })
  const all = {
    sources: { tools: { scan: ".", approvals: [{ match: "w.*", decide: "ask" }] } },
    approvals: [{ callers: "agent", match: "*.purge", decide: "deny" }, { decide: "allow" }],
    ...config,
  }
  writeFileSync(join(dir, "operations.config.json"), JSON.stringify(all))
  return dir
}

describe("A hub with rules", () => {
  test("lets administrators approve a call that waits, and nobody else", async () => {
    const { createHash } = await import("node:crypto")
    const hash = (key: string): string => createHash("sha256").update(key).digest("hex")
    const apiKeys = [
      { hash: hash(KEYS.admin), id: "grace", scopes: ["hub:admin"] },
      { hash: hash(KEYS.agent), id: "agent", scopes: [] },
    ]
    const dir = configure({ server: { apiKeys } })
    const config = await loadConfig(join(dir, "operations.config.json"))
    const hub = createHub(config, { logger: silentLogger })
    onTestFinished(() => hub.close())
    await hub.ready()
    const served = await serveHub(hub, { port: 0 })
    onTestFinished(() => served.close())
    const send = async (who: keyof typeof KEYS, path: string, body?: object) => {
      const response = await fetch(path.startsWith("http") ? path : `${served.url}${path}`, {
        method: body === undefined ? "GET" : "POST",
        headers: { "x-api-key": KEYS[who], "content-type": "application/json" },
        ...(body && { body: JSON.stringify(body) }),
      })
      return { status: response.status, json: (await response.json()) as Answer }
    }
    const call = () => send("agent", "/operations/w.drop", { n: 1 })

    const first = await call()
    expect(first).toMatchObject({ status: 428, json: { code: "APPROVAL_REQUIRED" } })
    const { approvalId } = first.json.details
    expect(first.json.details.address).toBe(`${served.url}/#/approvals/${approvalId}`)
    const address = `/hub/approvals/${approvalId}`
    expect((await send("agent", "/hub/approvals")).status).toBe(403)
    expect((await send("agent", address, { approve: true })).status).toBe(403)
    expect((await send("admin", "/hub/approvals")).json).toMatchObject({
      waiting: [{ id: approvalId, operationId: "w.drop", caller: "agent", input: `{"n":1}` }],
    })
    expect((await send("admin", address, { approved: true })).status).toBe(400)
    expect((await send("admin", address, { approve: true, by: "x" })).status).toBe(400)
    expect((await send("admin", address, { approve: true })).status).toBe(200)
    expect((await send("admin", address, { approve: true })).status).toBe(404)
    expect((await call()).status).toBe(200)
    expect((await call()).status).toBe(428)
  })

  test("names the place to approve for rules that are added while it is served", async () => {
    const dir = configure({ sources: { tools: { scan: "." } }, approvals: undefined })
    const file = join(dir, "operations.config.json")
    const hub = createHub(await loadConfig(file), { logger: silentLogger })
    onTestFinished(() => hub.close())
    await hub.ready()
    const served = await serveHub(hub, { port: 0, console: false })
    onTestFinished(() => served.close())
    const call = async () => {
      const response = await fetch(`${served.url}/operations/w.drop`, { method: "POST" })
      return { status: response.status, json: (await response.json()) as Answer }
    }
    expect((await call()).status).toBe(200)
    const changes: string[] = []
    hub.registry.onChange(({ type, id }) => void changes.push(`${type} ${id}`))
    writeFileSync(file, JSON.stringify({ sources: { tools: { scan: "." } }, approvals: [] }))
    await hub.apply(await loadConfig(file))
    await hub.apply(await loadConfig(file))
    expect(changes).toEqual(["replaced w.drop"])
    const { status, json } = await call()
    expect([status, json.details.address]).toEqual([
      428,
      `${served.url}/hub/approvals/${json.details.approvalId}`,
    ])
  })

  test("refuses rules that cannot work when it is created", async () => {
    const dir = configure({ approvals: [{ decide: "deny", matches: "x" }] })
    await expect(loadConfig(join(dir, "operations.config.json"))).rejects.toThrow(/matches/)
    const open = configure({ approvals: [{ decide: "deny", input: { owner: "acme" } }] })
    const config = await loadConfig(join(open, "operations.config.json"))
    expect(() => createHub(config, { logger: silentLogger })).toThrow(
      /hub rule 1: "input" accepts every input/,
    )
  })
})

describe("operations call", () => {
  test("exits with 3 if a rule asks and there is no terminal, and runs with --yes", async () => {
    const dir = configure()
    const asked = await run(["call", "w.drop"], { cwd: dir })
    expect(asked).toMatchObject({ code: 3 })
    expect(asked.stderr).toContain(`"w.drop" was not called: a person has to approve it first`)
    expect(await run(["call", "w.drop", "--yes"], { cwd: dir })).toMatchObject({ code: 0 })
  })

  test("does not run what is denied, also with --yes", async () => {
    const dir = configure({ approvals: [{ decide: "deny", reason: "Not today.", via: "cli" }] })
    const denied = await run(["call", "w.drop", "--yes"], { cwd: dir })
    expect(denied).toMatchObject({ code: 1 })
    expect(denied.stderr).toContain("Not today.")
  })
})
