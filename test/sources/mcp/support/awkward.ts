import { resolve } from "node:path"
import { toFlags } from "../awkward/faults.ts"
import { program } from "./program.ts"

/** The command of an awkward server with these faults: `awkward({ crashAfter: 2, groups: "names" })`. */
export function awkward(faults: Readonly<Record<string, string | number | boolean>> = {}): {
  readonly command: string
  readonly args: string[]
} {
  const script = program(resolve(import.meta.dirname, "../awkward/stdio.ts"))
  return { command: process.execPath, args: [script, ...toFlags(faults)] }
}
