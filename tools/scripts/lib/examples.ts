import { execFile } from "node:child_process"
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { basename, extname, resolve } from "node:path"
import { promisify } from "node:util"
import { bundleExamples } from "./bundle-examples.ts"
import type { BundledExamples } from "./bundle-examples.ts"

export interface RunExamplesOptions {
  /** The folder with `<name>.ts`, `<name>.out` and a tsconfig.json that maps the package to its sources. */
  readonly folder: string
  /** Write what the programs print to their `.out` files instead of comparing. */
  readonly update?: boolean
}

export interface ExampleResult {
  readonly name: string
  readonly outcome: "same" | "written" | "failed"
  /** What went wrong, in one or more lines. */
  readonly problem?: string
}

/** Examples that run at the same time: many wait for processes and sockets. */
const AT_ONCE = 2

/** Runs every example and compares what it prints with the file beside it. Results come in the order of names. */
export async function* runExamples(options: RunExamplesOptions): AsyncGenerator<ExampleResult> {
  const names = namesIn(options.folder, ".ts")
  await using bundled = await bundleExamples(options.folder, names)
  const waiting = [...names]
  const results = new Map<string, Promise<ExampleResult>>()
  const startNext = (): void => {
    const name = waiting.shift()
    if (name !== undefined) results.set(name, runExample(name, bundled, options).finally(startNext))
  }
  for (let at = 0; at < AT_ONCE; at++) startNext()
  // Each starts the next one before its result is reported.
  for (const name of names) yield await (results.get(name) as Promise<ExampleResult>)
  for (const name of namesIn(options.folder, ".out")) {
    if (!names.includes(name)) yield failed(name, `${name}.out belongs to no ${name}.ts.`)
  }
}

/** The first line in which two texts differ, for a person to read; `undefined` when they are equal. */
export function firstDifference(expected: string, actual: string): string | undefined {
  if (expected === actual) return undefined
  const before = expected.split("\n")
  const after = actual.split("\n")
  const index = before.findIndex((line, at) => line !== after[at])
  const at = index === -1 ? before.length : index
  const show = (line: string | undefined): string =>
    line === undefined ? "(the text ends here)" : JSON.stringify(line)
  return `line ${at + 1}: expected ${show(before[at])}, got ${show(after[at])}`
}

async function runExample(
  name: string,
  bundled: BundledExamples,
  options: RunExamplesOptions,
): Promise<ExampleResult> {
  const outPath = resolve(options.folder, `${name}.out`)
  let printed: string
  try {
    printed = await print(bundled.fileOf(name), options.folder, bundled.tsconfig)
  } catch (error) {
    return failed(name, error instanceof Error ? error.message : String(error))
  }

  const expected = existsSync(outPath) ? readFileSync(outPath, "utf8") : undefined
  if (expected === printed) return { name, outcome: "same" }
  if (options.update) {
    writeFileSync(outPath, printed)
    return { name, outcome: "written" }
  }
  if (expected === undefined) return failed(name, `${name}.out is missing; write it with --update.`)
  return failed(name, `${name}.out differs, ${firstDifference(expected, printed)}`)
}

/** What a program prints to stdout. Throws with its stderr when it fails or takes too long. */
async function print(file: string, folder: string, tsconfig: string): Promise<string> {
  // Examples with their own folder may start its programs, which are TypeScript.
  const startsPrograms = existsSync(resolve(folder, basename(file, extname(file))))
  const args = startsPrograms ? ["--import", import.meta.resolve("tsx"), file] : [file]
  const { FORCE_COLOR: _, ...env } = process.env
  const running = promisify(execFile)(process.execPath, args, {
    cwd: folder,
    env: { ...env, NO_COLOR: "1", TZ: "UTC", TSX_TSCONFIG_PATH: tsconfig },
    // Long enough for an example that starts many processes on a busy machine; one that hangs still fails.
    timeout: 240_000,
  })
  running.child.stdin?.end()
  return (await running).stdout
}

function namesIn(folder: string, extension: string): string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(extension) && !file.endsWith(".d.ts"))
    .map((file) => basename(file, extension))
    .toSorted()
}

function failed(name: string, problem: string): ExampleResult {
  return { name, outcome: "failed", problem }
}
