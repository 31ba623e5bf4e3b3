import { describe, expect, test } from "vitest"
import { createApprovals, createRegistry } from "../../src/index.ts"
import type { ApprovalCall, ApprovalList, ApprovalRule } from "../../src/index.ts"
import { mutationNamed } from "./support.ts"

const mutation: ApprovalCall = { operationId: "files.remove", spec: { type: "mutation" } }
const query: ApprovalCall = { operationId: "files.read", spec: { type: "query" } }
const ada = { id: "ada", scopes: ["a", "b"] }

const decide = (rules: readonly ApprovalRule[], call: Partial<ApprovalCall> = {}): unknown =>
  (createApprovals(rules).decide({ ...mutation, ...call }) as { decide: string }).decide

describe("A rule of approvals", () => {
  const owner = { input: { properties: { owner: { const: "acme" } } } }

  test.each<[string, ApprovalRule, Partial<ApprovalCall>, boolean]>([
    ["match: the id", { match: "files.remove", decide: "allow" }, {}, true],
    ["match: a pattern", { match: ["x.*", "*.rem*"], decide: "allow" }, {}, true],
    ["match: a dot is a dot", { match: "filesxremove", decide: "allow" }, {}, false],
    ["match: case counts", { match: "Files.*", decide: "allow" }, {}, false],
    [
      "match: a look-alike is another id",
      { match: "files.remove", decide: "allow" },
      { operationId: "fіles.remove" },
      false,
    ],
    ["type", { type: ["query", "mutation"], decide: "allow" }, {}, true],
    ["type: another", { type: "query", decide: "allow" }, {}, false],
    ["callers", { callers: "ada", decide: "allow" }, { identity: ada }, true],
    ["callers: anonymous", { callers: "ada", decide: "allow" }, {}, false],
    ["scopes: all", { scopes: ["a", "b"], decide: "allow" }, { identity: ada }, true],
    ["scopes: one is missing", { scopes: ["a", "c"], decide: "allow" }, { identity: ada }, false],
    ["via", { via: ["mcp", "http"], decide: "allow" }, { via: "mcp" }, true],
    [
      "via: console",
      { via: "console", decide: "allow" },
      { via: "http", program: "console" },
      true,
    ],
    [
      "via: how the console calls",
      { via: "http", decide: "allow" },
      { via: "http", program: "console" },
      true,
    ],
    ["via: another client", { via: "console", decide: "allow" }, { via: "http" }, false],
    ["via: code of the application", { via: "mcp", decide: "allow" }, {}, false],
    ["input", { ...owner, decide: "allow" }, { input: { owner: "acme", n: 1 } }, true],
    ["input: missing property", { ...owner, decide: "allow" }, { input: {} }, false],
    ["input: null", { ...owner, decide: "allow" }, { input: { owner: null } }, false],
    ["input: no object", { ...owner, decide: "allow" }, { input: "acme" }, false],
    [
      "input: nested property is missing",
      {
        input: { properties: { repo: { properties: { owner: { const: "acme" } } } } },
        decide: "allow",
      },
      { input: { repo: {} } },
      false,
    ],
    [
      "input: one of two",
      {
        input: {
          anyOf: [{ properties: { a: { const: 1 } } }, { properties: { b: { const: 1 } } }],
        },
        decide: "allow",
      },
      { input: { b: 2 } },
      false,
    ],
    ["unless", { decide: "allow", unless: { callers: "ada" } }, { identity: ada }, false],
    ["unless: another", { decide: "allow", unless: { callers: "bob" } }, { identity: ada }, true],
  ])("applies by %s", (_name, rule, call, applies) => {
    expect(decide([rule, { decide: "deny" }], call)).toBe(applies ? "allow" : "deny")
  })

  test("takes annotations that are only claims for the worst case", () => {
    const harmless = { readOnly: true, destructive: false, idempotent: true, openWorld: false }
    for (const rule of Object.entries(harmless).map(([name, value]) => ({ [name]: value }))) {
      const rules = [{ ...rule, decide: "allow" }, { decide: "deny" }] as ApprovalRule[]
      const spec = { type: "mutation", annotations: harmless } as const
      expect(decide(rules, { spec })).toBe("allow")
      expect(decide(rules, { spec, hasClaims: true })).toBe("deny")
    }
  })

  test("cannot have an input schema that accepts everything", () => {
    expect(() => createApprovals([{ decide: "allow", input: { owner: "acme" } }])).toThrow(
      /approvals rule 1: "input" accepts every input/,
    )
  })
})

describe("Lists of approvals", () => {
  const at = (...lists: ApprovalList[]) => createApprovals(...lists).decide(mutation)

  test("decide by their first rule that applies", () => {
    expect(at([{ match: "files.*", decide: "ask" }, { decide: "deny" }])).toMatchObject({
      decide: "ask",
      rule: "approvals rule 1",
    })
  })

  test.each([
    ["allow", "ask", "ask"],
    ["deny", "allow", "deny"],
    ["ask", "deny", "deny"],
  ] as const)("decide as strictly as the strictest: %s and %s", (left, right, strictest) => {
    expect(at([{ decide: left }], [{ decide: right }])).toMatchObject({ decide: strictest })
  })

  test("ask about mutations that no rule applies to, and let others run", () => {
    expect(at([])).toEqual({ decide: "ask" })
    expect(createApprovals([]).decide(query)).toEqual({ decide: "allow" })
  })

  test("may contain functions, also asynchronous ones, which leave others to the rules", async () => {
    const list: ApprovalList = [
      async ({ operationId }) => (operationId.startsWith("x.") ? "deny" : undefined),
      { decide: "allow" },
    ]
    expect(await at(list)).toMatchObject({ decide: "allow", rule: "approvals rule 2" })
    const other = createApprovals(list).decide({ ...mutation, operationId: "x.y" })
    expect(await other).toMatchObject({ decide: "deny" })
  })

  test("fail calls whose function throws or returns something else", async () => {
    const handler = (): string => "ran"
    const run = (list: ApprovalList): Promise<unknown> =>
      createRegistry([mutationNamed("a.b", handler)], { approvals: list }).execute("a.b", {})
    await expect(run(() => "yes" as never)).rejects.toMatchObject({ mayHaveExecuted: false })
    await expect(
      run(() => {
        throw new Error("down")
      }),
    ).rejects.toMatchObject({ mayHaveExecuted: false })
  })

  test.each([
    [{ decide: "allow", matches: "x" }, /matches/],
    [{ decide: "maybe" }, /decide/],
    [{ match: "x" }, /decide/],
    [{ decide: "deny", via: "email" }, /via/],
    [{ decide: "deny", unless: { reason: "x" } }, /unless/],
  ])("refuse what they would ignore: %o", (rule, message) => {
    expect(() => createApprovals([rule as never])).toThrow(message)
    expect(() => createRegistry({}, { approvals: [rule as never] })).toThrow(message)
  })
})
