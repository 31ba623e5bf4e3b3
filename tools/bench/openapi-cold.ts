/** The cost in a fresh process: most imports happen once, in a process that has just started. */
import { createTypeApplication } from "../scripts/lib/type-cost.ts"
import { FromOpenAPI } from "../../src/from-openapi.ts"
import { generateTypes } from "../../src/typegen/generate.ts"
import { inChild, inFreshProcess, readResult } from "./children.ts"
import type { DocumentName } from "./documents.ts"
import type { Goal } from "./goals.ts"
import { spreadOf } from "./measure.ts"

/** Nanoseconds of CPU time of the whole process, and milliseconds until the result was there. */
interface Cost {
  readonly cpu: number
  readonly wall: number
}

/** What a row takes, as a multiple of the first `JSON.parse` of another fresh process: medians. */
export interface ColdRatio {
  /** What a user waits for. */
  readonly wall: number
  /** With what the engine compiles and collects on other threads meanwhile: the targets are for this. */
  readonly cpu: number
}

/** A document in fresh processes. */
export interface ColdDocument {
  readonly document: DocumentName
  readonly list: ColdRatio
  readonly schemas: ColdRatio
  /** The operation whose schemas lead to the most definitions. */
  readonly costliest: string
  readonly firstCallMs: number
}

/** The results in fresh processes. */
export interface ColdResults {
  readonly cold: readonly ColdDocument[]
  /** Seconds that the compiler takes for the types of a document with circular schemas. */
  readonly circularSeconds: number
}

const CHECK_ONLY = { noEmit: true, declaration: false, emitDeclarationOnly: false }

const PROCESSES = 5
const CIRCULAR = 250

const MAX_LIST = 1.5
const MAX_SCHEMAS = 4
const MAX_FIRST_CALL_MS = 150
const MAX_CIRCULAR_SECONDS = 3

/** Measures one document, one process after the other and every row once in every round. */
export function measureCold(document: DocumentName, file: string): ColdDocument {
  const ask = <TValue>(...args: string[]): TValue =>
    readResult(inChild<TValue>([...args, file]), `${args.join(" ")} of ${document}`)
  const { index, name } = ask<{ index: number; name: string }>("costliest")
  const costs = { parse: [] as Cost[], list: [] as Cost[], schemas: [] as Cost[] }
  const calls: number[] = []
  for (let round = 0; round < PROCESSES; round++) {
    for (const row of ["parse", "list", "schemas"] as const) {
      costs[row].push(readResult(inFreshProcess([row, file]), `${row} of ${document}`))
    }
    calls.push(ask<number>("call", String(index)))
  }
  const median = (all: readonly number[]): number => spreadOf(all).median
  const ratio = (row: readonly Cost[], what: keyof Cost): number =>
    median(row.map((cost) => cost[what])) / median(costs.parse.map((cost) => cost[what]))
  const ratios = (row: readonly Cost[]): ColdRatio => ({
    wall: ratio(row, "wall"),
    cpu: ratio(row, "cpu"),
  })
  return {
    document,
    list: ratios(costs.list),
    schemas: ratios(costs.schemas),
    costliest: name,
    firstCallMs: median(calls) / 1e6,
  }
}

/** Compiles the types of a document whose schemas refer to each other in circles; the best of three runs. */
export async function measureCircular(): Promise<number> {
  const text = generateTypes(FromOpenAPI(circularDocument(), { namespace: "api" }))
  const program = `import type { Identity } from "@alkdev/operations"\n${text}\nexport type Caller = Identity\n`
  await using application = await createTypeApplication()
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < 3; round++) {
    const { errors, seconds } = await application.compile("typescript", program, CHECK_ONLY)
    if (errors.length > 0) throw new Error(errors.join("\n"))
    best = Math.min(best, seconds)
  }
  return best
}

/** Compares fresh processes with the goals of the library. */
export function coldGoals({ cold, circularSeconds }: ColdResults): Goal[] {
  const goal = (text: string, value: number, max: number, digits: number): Goal => ({
    goal: text,
    measured: value.toFixed(digits),
    isMet: value <= max,
  })
  const ratioGoal = (text: string, { wall, cpu }: ColdRatio, max: number): Goal => ({
    goal: `${text}: at most ${max} × JSON.parse`,
    measured: `${cpu.toFixed(2)} (wall time ${wall.toFixed(2)})`,
    isMet: cpu <= max,
  })
  return [
    ...cold.flatMap(({ document, list, schemas, costliest, firstCallMs }) => [
      ratioGoal(`${document}, fresh, listed`, list, MAX_LIST),
      ratioGoal(`${document}, fresh, every schema`, schemas, MAX_SCHEMAS),
      goal(
        `${document}, first call of ${costliest}: at most ${MAX_FIRST_CALL_MS} ms`,
        firstCallMs,
        MAX_FIRST_CALL_MS,
        0,
      ),
    ]),
    goal(
      `types of ${CIRCULAR} circular schemas: compiled in at most ${MAX_CIRCULAR_SECONDS} s`,
      circularSeconds,
      MAX_CIRCULAR_SECONDS,
      2,
    ),
  ]
}

function circularDocument(): string {
  const at = (index: number): object => ({ $ref: `#/components/schemas/Node${index % CIRCULAR}` })
  const schemas: Record<string, object> = {}
  const paths: Record<string, object> = {}
  for (let index = 0; index < CIRCULAR; index++) {
    schemas[`Node${index}`] = {
      type: "object",
      required: ["id", "next"],
      properties: {
        id: { type: "string" },
        next: at(index + 1),
        previous: at(index + CIRCULAR - 1),
        children: { type: "array", items: at(index * 7 + 3) },
        owner: { anyOf: [at(index * 13 + 5), { type: "string" }] },
        links: { type: "object", additionalProperties: at(index * 3 + 1) },
      },
    }
    const content = { "application/json": { schema: at(index) } }
    paths[`/node${index}`] = { get: { responses: { 200: { description: "", content } } } }
  }
  const info = { title: "Circles", version: "1.0.0" }
  return JSON.stringify({ openapi: "3.0.3", info, paths, components: { schemas } })
}
