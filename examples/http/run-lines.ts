import { execFile } from "node:child_process"
import { readFile } from "node:fs/promises"
import { promisify } from "node:util"

/** Runs the lines of a shell script one by one, and prints each with its output. */
export async function runLines(file: string): Promise<void> {
  const text = await readFile(new URL(`../${file}`, import.meta.url), "utf8")
  for (const line of text.split("\n").filter((one) => one !== "" && !one.startsWith("#"))) {
    const { stdout } = await promisify(execFile)("sh", ["-c", line])
    console.log(`$ ${line}\n${stdout.trimEnd()}`)
  }
}
