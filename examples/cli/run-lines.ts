// Runs the lines of a script as a shell would, in this process: starting Node for each line would take longer.
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { main } from "../../src/cli/main.ts"

/** Names the configuration explicitly: one that is only found would have to be trusted first. */
const CONSENT = ["--config", "operations.config.json"]

/** Prints each line of a script in this folder, with its output. */
export async function runLines(name: string): Promise<void> {
  const script = readFileSync(new URL(name, import.meta.url), "utf8")
  for (const line of script.split("\n").filter((text) => text !== "")) {
    process.stdout.write(`$ ${line}\n`)
    const code = await run(wordsOf(line))
    if (code !== 0) process.stdout.write(`(exit ${code})\n`)
  }
}

async function run([, ...argv]: readonly string[]): Promise<number> {
  const named = argv.some((word) => word === "--openapi" || word === "--scan")
  const sink = {
    write: (text: string | Uint8Array) =>
      process.stdout.write(typeof text === "string" ? sameEverywhere(text) : text),
  }
  return await main(named ? argv : [...argv, ...CONSENT], {
    stdout: sink,
    stderr: sink,
    stdin: process.stdin,
    env: { LIBRARY_KEY: "key-of-ada-7531" },
    cwd: fileURLToPath(new URL(".", import.meta.url)),
    signal: new AbortController().signal,
    program: "operations",
  })
}

/** Without the consent and what differs between machines: the version of Node, and that a source is still being opened. */
function sameEverywhere(text: string): string {
  return text
    .replaceAll(` ${CONSENT.join(" ")}`, "")
    .replace(/^\S+: opening….*\n/, "")
    .replace(`Node ${process.versions.node}`, "Node 22.0.0")
}

/** Splits a line into words, with quoting as in bash. */
function wordsOf(line: string): string[] {
  const words = execFileSync("bash", ["-c", `printf '%s\\0' ${line}`], { encoding: "utf8" })
  return words.split("\0").slice(0, -1)
}
