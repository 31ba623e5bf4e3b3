import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { loadConfig } from "../../../src/hub/config-file/load.ts"
import { createHub, serveHub } from "../../../src/node.ts"
import { silentLogger } from "../../../src/testing.ts"
import { folder } from "../../hub/support.ts"
import { run } from "../support/run.ts"

const operation = (name: string): string => `export default {
  namespace: "w", name: "${name}", version: "1.0.0", type: "mutation", description: "Changes something",
  inputSchema: { type: "object", properties: { owner: { type: "string", default: "acme" } } },
  outputSchema: {}, accessControl: { requiredScopes: ${name === "drop" ? '["w"]' : "[]"} }, handler: () => "done",
}
`

const RULES = [
  { match: "*.purge", decide: "deny", reason: "Nothing is purged." },
  { callers: "agent", input: { properties: { owner: { const: "acme" } } }, decide: "allow" },
  { via: "mcp", decide: "ask", reason: "Others see it." },
  { decide: "allow" },
  { callers: "agent", decide: "deny" },
]

function configured(approvals: readonly object[] = RULES): string {
  const dir = folder({
    "drop.ts": operation("drop"),
    "purge.ts": operation("purge"),
  })
  const source = {
    scan: ".",
    approvals: [{ match: "w.drop", unless: { via: "cli" }, decide: "ask" }],
  }
  const config = { sources: { tools: source }, approvals }
  writeFileSync(join(dir, "operations.config.json"), JSON.stringify(config))
  return dir
}

describe("operations approvals test", () => {
  test("shows the decision, and what each rule of each list says of the call", async () => {
    const cwd = configured()
    const { code, stdout } = await run(["approvals", "test", "drop", "--via", "mcp"], { cwd })
    expect(code).toBe(0)
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => line.replaceAll(/\s+/g, " ")),
    ).toEqual([
      "A person is asked first (hub rule 3): Others see it.",
      "hub rule 1 deny does not apply: match",
      "hub rule 2 allow does not apply: callers",
      "hub rule 3 ask applies: Others see it.",
      "hub rule 4 allow comes after the one that applies",
      "hub rule 5 deny comes after the one that applies",
      'source "tools" rule 1 ask applies',
    ])
  })

  test("tests the input as the handler gets it, for a caller", async () => {
    const cwd = configured()
    const decide = async (...argv: string[]): Promise<unknown> => {
      const ran = await run(["approvals", "test", ...argv, "--json"], { cwd })
      const { decision } = JSON.parse(ran.stdout) as { decision: object }
      return decision
    }
    const agent = ["--caller", "agent", "--via", "cli"]
    expect(await decide("w.drop", ...agent)).toEqual({ decide: "allow", rule: "hub rule 2" })
    expect(await decide("w.drop", "owner=me", ...agent)).toMatchObject({ rule: "hub rule 4" })
    expect(await decide("w.purge", ...agent)).toMatchObject({ decide: "deny", rule: "hub rule 1" })
    expect(await decide("w.drop")).toMatchObject({ decide: "ask", rule: 'source "tools" rule 1' })
  })

  test("refuses ways in and inputs that do not exist", async () => {
    const cwd = configured()
    expect(await run(["approvals", "test", "w.drop", "--via", "mail"], { cwd })).toMatchObject({
      code: 2,
    })
    expect(await run(["approvals", "test", "w.drop", "owner:=1"], { cwd })).toMatchObject({
      code: 2,
    })
    expect(await run(["approvals", "list"], { cwd })).toMatchObject({ code: 2 })
  })
})

