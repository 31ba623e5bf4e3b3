// What callers try in order to run what a person has to approve.
import { describe, expect, onTestFinished, test, vi } from "vitest"
import {
  createApprovals,
  createRegistry,
  type ApprovalRule,
  type InputResponse,
  type OperationRegistry,
} from "../../src/index.ts"
import { serveHTTP } from "../../src/node.ts"
import { silentLogger } from "../../src/testing.ts"
import { mutationNamed } from "./support.ts"

const ada = { id: "ada", scopes: [] }

function setUp(rules: readonly ApprovalRule[]) {
  const ran = vi.fn((input: unknown) => input)
  const approvals = createApprovals(rules)
  const registry: OperationRegistry = createRegistry([mutationNamed("files.remove", ran)], {
    ...{ approvals, logger: silentLogger },
  })
  return { ran, approvals, registry }
}

async function serving(registry: OperationRegistry): Promise<string> {
  const served = await serveHTTP(registry, { port: 0, console: false, logger: silentLogger })
  onTestFinished(() => served.close())
  return `${served.url}/operations/files.remove`
}

describe("A rule about the input", () => {
  test.each([
    ["a property that is there twice", `{"owner":"acme","owner":"evil"}`],
    ["a property of the prototype", `{"__proto__":{"owner":"acme"}}`],
    ["a property in other letters", `{"Owner":"acme"}`],
    ["a property with an escape", String.raw`{"owner\u0000":"acme"}`],
    ["a value in other letters", `{"owner":"Acme"}`],
    ["a value that looks the same", `{"owner":"аcme"}`],
    ["a value in a list", `{"owner":["acme"]}`],
    ["a list", `[{"owner":"acme"}]`],
    ["null", `{"owner":null}`],
    ["nothing", `{}`],
  ])("is not met by %s", async (_name, body) => {
    const rule = { input: { properties: { owner: { const: "acme" } } } }
    const { ran, registry } = setUp([{ ...rule, decide: "allow" }, { decide: "deny" }])
    const response = await fetch(await serving(registry), {
      ...{ method: "POST", body, headers: { "content-type": "application/json" } },
    })
    expect([400, 403, 422]).toContain(response.status)
    expect(ran).not.toHaveBeenCalled()
  })

  test("sees the same of two properties with one name as the handler", async () => {
    const rule = { input: { properties: { owner: { const: "acme" } } } }
    const { ran, registry } = setUp([{ ...rule, decide: "allow" }, { decide: "deny" }])
    const body = `{"owner":"evil","owner":"acme"}`
    const headers = { "content-type": "application/json" }
    await fetch(await serving(registry), { method: "POST", body, headers })
    expect(ran.mock.calls.flat().filter((input) => JSON.stringify(input).includes("evil"))).toEqual(
      [],
    )
  })
})

describe("A client that says it is the console", () => {
  const call = async (rules: readonly ApprovalRule[]): Promise<number> => {
    const { registry } = setUp(rules)
    const headers = { "x-operations-client": "console" }
    return (await fetch(await serving(registry), { method: "POST", headers })).status
  }

  test("is still denied by rules for HTTP", async () => {
    expect(await call([{ via: "http", decide: "deny" }, { decide: "allow" }])).toBe(403)
    expect(await call([{ via: ["http"], decide: "ask" }, { decide: "allow" }])).toBe(428)
  })

  test("is allowed no more by exceptions for other ways", async () => {
    const unless = { via: ["websocket", "mcp", "cli"] } as const
    expect(await call([{ decide: "deny", unless }, { decide: "allow" }])).toBe(403)
    expect(await call([{ decide: "allow", unless: { via: "http" } }, { decide: "deny" }])).toBe(403)
  })
})

describe("An answer of a caller", () => {
  test("approves one call, whatever else it contains", async () => {
    const { ran, registry } = setUp([{ decide: "ask" }])
    const content = { approve: true, session: true, always: true, by: "grace" }
    const requestInput = vi.fn(
      async (): Promise<InputResponse> => ({ action: "accept", content }) as never,
    )
    await registry.execute("files.remove", { n: 1 }, { requestInput, identity: ada })
    for (const n of [1, 2]) {
      const again = registry.execute("files.remove", { n }, { identity: ada })
      await expect(again).rejects.toMatchObject({ code: "APPROVAL_REQUIRED" })
    }
    expect(ran).toHaveBeenCalledTimes(1)
  })

  test.each(["accepted", "ACCEPT", true, undefined, { action: "accept" }])(
    "is no approval if its action is %o",
    async (action) => {
      const { ran, registry } = setUp([{ decide: "ask" }])
      const requestInput = async (): Promise<InputResponse> => ({ action }) as never
      await expect(registry.execute("files.remove", {}, { requestInput })).rejects.toMatchObject({
        mayHaveExecuted: false,
      })
      expect(ran).not.toHaveBeenCalled()
    },
  )

  test("to a question of a handler that looks like one about a call approves nothing", async () => {
    const ran = vi.fn(() => "ran")
    const imitation = mutationNamed("a.ask", async (_input, { requestInput }) => {
      const schema = { type: "object", properties: {} }
      await requestInput({ purpose: "approval", message: "files.remove: run?", schema } as never)
    })
    const rules: ApprovalRule[] = [{ match: "a.ask", decide: "allow" }, { decide: "ask" }]
    const registry = createRegistry([imitation, mutationNamed("files.remove", ran)], {
      ...{ approvals: rules, logger: silentLogger },
    })
    const requestInput = async (): Promise<InputResponse> => ({ action: "accept" })
    await registry.execute("a.ask", {}, { requestInput, identity: ada }).catch(() => undefined)
    const call = registry.execute("files.remove", {}, { identity: ada })
    await expect(call).rejects.toMatchObject({ code: "APPROVAL_REQUIRED" })
    expect(ran).not.toHaveBeenCalled()
  })
})

describe("An approval for always", () => {
  const standing = {
    find: async (caller: string | undefined, operation: string) =>
      caller === "ada" ? { operation, caller, at: 0, by: "grace" } : undefined,
    add: async () => undefined,
  }

  test("answers what a rule asks, for its caller alone", async () => {
    const { ran, approvals, registry } = setUp([{ decide: "ask" }])
    approvals.setStanding(standing)
    await registry.execute("files.remove", {}, { identity: ada })
    for (const identity of [undefined, { id: "bob", scopes: [] }, { id: "Ada", scopes: [] }]) {
      const call = registry.execute("files.remove", {}, { identity })
      await expect(call).rejects.toMatchObject({ code: "APPROVAL_REQUIRED" })
    }
    expect(ran).toHaveBeenCalledTimes(1)
  })

  test("changes nothing for calls that a rule denies", async () => {
    const { ran, approvals, registry } = setUp([{ decide: "deny" }])
    approvals.setStanding(standing)
    const call = registry.execute("files.remove", {}, { identity: ada })
    await expect(call).rejects.toMatchObject({ code: "DENIED_BY_RULE" })
    expect(ran).not.toHaveBeenCalled()
  })
})
