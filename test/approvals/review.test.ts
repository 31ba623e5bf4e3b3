import { describe, expect, test } from "vitest"
import { createRegistry, type ApprovalList } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import { mutationNamed } from "./support.ts"

const review = async (approvals: ApprovalList): Promise<string[]> => {
  const operations = ["files.read", "files.remove", "notes.add"].map((id) =>
    mutationNamed(id, () => 1, id === "files.read" ? { type: "query" } : {}),
  )
  const registry = createRegistry(operations, { approvals, logger: silentLogger })
  const found = await registry.reviewApprovals()
  return found.map((problem) => problem.replaceAll("approvals ", ""))
}
const schema = (owner: string) => ({ properties: { owner: { const: owner } } })

describe("A review of rules", () => {
  test.each<[string, ApprovalList, string[]]>([
    ["no rules", [], []],
    [
      "rules for no operation",
      [
        { match: "file.*", decide: "deny" },
        { type: "subscription", decide: "deny" },
      ],
      ["rule 1: no operation matches it.", "rule 2: no operation matches it."],
    ],
    [
      "rules after one for everything",
      [{ decide: "ask" }, { match: "notes.*", decide: "deny" }],
      ["rule 2: it never counts, because rule 1 applies first."],
    ],
    [
      "rules each part of which another one covers",
      [
        { match: "files.*", decide: "ask" },
        { match: "notes.*", decide: "ask" },
        { type: "mutation", callers: "ada", decide: "deny" },
      ],
      ["rule 3: it never counts, because rule 1 and rule 2 apply first."],
    ],
    [
      "the same condition twice",
      [
        { input: schema("acme"), scopes: ["a"], via: ["mcp", "http"], decide: "ask" },
        { input: schema("acme"), scopes: ["b", "a"], via: "mcp", decide: "deny" },
      ],
      ["rule 2: it never counts, because rule 1 applies first."],
    ],
    [
      "conditions that differ",
      [
        { callers: "ada", decide: "ask" },
        { callers: ["ada", "bob"], decide: "ask" },
        { scopes: ["a", "b"], decide: "ask" },
        { scopes: ["a"], decide: "ask" },
        { input: schema("acme"), decide: "ask" },
        { input: schema("other"), decide: "ask" },
        { via: "mcp", decide: "ask" },
        { decide: "ask" },
      ],
      [],
    ],
    [
      "exceptions",
      [
        { decide: "ask", unless: { callers: "ada" } },
        { match: "notes.*", decide: "deny" },
        { match: "notes.*", decide: "ask", unless: { match: "notes.a*" } },
      ],
      ["rule 3: no operation matches it."],
    ],
    ["functions, which may leave calls to others", [() => undefined, { decide: "ask" }], []],
    [
      "mutations that run unasked",
      [
        { match: "files.*", decide: "allow" },
        { callers: "ada", decide: "allow" },
      ],
      ["rule 1: 1 mutation runs without being asked about: files.remove."],
    ],
  ])("finds what is wrong in %s", async (_name, rules, problems) => {
    expect(await review(rules)).toEqual(problems)
  })

  test("finds nothing without rules", async () => {
    expect(await createRegistry([]).reviewApprovals()).toEqual([])
  })
})
