import type { BenchDocument } from "./documents.ts"
import type { Goal } from "./goals.ts"
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

/** Shares of the questions whose operation is among the first results. */
export interface Recall {
  readonly name: string
  readonly half: string
  readonly questions: number
  /** Among the first 1, 5 and 10. */
  readonly at: readonly number[]
}

/** How many of the first results are counted. */
export const RANKS = [1, 5, 10] as const

export const OURS = "operations"
/** The half on which the search was not tuned. */
export const HELD_OUT = "held-out"

export const SELECTED = "search, select and limit"
const MAX_CONTEXT = 16_000
export const MAX_DESCRIPTION = 2000
const MIN_RECALL = [0.55, 0.8, 0.9]

/** What models receive, as plain text. */
export function agentTables({ tasks, descriptions, recall }: AgentResults): string[] {
  const number = (value: number): string => value.toLocaleString("en")
  const names = [...new Set(tasks.map(({ task }) => task))]
  const ways = [...new Set(tasks.map(({ way }) => way))]
  const taskRows = names.map((name) => [
    name,
    ...ways.map((way) => {
      const found = tasks.find((one) => one.task === name && one.way === way)
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
    `Tokens of five tasks over GitHub's document: context / read in all turns / turns\n\n${columns([["", ...ways], ...taskRows])}`,
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
