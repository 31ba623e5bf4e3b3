import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join, relative } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { bundlePackage, type BundleTargets } from "../../tools/scripts/lib/bundle.ts"

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

const NONE: BundleTargets = {
  ...{ entries: [], nodeOnly: [], programs: [], standalone: [], vendored: [], external: [] },
  ...{ small: {}, subjects: {} },
}

/** The files below a folder of `dist`, without those of chunks. */
async function filesIn(folder: string): Promise<string[]> {
  const files = await readdir(join(root, "dist", folder), { recursive: true, withFileTypes: true })
  return files
    .filter((file) => file.isFile() && !file.parentPath.endsWith("chunks"))
    .map((file) => relative(join(root, "dist", folder), join(file.parentPath, file.name)))
    .toSorted()
}

/** The texts of the bundle's files that contain a text. */
async function holding(text: string): Promise<string[]> {
  const names = await readdir(join(root, "dist/bundle"), { recursive: true })
  const texts = names
    .filter((name) => name.endsWith(".js"))
    .map((name) => readFile(join(root, "dist/bundle", name), "utf8"))
  // Long strings go on in the next line.
  return (await Promise.all(texts)).filter((one) => one.replaceAll("\\\n", "").includes(text))
}

test("bundlePackage makes a bundle for Node, and keeps the modules and declarations of entries", async () => {
  await write({
    "dist/index.js": `export { shared } from "./shared.js"\nexport const later = () => import("./later.js")`,
    "dist/index.d.ts": `export { shared } from "./shared.ts"`,
    "dist/shared.d.ts": `export declare const shared: import("./deep/type.ts").Shared`,
    "dist/deep/type.d.ts": `export type Shared = import("../index.ts").Shared | string`,
    "dist/unused.d.ts": `export {}`,
    "dist/later.js": `export const late = 1`,
    "dist/node.js": `import "node:fs"\nexport { shared } from "./shared.js"`,
    "dist/node.d.ts": `export { shared } from "./shared.ts"`,
    "dist/cli/bin.js": `#!/usr/bin/env node\nimport { shared } from "../shared.js"\nexport const said = shared`,
    "dist/cli/bin.d.ts": `export {}`,
    "dist/shared.js": `import { inside as one } from "dep"\nexport const shared = one`,
    "dist/console/app.js": `the console`,
    "node_modules/dep/package.json": `{ "name": "dep", "type": "module", "main": "main.js" }`,
    "node_modules/dep/main.js": `export const inside = "inside"\nexport const unused = "never"`,
    "node_modules/dep/LICENSE": `Be kind.`,
    "package.json": `{ "type": "module", "sideEffects": false }`,
  })

  await bundlePackage(root, {
    ...NONE,
    entries: ["index", "node"],
    nodeOnly: ["node"],
    programs: ["cli/bin"],
    vendored: ["dep"],
  })

  expect(await filesIn("bundle")).toEqual([join("cli", "bin.js"), "index.js", "node.js"])
  expect((await filesIn("")).filter((file) => !file.startsWith("bundle"))).toEqual([
    "THIRD-PARTY-LICENSES.txt",
    join("cli", "bin.js"),
    join("console", "app.js"),
    join("deep", "type.d.ts"),
    "index.d.ts",
    "index.js",
    "later.js",
    "node.d.ts",
    "shared.d.ts",
    "shared.js",
    join("vendor", "dep.js"),
  ])
  expect(await readFile(join(root, "dist/THIRD-PARTY-LICENSES.txt"), "utf8")).toBe(
    "dep\n\nBe kind.",
  )
  expect(await readFile(join(root, "dist/vendor/dep.js"), "utf8")).not.toContain("never")
  for (const file of ["dist/index.js", "dist/bundle/index.js", "dist/bundle/node.js"]) {
    expect(((await import(join(root, file))) as { shared: string }).shared).toBe("inside")
  }
  expect(await readFile(join(root, "dist/cli/bin.js"), "utf8")).toBe(
    `#!/usr/bin/env node\nimport "../bundle/cli/bin.js"\n`,
  )
  const { said } = (await import(join(root, "dist/bundle/cli/bin.js"))) as { said: string }
  expect(said).toBe("inside")
})

test("bundlePackage keeps one copy of what entries share, in chunks by who needs it", async () => {
  const body = (name: string): string => `export const ${name} = () => "${name.repeat(9000)}"`
  await write({
    "dist/one.js": `export { a } from "./a.js"\nexport { b } from "./b.js"`,
    "dist/two.js": `export { a } from "./a.js"\nexport { c } from "./c.js"`,
    "dist/fast.js": `export { c } from "./c.js"`,
    "dist/a.js": body("a"),
    "dist/b.js": body("b"),
    "dist/c.js": body("c"),
    "package.json": `{ "type": "module", "sideEffects": false }`,
  })

  await bundlePackage(root, {
    ...NONE,
    entries: ["one", "two", "fast"],
    small: { fast: ["fast"] },
    subjects: { one: ["one"], two: ["two"] },
  })

  const [a, b, c] = await Promise.all(["a", "b", "c"].map((name) => holding(name.repeat(9000))))
  expect([a, b, c].map((files) => files?.length)).toEqual([1, 1, 1])
  expect(new Set([a, b, c].map((files) => files?.[0])).size).toBe(3)
  const { c: shown } = (await import(join(root, "dist/bundle/two.js"))) as { c: () => string }
  expect(shown()).toBe("c".repeat(9000))
})

test("bundlePackage puts a standalone entry into one file, with what others have as well", async () => {
  await write({
    "dist/one.js": `export { shared } from "./shared.js"`,
    "dist/two.js": `export { shared } from "./shared.js"`,
    "dist/alone.js": `export { shared } from "./shared.js"`,
    "dist/shared.js": `export const shared = "${"s".repeat(20_000)}"`,
    "package.json": `{ "type": "module", "sideEffects": false }`,
  })

  await bundlePackage(root, {
    ...NONE,
    entries: ["one", "two", "alone"],
    standalone: ["alone"],
  })

  expect(await holding("s".repeat(20_000))).toHaveLength(2)
  const alone = join(root, "dist/bundle/alone.js")
  expect(await readFile(alone, "utf8")).not.toMatch(/\bfrom\b/)
  expect(((await import(alone)) as { shared: string }).shared).toHaveLength(20_000)
})

test("bundlePackage writes characters beyond Latin-1 as escapes", async () => {
  const source =
    'export const text = "…😀"\nexport const pattern = /^[…😀]$/u\nexport const raw = `–é`'
  await write({ "dist/index.js": source, "package.json": `{ "type": "module" }` })

  await bundlePackage(root, { ...NONE, entries: ["index"] })

  const file = join(root, "dist/bundle/index.js")
  expect(await readFile(file, "utf8")).not.toMatch(/[\u0100-\uFFFF]/)
  const { text, pattern, raw } = (await import(file)) as Record<string, unknown>
  expect([text, raw]).toEqual(["…😀", "–é"])
  expect((pattern as RegExp).test("😀")).toBe(true)
})

test("bundlePackage refuses to bundle code without a licence", async () => {
  await write({
    "dist/index.js": `export { inside } from "dep"`,
    "node_modules/dep/package.json": `{ "name": "dep", "type": "module", "main": "main.js" }`,
    "node_modules/dep/main.js": `export const inside = "inside"`,
  })
  await expect(bundlePackage(root, { ...NONE, entries: ["index"] })).rejects.toThrow(
    `The package "dep" is bundled and has no licence file.`,
  )
})
