// The fault lab: `npm run faults`. Its options: `npm run faults -- --help`.
import { readArgs, USAGE } from "./args.ts"
import type { Options } from "./args.ts"
import { provideBroker } from "./brokers.ts"
import { closeLabs } from "./lab.ts"
import { runScenario } from "./runner.ts"
import type { Verdict } from "./scenario.ts"
import { SCENARIOS } from "./scenarios/index.ts"
import { heading, row, summary } from "./table.ts"

/** A signal asked it to end. */
let isEnding = false

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

async function runAll({ engines, scenarios, size, seed, json }: Options): Promise<Verdict[]> {
  const verdicts: Verdict[] = []
  if (!json) print(heading())
  for (const scenario of scenarios) {
    for (const engine of engines) {
      if (isEnding) return verdicts
      const verdict = await runScenario(scenario, { engine, size, seed })
      verdicts.push(verdict)
      if (!json) print(row(verdict))
    }
  }
  return verdicts
}

async function main(): Promise<number> {
  const options = readArgs(process.argv.slice(2), SCENARIOS)
  if (options === "help") {
    print(USAGE)
    return 0
  }
  if (options === "list") {
    for (const { id, title } of SCENARIOS) print(`${id.padEnd(4)} ${title}`)
    return 0
  }
  for (const engine of options.engines) {
    if (!(await provideBroker(engine))) return 2
  }
  const verdicts = await runAll(options)
  if (isEnding) return 130
  print(options.json ? JSON.stringify(verdicts, null, 2) : summary(verdicts))
  return verdicts.every(({ passed }) => passed) ? 0 : 1
}

// Child processes always end with this process; their folders are removed if there is time.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => {
    isEnding = true
    void closeLabs().finally(() => process.exit(130))
  })
}

try {
  process.exit(await main())
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(2)
}
