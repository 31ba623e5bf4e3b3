import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { build } from "esbuild"
import { afterEach, beforeEach, expect, test } from "vitest"
import { bundleEntries } from "../../tools/scripts/lib/bundle.ts"

let root: string

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "operations-bundle-"))
})

afterEach(() => rm(root, { recursive: true, force: true }))

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true })
    await writeFile(join(root, name), text)
  }
}

test("joins entries and what they share, keeps the declarations they need, and brings licences along", async () => {
  await write({
    "dist/index.js": `export { shared } from "./shared.js"`,
    "dist/index.d.ts": `export { shared } from "./shared.ts"`,
    "dist/shared.d.ts": `export declare const shared: import("./deep/type.ts").Shared`,
    "dist/deep/type.d.ts": `export type Shared = import("../index.ts").Shared | string`,
    "dist/unused.d.ts": `export {}`,
    "dist/node/index.js": `import "node:fs"\nexport { shared } from "../shared.js"`,
    "dist/cli/bin.js": `#!/usr/bin/env node\nimport { shared } from "../shared.js"\nexport const said = shared`,
    "dist/shared.js": `import { inside } from "dep"\nexport const shared = inside`,
    "node_modules/dep/package.json": `{ "name": "dep", "type": "module", "main": "main.js" }`,
    "node_modules/dep/main.js": `export const inside = "inside"`,
    "node_modules/dep/LICENSE": `Be kind.`,
  })

  await bundleEntries(root, {
    entries: ["./dist/index.js", "./dist/node/index.js", "./package.json"],
    programs: ["./dist/cli/bin.js"],
  })

  const files = (await readdir(join(root, "dist"), { recursive: true })).toSorted()
  expect(files.filter((file) => !file.startsWith(join("chunks", "chunk-")))).toEqual([
    "THIRD-PARTY-LICENSES.txt",
    "chunks",
    "cli",
    join("cli", "bin.js"),
    "deep",
    join("deep", "type.d.ts"),
    "index.d.ts",
    "index.js",
    "node",
    join("node", "index.js"),
    "shared.d.ts",
  ])
  expect(await readFile(join(root, "dist/THIRD-PARTY-LICENSES.txt"), "utf8")).toBe(
    "dep\n\nBe kind.",
  )
  const { shared } = (await import(join(root, "dist/index.js"))) as { shared: string }
  expect(shared).toBe("inside")
  const bin = join(root, "dist/cli/bin.js")
  expect(await readFile(bin, "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/)
  expect(((await import(bin)) as { said: string }).said).toBe("inside")
  expect(await readdir(root)).toEqual(["dist", "node_modules"])
})

test("bundleEntries keeps one copy of the library, in the chunks of its entries, for programs that need parts of it", async () => {
  const body = (name: string): string => `export const ${name} = () => "${name.repeat(9000)}"`
  await write({
    "dist/one.js": `export { a } from "./a.js"\nexport { b } from "./b.js"`,
    "dist/two.js": `export { a, b } from "./one.js"`,
    "dist/a.js": body("a"),
    "dist/b.js": body("b"),
    "dist/bin.js": `export const run = (name) => name === "a" ? import("./use-a.js") : import("./use-b.js")`,
    "dist/use-a.js": `import { a } from "./a.js"\nexport default a()`,
    "dist/use-b.js": `import { b } from "./b.js"\nexport default b()`,
    "package.json": `{ "type": "module", "sideEffects": false }`,
  })

  await bundleEntries(root, {
    entries: ["./dist/one.js", "./dist/two.js"],
    programs: ["./dist/bin.js"],
  })

  const names = await readdir(join(root, "dist"), { recursive: true })
  const texts = await Promise.all(
    names
      .filter((name) => name.endsWith(".js"))
      .map((name) => readFile(join(root, "dist", name), "utf8")),
  )
  const holding = (name: string): string[] =>
    texts.filter((text) => text.includes(name.repeat(9000)))
  expect(holding("a")).toHaveLength(1)
  expect(holding("a")).toEqual(holding("b"))
  const { run } = (await import(join(root, "dist/bin.js"))) as {
    readonly run: (name: string) => Promise<{ default: string }>
  }
  expect((await run("b")).default).toBe("b".repeat(9000))
})

test("puts a standalone entry into one file, with what others have as well", async () => {
  await write({
    "dist/one.js": `export { shared } from "./shared.js"`,
    "dist/two.js": `export { shared } from "./shared.js"`,
    "dist/alone.js": `export { shared } from "./shared.js"`,
    "dist/shared.js": `export const shared = "${"s".repeat(20_000)}"`,
  })

  await bundleEntries(root, {
    entries: ["./dist/one.js", "./dist/two.js", "./dist/alone.js"],
    programs: [],
    standalone: ["./dist/alone.js"],
  })

  const texts = await Promise.all(
    ["one", "alone"].map((name) => readFile(join(root, "dist", `${name}.js`), "utf8")),
  )
  expect(texts.map((text) => /\bfrom\b/.test(text))).toEqual([true, false])
  const { shared } = (await import(join(root, "dist/alone.js"))) as { shared: string }
  expect(shared).toHaveLength(20_000)
})

test("copies what is imported on demand, so that a page without it does not load it", async () => {
  const codec = `import { base } from "./base.js"\nexport const codec = () => base + "${"c".repeat(50)}"`
  await write({
    "dist/index.js": `export { codec } from "./codec.js"\nexport { use } from "./use.js"`,
    "dist/other.js": `export { codec } from "./codec.js"`,
    "dist/use.js": `import { base } from "./base.js"\nexport const use = async () => base + (await import("./lazy.js")).lazy()`,
    "dist/lazy.js": `import { codec } from "./codec.js"\nexport const lazy = () => codec()`,
    "dist/codec.js": codec,
    "dist/base.js": `export const base = "${"b".repeat(50)}"`,
    "package.json": `{ "type": "module", "sideEffects": false }`,
  })

  await bundleEntries(root, {
    entries: ["./dist/index.js", "./dist/other.js"],
    programs: [],
    copied: ["dist/codec.js", "dist/lazy.js"],
  })

  const { use, codec: own } = (await import(join(root, "dist/index.js"))) as {
    readonly use: () => Promise<string>
    readonly codec: () => string
  }
  expect(await use()).toBe(`${"b".repeat(100)}${"c".repeat(50)}`)
  expect(own()).toBe(`${"b".repeat(50)}${"c".repeat(50)}`)
  const { outputFiles } = await build({
    stdin: { contents: `export { use } from "./dist/index.js"`, resolveDir: root },
    bundle: true,
    splitting: true,
    write: false,
    format: "esm",
    outdir: "out",
  })
  const holding = (text: string): string[] =>
    outputFiles.filter((file) => file.text.includes(text.repeat(50))).map(({ path }) => path)
  expect(holding("c")).toEqual([expect.stringContaining("lazy")])
  expect(holding("b")).toHaveLength(1)
})

test("refuses to bundle code without a licence, and leaves nothing half done", async () => {
  await write({
    "dist/index.js": `export { inside } from "dep"`,
    "node_modules/dep/package.json": `{ "name": "dep", "type": "module", "main": "main.js" }`,
    "node_modules/dep/main.js": `export const inside = "inside"`,
  })
  await expect(bundleEntries(root, { entries: ["./dist/index.js"], programs: [] })).rejects.toThrow(
    `The package "dep" is bundled and has no licence file.`,
  )
  expect(await readdir(root)).toEqual(["dist", "node_modules"])
})
