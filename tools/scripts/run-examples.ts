/** Runs examples/*.ts and compares what they print with the .out files; `--update` rewrites those. */
import { resolve } from "node:path"
import { runExamples } from "./lib/examples.ts"

const folder = resolve(import.meta.dirname, "../../examples")
const update = process.argv.includes("--update")

let count = 0
for await (const { name, outcome, problem } of runExamples({ folder, update })) {
  count += 1
  console.log(`examples/${name}: ${problem ?? outcome}`)
  if (outcome === "failed") process.exitCode = 1
}
console.log(`${count} examples`)
