import { readFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { restock } from "../../demo/operations/desk.ts"
import { prices } from "../../demo/operations/market.ts"
import { convert, split } from "../../demo/operations/money.ts"
import { createMCPClient } from "../../src/from-mcp.ts"
import { FromOpenAPI } from "../../src/from-openapi.ts"
import { OperationRegistry } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import { corpusText, hasCorpus } from "../sources/openapi/corpus.ts"
import { program } from "../sources/mcp/support/program.ts"
import { root } from "../support/manifest.ts"
import { HELD_OUT, TUNING } from "./questions.ts"
import type { Question } from "./questions.ts"

/** Documents that the questions are about, by namespace. */
const DOCUMENTS: Readonly<Record<string, string>> = {
  github: "github.json.gz",
  stripe: "stripe.yaml.gz",
  kubernetes: "kubernetes-v2.json.gz",
  slack: "slack.json.gz",
  openai: "openai.yaml.gz",
  docker: "docker-engine.yaml.gz",
  notion: "notion.json",
  netlify: "netlify.yml",
  box: "box.json.gz",
  figma: "figma.yaml.gz",
  petstore: "petstore-3.0.yaml",
  museum: "museum.yaml",
  qdrant: "qdrant.json.gz",
}

const require = createRequire(import.meta.url)
const published = (name: string): string =>
  join(dirname(require.resolve(`@modelcontextprotocol/${name}/package.json`)), "dist/index.js")

const SERVERS: Readonly<Record<string, readonly string[]>> = {
  everything: [published("server-everything"), "stdio"],
  files: [published("server-filesystem"), root],
  memory: [published("server-memory")],
  notes: [program(join(root, "demo/notes-server.ts"))],
}

const registry = new OperationRegistry({ logger: silentLogger })
const close: (() => Promise<void>)[] = [async () => await registry.close()]

beforeAll(async () => {
  registry.registerAll([restock, prices, convert, split])
  const shop = await readFile(join(root, "demo/shop-openapi.yaml"), "utf8")
  addDocument("shop", shop)
  await Promise.all(
    Object.entries(SERVERS).map(async ([name, args]) => {
      const config = { command: process.execPath, args, cwd: root, logger: silentLogger }
      const client = await createMCPClient(name, config)
      close.push(async () => await client.close())
      client.registerAll(registry)
    }),
  )
})

afterAll(async () => {
  for (const one of close) await one()
})

function addDocument(namespace: string, text: string): void {
  registry.registerAll(FromOpenAPI(text, { namespace, baseUrl: "https://api.test" }))
}

/** The questions that none of the first five answers answers. */
function unanswered(questions: readonly Question[]): string[] {
  return questions.flatMap(({ ask, within, expected }) => {
    const options = within === undefined ? { limit: 5 } : { limit: 5, namespace: within }
    const ids = registry.search(ask, options).map(({ id }) => id)
    return ids.some((id) => expected.includes(id)) ? [] : [`${ask} (${within ?? "anywhere"})`]
  })
}

/** The share of questions that one of the first five answers answers. */
function recall(questions: readonly Question[]): number {
  return 1 - unanswered(questions).length / questions.length
}

test("questions about the demo and three public MCP servers are answered", () => {
  const here = new Set(registry.list().map(({ namespace }) => namespace))
  const questions = [...TUNING, ...HELD_OUT].filter(({ expected }) =>
    expected.every((id) => here.has(id.slice(0, id.indexOf(".")))),
  )

  expect(questions.length).toBeGreaterThan(25)
  expect(unanswered(questions)).toEqual([])
})

test.each(["quantum chromodynamics", "zebra crossing", "remembered facsimile", "xyzzy plugh"])(
  "nothing is found where nothing fits: %s",
  (ask) => {
    expect(registry.search(ask)).toEqual([])
  },
)

describe.runIf(hasCorpus)("questions about real documents", () => {
  beforeAll(() => {
    for (const [namespace, file] of Object.entries(DOCUMENTS))
      addDocument(namespace, corpusText(file))
  }, 240_000)

  test("are answered by one of the first five, nine times in ten", { timeout: 240_000 }, () => {
    expect(recall(TUNING)).toBeGreaterThanOrEqual(0.9)
    expect(recall(HELD_OUT)).toBeGreaterThanOrEqual(0.9)
  })

  test.each([
    ["POST /repos/{owner}/{repo}/issues", "github.issues_create"],
    ["/repos/octocat/hello-world/pulls/7/merge", "github.pulls_check-if-merged"],
    ["PUT https://api.github.com/repos/a/b/pulls/7/merge", "github.pulls_merge"],
    ["/v1/refunds", "stripe.GetRefunds"],
    ["GET /api/v1/namespaces/{namespace}/pods", "kubernetes.listCoreV1NamespacedPod"],
  ])("a request is found the first time: %s", (query, id) => {
    expect(registry.search(query, { limit: 1 }).map((found) => found.id)).toEqual([id])
  })
})
