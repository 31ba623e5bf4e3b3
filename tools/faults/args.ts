import { parseArgs } from "node:util"
import { ENGINES } from "./engines.ts"
import type { Engine } from "./engines.ts"
import type { Scenario, Size } from "./scenario.ts"

/** The options of a run. */
export interface Options {
  readonly engines: readonly Engine[]
  readonly scenarios: readonly Scenario[]
  readonly size: Size
  readonly seed: number
  readonly json: boolean
}

export const USAGE = `Usage: npm run faults -- [options]

Starts brokers, workers and callers, injects the faults of the matrix, and compares what ran with what
was reported to callers. Exits with 1 if any check fails.

  --engine <nats|redis|all>   brokers to run on; all
  --only <F1,F13,...>         scenarios to run; all
  --quick                     smaller loads
  --seed <number>             which worker is hit, and how the network varies
  --json                      one JSON value instead of a table
  --list                      the scenarios, and nothing else
  --help
`

/** Reads the arguments. Throws an `Error` that names the invalid one and the allowed values. */
export function readArgs(
  args: readonly string[],
  scenarios: readonly Scenario[],
): Options | "help" | "list" {
  const { values } = parseArgs({
    args: [...args],
    options: {
      engine: { type: "string", default: "all" },
      only: { type: "string" },
      quick: { type: "boolean", default: false },
      seed: { type: "string", default: "1" },
      json: { type: "boolean", default: false },
      list: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  })
  if (values.help) return "help"
  if (values.list) return "list"
  const seed = Number(values.seed)
  if (!Number.isSafeInteger(seed))
    throw new Error(`--seed must be a whole number, got "${values.seed}".`)
  return {
    engines: enginesOf(values.engine),
    scenarios: chosen(values.only, scenarios),
    size: values.quick ? "quick" : "full",
    seed,
    json: values.json,
  }
}

function enginesOf(name: string): readonly Engine[] {
  if (name === "all") return ENGINES
  const found = ENGINES.filter((engine) => engine === name)
  if (found.length === 0) throw new Error(`--engine must be nats, redis or all, got "${name}".`)
  return found
}

function chosen(only: string | undefined, scenarios: readonly Scenario[]): readonly Scenario[] {
  if (only === undefined) return scenarios
  const wanted = only.split(",").map((id) => id.trim().toUpperCase())
  const unknown = wanted.filter((id) => scenarios.every((scenario) => scenario.id !== id))
  if (unknown.length > 0) {
    const all = scenarios.map(({ id }) => id).join(", ")
    throw new Error(`--only: there is no ${unknown.join(", ")}. There are ${all}.`)
  }
  return scenarios.filter(({ id }) => wanted.includes(id))
}
