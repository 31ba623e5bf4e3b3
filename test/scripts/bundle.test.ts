import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { bundleEntries } from "../../scripts/lib/bundle.ts"

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

test("joins entries and what they share, keeps declarations, and brings licences along", async () => {
  await write({
    "dist/index.js": `export { shared } from "./shared.js"`,
    "dist/index.d.ts": `export {}`,
    "dist/node/index.js": `import "node:fs"\nexport { shared } from "../shared.js"`,
    "dist/cli/bin.js": `#!/usr/bin/env node\nimport { shared } from "../shared.js"\nexport const said = shared`,
    "dist/shared.js": `import { inside } from "dep"\nexport const shared = inside`,
    "dist/shared.js.map": `{}`,
    "node_modules/dep/package.json": `{ "name": "dep", "type": "module", "main": "main.js" }`,
    "node_modules/dep/main.js": `export const inside = "inside"`,
    "node_modules/dep/LICENSE": `Be kind.`,
  })

  await bundleEntries(root, {
    entries: ["./dist/index.js", "./dist/node/index.js", "./package.json"],
    programs: ["./dist/cli/bin.js"],
  })

  const files = (await readdir(join(root, "dist"), { recursive: true })).toSorted()
  expect(files.filter((file) => !file.startsWith("chunk-"))).toEqual([
    "THIRD-PARTY-LICENSES.txt",
    "cli",
    join("cli", "bin.js"),
    "index.d.ts",
    "index.js",
    "index.js.map",
    "node",
    join("node", "index.js"),
    join("node", "index.js.map"),
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
