// Scripts are run in a process of their own: under vitest, imports are vite's affair.
import { execFile } from "node:child_process"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { promisify } from "node:util"
import { build } from "esbuild"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { root } from "../../support/manifest.ts"
import type { Outcome, Step } from "./load-run.ts"

const CANARY = "canary-33-secret"
const TSX = pathToFileURL(resolve(root, "node_modules/tsx/dist/loader.mjs")).href

/** A script, what it imports, and how. */
const SCRIPTS = [
  ["operations.config.ts", "dep.ts", "./dep.ts"],
  ["operations.config.ts", "dep.ts", "./dep.js"],
  ["operations.config.mts", "dep.mts", "./dep.mts"],
  ["operations.config.mjs", "dep.mjs", "./dep.mjs"],
] as const

/** A file, its text, the place and the words that are reported. */
const MISTAKES: readonly (readonly [string, string, string, string])[] = [
  ["a.ts", "export default {\n  sources: {\n    b: = 1 } }", ":3:", "is not sound"],
  ["a.mjs", "export default {\n  sources: {\n    b: = 1 } }", ":3", "is not sound"],
  ["b.ts", `export default {\n a: "${CANARY}" "${CANARY}" }`, ":2:", "is not sound"],
  ["b.mjs", `export default {\n a: "${CANARY}" "${CANARY}" }`, ":2", "is not sound"],
  ["c.ts", `export default {\n ${CANARY.replaceAll("-", "_")} 1 }`, ":2:", "is not sound"],
  ["d.ts", `const a: number = 1\n\nthrow new Error("boom")`, ":3:", "could not be run: boom."],
  ["e.ts", `export default () => {\n  throw new Error("boom")\n}`, ":2:", "boom."],
  ["f.ts", `\nimport "./none.ts"\nexport default {}`, ":2", "Cannot find module"],
  ["g.ts", `import "no-such-package"\nexport default {}`, ":1", "npm install no-such-package"],
  ["h.ts", "export const config = {}", ": ", "no default export"],
  ["i.ts", "export default undefined", ": ", "no default export"],
  ["j.ts", "export default 5", ": ", "must be an object"],
  ["k.ts", "export default async () => null", ": ", "is empty"],
  ["l.ts", "throw undefined", ": ", "could not be run"],
  [
    "m.ts",
    "export default {\n  sources: {\n    a: {\n      scan: '.',\n      namespcae: 'x' } } }",
    ":5:7:",
    `"sources.a.namespcae" is not known. Did you mean "namespace"?`,
  ],
  ["n.ts", "throw new Error(`bad ${process.env.MY_TOKEN}`)", ":1:", "could not be run: bad ***"],
  ["o.ts", "throw new Error(`Bearer ${process.env.MY_TOKEN}`)", ":1:", "could not be run"],
]

let folder: string
let program: string
let count = 0

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "operations-config-"))
  program = join(folder, "load-run.mjs")
  await build({
    entryPoints: [resolve(import.meta.dirname, "load-run.ts")],
    outfile: program,
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "error",
  })
})

afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})

describe.each(["node", "node with tsx"] as const)("under %s", (host) => {
  test.each(["module", "commonjs"])(
    "scripts of a package of type %s are loaded, and anew when they or what they import change",
    async (type) => {
      const steps: Step[] = []
      for (const [name, dep, imported] of SCRIPTS) {
        steps.push(...edits(await project(type), name, dep, imported))
      }

      const outcomes = await run(host, steps)

      expect(outcomes).toEqual(
        SCRIPTS.flatMap(() => [
          { names: ["x", "one"] },
          { names: ["x", "two"] },
          { names: ["y", "two"] },
          { names: ["y", "two"] },
        ]),
      )
    },
  )

  test("CommonJS is reloaded, too", async () => {
    const at = await project("commonjs")
    const file = join(at, "operations.config.js")
    const text = `module.exports = { sources: { [require("./dep.js")]: { scan: "." } } }`

    const outcomes = await run(host, [
      { write: file, text },
      { write: join(at, "dep.js"), text: `module.exports = "a"` },
      { load: file },
      { write: join(at, "dep.js"), text: `module.exports = "b"` },
      { load: file, fresh: true },
    ])

    expect(outcomes).toEqual([{ names: ["a"] }, { names: ["b"] }])
  })

  test("a mistake is reported with its line and without secrets", async () => {
    const at = await project("module")
    const outcomes = await run(
      host,
      MISTAKES.flatMap(([name, text]) => [
        { write: join(at, name), text },
        { load: join(at, name) },
      ]),
    )

    for (const [index, [name, , line, message]] of MISTAKES.entries()) {
      const outcome = outcomes[index]
      expect(outcome?.message).toContain(`${name}${line}`)
      expect(outcome?.message).toContain(message)
      expect(outcome?.shown).not.toContain(CANARY)
      expect(outcome?.shown).not.toContain("operations-fresh")
    }
  })
})

/** Writes a script and what it imports, changes one, then the other, and loads it after each. */
function edits(at: string, name: string, dep: string, imported: string): readonly Step[] {
  const path = join(at, name)
  const isTyped = name.endsWith("ts")
  const script = (own: string): Step => ({
    write: path,
    text: `import { a } from "${imported}"\nexport default { sources: { [a]: { scan: "." }, ${own}: { scan: "." } }${isTyped ? " as object" : ""} }`,
  })
  const module = (value: string): Step => ({
    write: join(at, dep),
    text: `export const a${isTyped ? ": string" : ""} = "${value}"`,
  })
  return [
    script("one"),
    module("x"),
    { load: path },
    script("two"),
    { load: path, fresh: true },
    module("y"),
    { load: path, fresh: true },
    { load: path, fresh: true },
  ]
}

async function project(type: string): Promise<string> {
  const at = join(folder, `project-${++count}`)
  await mkdir(at)
  await writeFile(join(at, "package.json"), JSON.stringify({ type }))
  return at
}

async function run(host: string, steps: readonly Step[]): Promise<readonly Outcome[]> {
  const args = host === "node" ? [] : ["--import", TSX]
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...args, program, JSON.stringify(steps)],
    // Where tsx is found.
    { cwd: root, env: { ...process.env, MY_TOKEN: CANARY } },
  )
  return JSON.parse(stdout) as readonly Outcome[]
}
