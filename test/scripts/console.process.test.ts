import { randomBytes } from "node:crypto"
import { existsSync } from "node:fs"
import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  utimes,
  writeFile,
} from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { brotliDecompressSync } from "node:zlib"
import { afterEach, beforeEach, expect, test } from "vitest"
import { buildConsole, isStale } from "../../tools/scripts/lib/console.ts"
import { loadConsole } from "../../src/hub/console/load.ts"

let root: string
let folder: string

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "operations-console-")))
  folder = join(root, "dist/console")
  await write({
    "package.json": `{ "type": "module" }`,
    "package-lock.json": "{}",
    "console/index.html": `<!doctype html><script type="module" src="./main.js"></script>`,
    "console/public/icon.svg": `<svg xmlns="http://www.w3.org/2000/svg"/>`,
    "console/main.js": `import { text } from "dep"\nimport "./main.css"\ndocument.title = text\nimport("./later.js")`,
    "console/main.css": "body { color: red }",
    "console/later.js": `import { text } from "plain"\ndocument.body.append(text)`,
    "console/vite.config.ts": `export default { root: import.meta.dirname, base: "./", build: { modulePreload: { polyfill: false } } }`,
    "node_modules/dep/package.json": `{ "name": "dep", "type": "module", "main": "main.js" }`,
    "node_modules/dep/main.js": `import { text as inner } from "inner"\nexport const text = inner + ${JSON.stringify("words ".repeat(1000))}`,
    "node_modules/dep/LICENSE": "Be kind.",
    "node_modules/dep/node_modules/inner/package.json": `{ "name": "inner", "type": "module", "main": "main.js" }`,
    "node_modules/dep/node_modules/inner/main.js": `export const text = "inner"`,
    "node_modules/dep/node_modules/inner/LICENCE.md": "Be brave.",
    "node_modules/plain/package.json": `{ "name": "plain", "type": "module", "main": "main.js", "license": "MIT", "author": "Ada $& <ada@example.com>" }`,
    "node_modules/plain/main.js": `export const text = "plain"`,
  })
})

afterEach(() => rm(root, { recursive: true, force: true }))

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true })
    await writeFile(join(root, name), text)
  }
}

test("bundles, compresses and brings licences along, in place of what was there", async () => {
  await write({ "dist/console/old.js": "old", "dist/index.js": "library" })

  const built = await buildConsole(root, folder)

  const files = (await readdir(folder, { recursive: true })).toSorted()
  const stored = files.find((name) => /^assets.index-[\w-]{8}\.js\.br$/.test(name)) ?? ""
  const script = stored.slice(0, -".br".length)
  expect(brotliDecompressSync(await readFile(join(folder, stored))).toString()).toContain("words ")
  expect(files).not.toContain(script)
  expect(files).not.toContain("old.js")
  expect(files.filter((name) => /later.*\.br$/.test(name))).toEqual([])
  expect(built.initialBytes).toBeLessThan(built.allBytes)
  const licences = await readFile(join(folder, "THIRD-PARTY-LICENSES.txt"), "utf8")
  expect(licences).toContain("dep\n\nBe kind.")
  expect(licences).toContain("inner\n\nBe brave.")
  expect(licences).toContain("Copyright (c) Ada $& <ada@example.com>\n\nPermission is hereby")
  expect((await readdir(join(root, "dist"))).toSorted()).toEqual(["console", "index.js"])
  const served = await loadConsole(folder)
  expect(served?.get(script.replaceAll("\\", "/"))).toMatchObject({ isHashed: true })
})

test("refuses what is too much to load at first, and keeps what was there", async () => {
  await write({
    "dist/console/index.html": "old",
    "console/main.js": `document.title = "${randomBytes(400_000).toString("base64")}"`,
  })

  await expect(buildConsole(root, folder)).rejects.toThrow(
    /loads \d+ bytes before anything is seen, and may load 350000/,
  )

  expect(await readFile(join(folder, "index.html"), "utf8")).toBe("old")
  expect(await readdir(join(root, "dist"))).toEqual(["console"])
})

test("buildConsole does not limit files that are loaded later", async () => {
  await write({
    "console/later.js": `document.title = "${randomBytes(400_000).toString("base64")}"`,
  })

  const { initialBytes, allBytes } = await buildConsole(root, folder)

  expect(initialBytes).toBeLessThan(5000)
  expect(allBytes).toBeGreaterThan(400_000)
})

test("refuses code without a licence", async () => {
  await rm(join(root, "node_modules/dep/LICENSE"))

  await expect(buildConsole(root, folder)).rejects.toThrow(
    `The package "dep" is bundled and has no licence file.`,
  )
  expect(existsSync(folder)).toBe(false)
})

test("isStale is true if the console is missing, or older than its sources", async () => {
  const at = async (file: string, seconds: number): Promise<void> =>
    utimes(join(root, file), seconds, seconds)
  expect(await isStale(root, folder)).toBe(true)
  for (const name of await readdir(join(root, "console"), { recursive: true })) {
    await at(join("console", name), 1000)
  }
  await at("package-lock.json", 1000)
  await write({ "dist/console/index.html": "" })
  await at("dist/console/index.html", 2000)
  expect(await isStale(root, folder)).toBe(false)
  await at("console/public/icon.svg", 3000)
  expect(await isStale(root, folder)).toBe(true)
  await at("console/public/icon.svg", 1000)
  await at("package-lock.json", 3000)
  expect(await isStale(root, folder)).toBe(true)
})
