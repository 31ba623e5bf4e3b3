import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { CHROMIUM, findProgram, provideProgram } from "./programs.ts"

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "operations-path-"))
})

afterEach(async () => {
  vi.restoreAllMocks()
  await rm(folder, { recursive: true })
})

async function program(name: string): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, "")
  await chmod(path, 0o755)
  return path
}

describe("findProgram", () => {
  test("finds the names of a program on PATH, the first of them first", async () => {
    expect(findProgram(CHROMIUM, { PATH: folder })).toBeUndefined()
    const chrome = await program("google-chrome")
    expect(findProgram(CHROMIUM, { PATH: `relative:${folder}` })).toBe(chrome)
    const chromium = await program("chromium")
    expect(findProgram(CHROMIUM, { PATH: folder })).toBe(chromium)
  })

  test("takes the path of the variable before PATH, and does not search if it is wrong", async () => {
    await program("chromium")
    const other = await program("other")
    expect(findProgram(CHROMIUM, { PATH: folder, CHROMIUM_PATH: other })).toBe(other)
    const none = join(folder, "none")
    expect(findProgram(CHROMIUM, { PATH: folder, CHROMIUM_PATH: none })).toBeUndefined()
  })

  test("ignores files that cannot be run", async () => {
    await chmod(await program("chromium"), 0o644)
    expect(findProgram(CHROMIUM, { PATH: folder })).toBeUndefined()
  })
})

describe("provideProgram", () => {
  test("reports a missing program on stderr, with the command that installs it", () => {
    const write = vi.spyOn(process.stderr, "write").mockReturnValue(true)
    expect(provideProgram(CHROMIUM, { PATH: folder })).toBeUndefined()
    expect(write.mock.calls).toEqual([
      [
        "SKIPPED browser tests. There is no chromium on PATH. Install it: apt-get install chromium\n",
      ],
    ])
  })

  test("throws where CI is set", () => {
    const provide = (env: object): unknown => provideProgram(CHROMIUM, { PATH: folder, ...env })
    expect(() => provide({ CI: "true" })).toThrow("There is no chromium on PATH.")
    expect(() => provide({ CI: "true", CHROMIUM_PATH: "/none" })).toThrow(
      'CHROMIUM_PATH "/none" is not a program.',
    )
  })
})
