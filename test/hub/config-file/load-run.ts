/** Run as a program: writes files and loads configurations, as it is told, and prints what came of each. */
import { writeFile } from "node:fs/promises"
import { inspect } from "node:util"
import { loadConfig } from "../../../src/hub/config-file/load.ts"

export type Step =
  | { readonly write: string; readonly text: string }
  | { readonly load: string; readonly fresh?: boolean }

export interface Outcome {
  readonly names?: readonly string[]
  readonly message?: string
  /** All that an error shows to whoever prints it. */
  readonly shown?: string
}

const steps = JSON.parse(process.argv[2] ?? "[]") as readonly Step[]
const outcomes: Outcome[] = []
for (const step of steps) {
  if ("write" in step) await writeFile(step.write, step.text)
  else outcomes.push(await outcomeOf(step.load, step.fresh === true))
}
process.stdout.write(JSON.stringify(outcomes))

async function outcomeOf(path: string, fresh: boolean): Promise<Outcome> {
  try {
    const { sources } = await loadConfig(path, { fresh })
    return { names: sources.map(({ name }) => name) }
  } catch (thrown) {
    const { message } = thrown as Error
    return { message, shown: `${inspect(thrown)}${JSON.stringify(thrown)}` }
  }
}