describe("operations approvals of a running hub", () => {
  const serve = async (approvalsFile?: string) => {
    const cwd = configured([{ decide: "ask" }])
    const config = await loadConfig(join(cwd, "operations.config.json"))
    const hub = createHub(config, { logger: silentLogger, approvalsFile })
    onTestFinished(() => hub.close())
    await hub.ready()
    const served = await serveHub(hub, { port: 0 })
    onTestFinished(() => served.close())
    const call = (owner: string, id = "agent"): Promise<string> =>
      hub.registry
        .execute("w.drop", { owner }, { identity: { id, scopes: ["w"] } })
        .then(({ data }) => String(data))
        .catch(({ code }: { readonly code: string }) => code)
    const approvals = (...argv: string[]) =>
      run(["approvals", ...argv, "--hub", served.url], { cwd })
    const waiting = async () => {
      const { stdout } = await approvals("list", "--json")
      return JSON.parse(stdout) as { readonly id: string }[]
    }
    return { hub, call, approvals, waiting }
  }

  test("list, approve and decline the calls that wait", async () => {
    const { call, approvals, waiting } = await serve()
    expect(await call("acme")).toBe("APPROVAL_REQUIRED")
    expect((await approvals("list")).stdout).toMatch(
      /^[\da-f-]{36} +w\.drop +agent by call, .* left +\{"owner":"acme"\}/,
    )
    const [first] = await waiting()
    expect(await approvals("approve", first!.id.slice(0, 8))).toMatchObject({ code: 0 })
    expect(await call("acme")).toBe("done")
    expect(await call("acme")).toBe("APPROVAL_REQUIRED")
    const [second] = await waiting()
    expect(await approvals("decline", second!.id, "--session")).toMatchObject({ code: 2 })
    expect(await approvals("decline", second!.id)).toMatchObject({ code: 0 })
    expect(await call("acme")).toBe("DECLINED")
    expect(await approvals("approve", second!.id)).toMatchObject({ code: 1 })
  })

  test("approve for the session, which holds for other inputs of this caller", async () => {
    const { call, approvals, waiting } = await serve()
    await call("acme")
    const [first] = await waiting()
    expect(await approvals("approve", first!.id, "--session")).toMatchObject({ code: 0 })
    expect([await call("me"), await call("you")]).toEqual(["done", "done"])
    expect(await call("me", "other")).toBe("APPROVAL_REQUIRED")
  })

  test("approve always, in the file of the user, until its line is removed", async () => {
    const file = join(folder({}), "approvals.json")
    const { call, approvals, waiting, hub } = await serve(file)
    await call("acme")
    const [first] = await waiting()
    expect(await approvals("approve", first!.id, "--always")).toMatchObject({ code: 0 })
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual([
      { operation: "w.drop", caller: "agent", at: expect.any(Number) },
    ])
    const again = await serve(file)
    expect(await again.call("me")).toBe("done")
    expect(await call("me", "other")).toBe("APPROVAL_REQUIRED")
    writeFileSync(file, "[]")
    expect(await call("me")).toBe("APPROVAL_REQUIRED")
    writeFileSync(file, "{")
    expect(await call("me")).toBe("APPROVAL_REQUIRED")
    const [other] = await waiting()
    expect((await approvals("approve", other!.id, "--always")).code).toBe(1)
    expect(readFileSync(file, "utf8")).toBe("{")
    expect(hub.registry.approvals?.waiting.map(({ id }) => id)).toContain(other!.id)
  })

  test("refuse always without a file, and do not approve then", async () => {
    const { call, approvals, waiting } = await serve()
    await call("acme")
    const [first] = await waiting()
    const { code, stderr } = await approvals("approve", first!.id, "--always")
    expect(code).toBe(2)
    expect(stderr).toContain('"always" needs a file')
    expect(await call("acme")).toBe("APPROVAL_REQUIRED")
  })

  test("explain a decision in the hub", async () => {
    const { approvals } = await serve()
    const { stdout } = await approvals("test", "w.purge", "--caller", "agent", "--json")
    expect(JSON.parse(stdout)).toMatchObject({
      operationId: "w.purge",
      decision: { decide: "ask", rule: "hub rule 1" },
      rules: [
        { rule: "hub rule 1", state: "applies" },
        { rule: 'source "tools" rule 1', state: "differs", field: "match" },
      ],
    })
  })
})

describe("operations doctor", () => {
  test("reports rules without an effect, and mutations that run without being asked about", async () => {
    const cwd = configured([
      { match: "x.*", decide: "deny" },
      { match: "w.drop", decide: "allow", callers: ["ada", "bob"] },
      { match: "w.drop", decide: "deny", callers: "ada", via: "mcp" },
      { match: "w.*", decide: "allow" },
      { type: "mutation", decide: "ask" },
    ])
    const { code, stdout } = await run(["doctor"], { cwd })
    expect(code).toBe(0)
    expect(stdout.split("\n").filter((line) => line.includes("approvals,"))).toEqual([
      "! approvals, hub rule 1: no operation matches it.",
      "! approvals, hub rule 3: it never counts, because hub rule 2 applies first.",
      "! approvals, hub rule 5: it never counts, because hub rule 4 applies first.",
      "! approvals, hub rule 4: 1 mutation runs without being asked about: w.purge.",
    ])
  })
})
