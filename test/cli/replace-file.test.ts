// @isolated: it changes what the whole process uses.
import { lstat, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises"
import type * as FileSystem from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { writeSource } from "../../src/cli/commands/import.ts"
import { replaceFile } from "../../src/node/replace-file.ts"
import { saveResult } from "../../src/cli/result/save.ts"
import { saveFile } from "../../src/cli/result/save.ts"
import { localEnvelope } from "../../src/index.ts"
import { toFile } from "../../src/type.ts"
import { testIO } from "./support/run.ts"

const disk = vi.hoisted(() => ({ isFull: false }))

// A full disk: the first bytes are written, then writing fails.
vi.mock("node:fs/promises", async (load) => {
  const real = await load<typeof FileSystem>()
  const write: typeof FileSystem.writeFile = async (path, content, options) => {
    if (!disk.isFull) return await real.writeFile(path, content, options)
    await real.writeFile(path, "half", options)
    throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" })
  }
  return { ...real, writeFile: write, default: { ...real, writeFile: write } }
})

let folder = ""
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "replace-"))
})
afterEach(async () => {
  disk.isFull = false
  await rm(folder, { recursive: true })
})

const before = `{ "sources": {} }\n`

describe("a file that a command replaces", () => {
  const source = { name: "api", source: { kind: "openapi", url: "https://api.test/o.json" } }

  test.each(["import", "--output of a result", "--output of a file"])(
    "stays as it was on a full disk, and the error names it: %s",
    async (command) => {
      const path = join(folder, "operations.json")
      await writeFile(path, before)
      disk.isFull = true
      const io = testIO({ cwd: folder })
      const run = {
        import: () => writeSource(path, source, [], io),
        "--output of a result": () => saveResult(localEnvelope("text", "a.b"), path, io),
        "--output of a file": () => saveFile(toFile("text"), path, io),
      }[command]
      await expect(run?.()).rejects.toThrow(path)
      expect(await readFile(path, "utf8")).toBe(before)
      expect(await readdir(folder)).toEqual(["operations.json"])
    },
  )

  test("stays as it was if a download fails", async () => {
    const path = join(folder, "keep.out")
    await writeFile(path, "keep me")
    const broken = async function* (): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(10)
      throw new Error("gone")
    }
    await expect(saveFile(toFile(broken()), path, testIO({ cwd: folder }))).rejects.toThrow(
      "it broke off",
    )
    expect(await readFile(path, "utf8")).toBe("keep me")
    expect(await readdir(folder)).toEqual(["keep.out"])
  })

  test("keeps its mode, and a link to it stays a link", async () => {
    const path = join(folder, "a")
    await writeFile(path, "old", { mode: 0o640 })
    await symlink("a", join(folder, "link"))
    await replaceFile(join(folder, "link"), "new")
    expect(await readFile(path, "utf8")).toBe("new")
    expect((await stat(path)).mode & 0o777).toBe(0o640)
    expect((await lstat(join(folder, "link"))).isSymbolicLink()).toBe(true)
  })

  test("is written to directly if it is a device", async () => {
    await replaceFile("/dev/null", "text")
    expect((await stat("/dev/null")).isCharacterDevice()).toBe(true)
  })
})
