import { mkdtemp, mkdir, realpath, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { nodeFS } from "../../src/node/fs.ts"
import type { ScannerEntry } from "../../src/sources/scan/scanner.ts"

let folder: string

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "operations-fs-")))
  await mkdir(join(folder, "folder"))
  await writeFile(join(folder, "file.txt"), "\uFEFFgrüße")
  await writeFile(join(folder, "empty.txt"), "")
  await symlink(join(folder, "file.txt"), join(folder, "to-file"))
  await symlink(join(folder, "folder"), join(folder, "to-folder"), "junction")
  await symlink(join(folder, "lost"), join(folder, "to-nowhere"))
})

afterAll(() => rm(folder, { recursive: true, force: true }))

describe("nodeFS", () => {
  test("readdir tells files, folders and what links lead to", async () => {
    const entries: ScannerEntry[] = []
    for await (const entry of nodeFS.readdir(folder)) entries.push(entry)

    const kinds = Object.fromEntries(
      entries.map(({ name, isFile, isDirectory, isSymlink }) => [
        name,
        [isFile, isDirectory, isSymlink],
      ]),
    )
    expect(kinds).toEqual({
      folder: [false, true, false],
      "file.txt": [true, false, false],
      "empty.txt": [true, false, false],
      "to-file": [true, false, true],
      "to-folder": [false, true, true],
      "to-nowhere": [false, false, true],
    })
  })

  test("readdir lets go of the folder when the reader leaves early", async () => {
    for await (const entry of nodeFS.readdir(folder)) {
      expect(entry.name).not.toBe("")
      break
    }
  })

  test("readFile gives text without a byte order mark", async () => {
    await expect(nodeFS.readFile(join(folder, "file.txt"))).resolves.toBe("grüße")
    await expect(nodeFS.readFile(join(folder, "empty.txt"))).resolves.toBe("")
    await expect(nodeFS.readFile(join(folder, "lost"))).rejects.toThrow("ENOENT")
  })

  test("realpath follows links, and cwd is the process's", async () => {
    await expect(nodeFS.realpath(join(folder, "to-folder"))).resolves.toBe(join(folder, "folder"))
    expect(nodeFS.cwd()).toBe(process.cwd())
  })
})
