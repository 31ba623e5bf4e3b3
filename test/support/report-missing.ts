/** Reports the programs that system tests miss, once, before they run. */
import { CHROMIUM, CURL, findProgram, missing, NATS, REDIS, TMUX } from "./programs.ts"

export default function reportMissing(): void {
  const reports = [NATS, REDIS, CHROMIUM, TMUX, CURL]
    .filter((program) => findProgram(program) === undefined)
    .map((program) => `${missing(program)} Without it, its tests are skipped.\n`)
  process.stderr.write(reports.join(""))
}
