// @isolated: it changes what the whole process uses.
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { afterEach, describe, expect, test, vi } from "vitest"
import { findTsx } from "../../src/node/import-module.ts"
import { root } from "../support/manifest.ts"

const folders: string[] = []

afterEach(async () => {
  vi.restoreAllMocks()
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
})

describe("findTsx", () => {
  test("finds the one of the project that a module belongs to", async () => {
    const folder = await temporaryFolder()
    await mkdir(join(folder, "node_modules"))
    await symlink(resolve(root, "node_modules/tsx"), join(folder, "node_modules/tsx"), "junction")

    const load = await findTsx(pathToFileURL(join(folder, "a.ts")).href)

    expect(load).toBeTypeOf("function")
  })

  test("or the one beside this package, and keeps it", async () => {
    const folder = await temporaryFolder()
    vi.spyOn(process, "cwd").mockReturnValue(folder)
    const url = pathToFileURL(join(folder, "a.ts")).href

    const first = await findTsx(url)

    expect(first).toBeTypeOf("function")
    expect(await findTsx(url)).toBe(first)
  })
})

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "operations-tsx-"))
  folders.push(folder)
  await writeFile(join(folder, "package.json"), `{"type":"module"}`)
  return folder
}
