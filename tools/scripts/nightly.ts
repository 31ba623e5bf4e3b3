/** Plays long what CI plays short: simulations, models, fuzzers and load. Takes some hours: `npm run nightly`. */
import { spawnSync } from "node:child_process"

const LONG = {
  LAW_HISTORIES: "50000",
  MODEL_STEPS: "1000000",
  NIGHTLY: "1",
  SIM_SEEDS: "20000",
  TREE_CALLS: "100000",
  TREE_HISTORIES: "500",
}

const RUNS: readonly (readonly string[])[] = [
  ["run", "test"],
  [
    "run",
    "test:all",
    "--",
    "simulation",
    "test/protocol/model",
    "test/policy",
    "test/call-trees",
    "test/bad-input",
    "test/schema/normalize-laws",
    "test/serve/http/openapi",
    "test/sources/openapi/parse",
    "test/sources/openapi/fuzz",
    "corpus",
    "load",
    "leaks",
  ],
  ["run", "fuzz", "--", "--minutes", "30"],
  ["run", "soak", "--", "--minutes", "30"],
  ["run", "faults"],
]

const failed = RUNS.filter((args) => {
  const { status } = spawnSync("npm", args, { env: { ...process.env, ...LONG }, stdio: "inherit" })
  return status !== 0
})
for (const args of failed) console.error(`FAILED npm ${args.join(" ")}`)
process.exitCode = failed.length === 0 ? 0 : 1
