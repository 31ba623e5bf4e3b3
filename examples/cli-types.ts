import { runLines } from "./cli/run-lines.ts"

await runLines("types.sh")
