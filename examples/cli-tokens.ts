import { runLines } from "./cli/run-lines.ts"

await runLines("tokens.sh")
