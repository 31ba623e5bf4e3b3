import { beforeAll, describe, expect, test } from "vitest"
import { FromOpenAPI } from "../../src/from-openapi.ts"
import type { OperationSpec } from "../../src/index.ts"
import { generateTypes } from "../../src/typegen/generate.ts"
import { corpusText, hasCorpus } from "../sources/openapi/corpus.ts"
import { exampleFiles, exampleText } from "../sources/openapi/oas-examples.ts"
import { faultsOf, faultsWithLibrary } from "./compile.ts"
import { typesOf } from "./specs.ts"

function imported(text: string, namespace: string): OperationSpec[] {
  return FromOpenAPI(text, { namespace, baseUrl: "https://api.test" })
}

test("every example document compiles", { timeout: 240_000 }, async () => {
  const files = exampleFiles("json").map((file, at): [string, string] => [
    `example${at}.d.ts`,
    typesOf(importedOrNone(exampleText(file), `api${at}`)),
  ])
  expect(files.length).toBeGreaterThan(40)
  expect(await faultsOf(Object.fromEntries(files))).toEqual([])
})

/** Some examples are there to be refused. */
function importedOrNone(text: string, namespace: string): OperationSpec[] {
  try {
    return imported(text, namespace)
  } catch {
    return []
  }
}

// All the others: test/sources/openapi/corpus.system.test.ts, which imports them.
describe.runIf(hasCorpus)("real documents", () => {
  let github: readonly OperationSpec[] = []
  let written = ""

  beforeAll(() => {
    github = imported(corpusText("github.json.gz"), "github")
    written = generateTypes(github)
  })

  test("GitHub's types everything that the library calls", { timeout: 240_000 }, async () => {
    expect(github.length).toBeGreaterThan(1100)
    expect(await faultsWithLibrary({ "operations.d.ts": written, "use.ts": GITHUB })).toEqual([])
  })

  test("GitHub's are the same when they come from a hub as JSON, in any order", () => {
    const copies = JSON.parse(JSON.stringify(github)) as OperationSpec[]
    expect(generateTypes(copies.toReversed()) === written).toBe(true)
  })
})

const GITHUB = `
import { buildEnv, createClient, OperationRegistry } from "@alkdev/operations"
import type { OperationContext } from "@alkdev/operations"
import type { Github, Operations } from "./operations.d.ts"

const where = { owner: "octocat", repo: "hello" }
const registry = new OperationRegistry()
const { data: issue } = await registry.execute("github.issues_create", {
  ...where,
  body: { title: "It broke", labels: ["bug", { name: "urgent" }], assignee: undefined },
})
export const number: number = issue.number
export const named: Github.Issue = issue
export const reason: "completed" | "reopened" | "not_planned" | "duplicate" | null | undefined = issue.state_reason
await registry.execute("github.meta_root")

// @ts-expect-error the owner is missing
await registry.execute("github.issues_create", { repo: "hello", body: { title: "x" } })
// @ts-expect-error labels are no numbers
await registry.execute("github.issues_create", { ...where, body: { title: "x", labels: [1] } })
// @ts-expect-error a key is misspelt
await registry.execute("github.issues_create", { ...where, body: { title: "x", lables: ["bug"] } })
// @ts-expect-error no such state
await registry.execute("github.issues_list-for-repo", { ...where, state: "opened" })
// @ts-expect-error an input is needed
await registry.execute("github.issues_create")
// @ts-expect-error an issue has no such property
void issue.nonsense
// @ts-expect-error not a subscription
registry.subscribe("github.issues_create", { ...where, body: { title: "x" } })

declare const link: Parameters<typeof createClient>[0]
const client = createClient(link)
export const created: number = (await client.github.issues_create({ ...where, body: { title: "x" } })).data.number
// @ts-expect-error the title is missing
await client.github.issues_create({ ...where, body: {} })

const apart = new OperationRegistry<Operations>()
const env = buildEnv({ registry: apart })
export const listed: Github.Issue[] = (await env.github["issues_list-for-repo"]({ ...where, state: "open" })).data
const other = createClient<typeof apart>(link)
// @ts-expect-error the title is missing
await other.call("github.issues_create", { ...where, body: {} })

export async function handler(_: unknown, context: OperationContext): Promise<string> {
  return (await context.call("github.users_get-by-username", { username: "octocat" })).data.login
}
`
