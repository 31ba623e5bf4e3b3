// @isolated: it changes what the whole process uses.
import { execFile } from "node:child_process"
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { promisify } from "node:util"
import { build } from "esbuild"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { scanDirectory } from "../../src/node.ts"
import { root } from "../support/manifest.ts"

// Modules are loaded by Node itself here, in a process of its own: test runners have loaders of theirs.

const MODULE = (name: string, before = ""): string => `${before}
export default {
  namespace: "real", name: ${JSON.stringify(name)}, version: "1.0.0", type: "query",
  description: "x", inputSchema: {}, outputSchema: {}, accessControl: { requiredScopes: [] },
  handler: () => ${JSON.stringify(name)},
}`

const DEFINE = (name: string): string => `
import { defineOperation } from "../library.mjs"
enum Kind { A = "a" }
export const ${name}: unknown = defineOperation({
  namespace: "real", name: "${name}", type: "query", description: Kind.A,
  inputSchema: {}, outputSchema: {}, accessControl: { requiredScopes: [] },
  handler: (): string => "x",
})`

const PROGRAM = `
import { scanDirectory } from "./library.mjs"
const problems = []
const found = await scanDirectory(new URL("./ops/", import.meta.url), {
  importTimeout: Number(process.argv[2]),
  onProblem: ({ file, reason }) => problems.push({ file: file.replace(/.*\\/ops\\//, ""), reason }),
})
console.log(JSON.stringify({ names: found.map(({ name }) => name), problems }))`

interface Answer {
  readonly names: string[]
  readonly problems: { readonly file: string; readonly reason: string }[]
}

let library: string

beforeAll(async () => {
  library = await realpath(await mkdtemp(join(tmpdir(), "operations-node-")))
  await build({
    stdin: {
      contents: `export * from "./src/node.ts"; export { defineOperation } from "./src/core/define.ts"`,
      resolveDir: root,
    },
    outfile: join(library, "library.mjs"),
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "silent",
  })
})

afterAll(() => rm(library, { recursive: true, force: true }))

/** Runs the program in a folder of its own, with these modules under `ops/`. */
async function scanInNode(
  files: Record<string, string>,
  options: { tsx?: boolean; importTimeout?: number } = {},
): Promise<Answer> {
  const path = await realpath(await mkdtemp(join(tmpdir(), "operations-app-")))
  try {
    await symlink(join(library, "library.mjs"), join(path, "library.mjs"))
    await writeFile(join(path, "package.json"), `{"type":"module"}`)
    await writeFile(join(path, "main.mjs"), PROGRAM)
    if (options.tsx) {
      await mkdir(join(path, "node_modules"))
      await symlink(resolve(root, "node_modules/tsx"), join(path, "node_modules/tsx"), "junction")
    }
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(path, "ops", name)), { recursive: true })
      await writeFile(join(path, "ops", name), text)
    }
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["main.mjs", String(options.importTimeout ?? 60_000)],
      { cwd: path },
    )
    return JSON.parse(stdout) as Answer
  } finally {
    await rm(path, { recursive: true, force: true })
  }
}

/** Whether this Node runs TypeScript by itself. */
const hasTypes = "typescript" in process.features && Boolean(process.features.typescript)

describe("scanDirectory in Node", () => {
  test("loads modules whatever their name, and reports those that fail", async () => {
    const { names, problems } = await scanInNode({
      "plain.mjs": MODULE("plain"),
      "script.js": MODULE("script"),
      "hash#tag.mjs": MODULE("hash"),
      "what?.mjs": MODULE("what"),
      "100%41.mjs": MODULE("percent"),
      "with space.mjs": MODULE("space"),
      "grüße-日本-😀.mjs": MODULE("unicode"),
      "throws.mjs": `throw new Error("no database")`,
      "syntax.mjs": `export default {`,
    })

    expect(names).toEqual(["percent", "unicode", "hash", "plain", "script", "what", "space"])
    expect(problems).toEqual([
      { file: "syntax.mjs", reason: expect.stringContaining("cannot be loaded: ") },
      { file: "throws.mjs", reason: "cannot be loaded: no database" },
    ])
  })

  test("gives up a module that hangs", async () => {
    const hanging = { "hangs.mjs": `await new Promise(() => {})` }

    expect(await scanInNode(hanging, { importTimeout: 50 })).toEqual({
      names: [],
      problems: [{ file: "hangs.mjs", reason: expect.stringContaining("within 50 ms") }],
    })
  })

  test.skipIf(hasTypes)("says what to do about TypeScript that nothing can run", async () => {
    const { names, problems } = await scanInNode({
      "typed.ts": MODULE("typed", "const n: number = 1"),
      "plain.mjs": MODULE("plain"),
    })

    expect(names).toEqual(["plain"])
    expect(problems).toEqual([
      {
        file: "typed.ts",
        reason: expect.stringMatching(/TypeScript.*npm install tsx.*build first/),
      },
    ])
  })

  test("loads TypeScript through tsx where that is installed; what modules share is one object", async () => {
    const { names, problems } = await scanInNode(
      {
        "create.ts": DEFINE("create"),
        "remove.ts": DEFINE("remove"),
        "index.ts": `export * from "./create.ts"\nexport * from "./remove.ts"`,
        "broken.ts": "throw new Error('no database' as string)",
      },
      { tsx: true },
    )

    expect(problems).toEqual([{ file: "broken.ts", reason: "cannot be loaded: no database" }])
    expect(names).toEqual(["create", "remove"])
  })
})

describe("scanDirectory", () => {
  test("takes a path or a URL", async () => {
    const path = await mkdtemp(join(tmpdir(), "operations-dir-"))
    await writeFile(join(path, "plain.mjs"), MODULE("plain"))

    await expect(scanDirectory(path)).resolves.toMatchObject([{ name: "plain" }])
    await expect(scanDirectory(pathToFileURL(path))).resolves.toMatchObject([{ name: "plain" }])

    await rm(path, { recursive: true })
  })

  test("names a folder that does not exist", async () => {
    await expect(scanDirectory("no-such-folder")).rejects.toThrow(
      `The folder "no-such-folder" cannot be read: ENOENT`,
    )
  })
})
