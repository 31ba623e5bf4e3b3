import { EventEmitter } from "node:events"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { CommandIO } from "../../../src/cli/model.ts"
import { saveFile, showFile } from "../../../src/cli/result/save.ts"
import { toFile } from "../../../src/type.ts"
import type { FileLike } from "../../../src/type.ts"

let cwd: string
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "operations-saved-"))
})
afterAll(() => rm(cwd, { recursive: true }))

/** A stdout that is full after every chunk, and what both streams got. */
function outputs(isTTY = false): { io: CommandIO; written: Uint8Array[]; notes: string[] } {
  const written: Uint8Array[] = []
  const notes: string[] = []
  const stdout = Object.assign(new EventEmitter(), {
    isTTY,
    write(chunk: Uint8Array): boolean {
      written.push(chunk)
      setImmediate(() => stdout.emit("drain"))
      return false
    },
  })
  const stderr = {
    isTTY: false,
    write: (text: string): boolean => {
      notes.push(text)
      return true
    },
  }
  const { signal } = new AbortController()
  const io = { cwd, env: {}, signal, stdout, stderr } as unknown as CommandIO
  return { io, written, notes }
}

const cat = (): FileLike =>
  toFile(new Uint8Array([1, 2, 3]), { name: "cat.png", type: "image/png" })

describe("a file as a result on the command line", () => {
  test("is written to a path, relative or not, and its size is said", async () => {
    const { io, notes } = outputs()
    await saveFile(cat(), "cat.png", io)
    await saveFile(cat(), join(cwd, "other.png"), io)
    expect([...(await readFile(join(cwd, "cat.png")))]).toEqual([1, 2, 3])
    expect([...(await readFile(join(cwd, "other.png")))]).toEqual([1, 2, 3])
    expect(notes.join("")).toContain(`3 bytes to ${join(cwd, "cat.png")}`)
  })

  test("that cannot be written says so, and that the operation ran", async () => {
    const { io } = outputs()
    await expect(saveFile(cat(), "no/such/folder.png", io)).rejects.toThrow(
      '--output: the operation ran, and its result could not be written to "no/such/folder.png" (ENOENT).',
    )
    const broken = toFile(
      new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("gone")) }),
    )
    await expect(saveFile(broken, "half.png", io)).rejects.toThrow("(it broke off)")
  })

  test("goes to stdout with -, or where that is no terminal, no faster than it is read", async () => {
    const { io, written } = outputs()
    await saveFile(cat(), "-", io)
    await showFile(cat(), io)
    expect(written.map((chunk) => [...chunk])).toEqual([
      [1, 2, 3],
      [1, 2, 3],
    ])
  })

  test("is only named on a terminal", async () => {
    const { io, written, notes } = outputs(true)
    await showFile(cat(), io)
    await showFile(toFile(new ReadableStream<Uint8Array>()), io)
    expect(written).toEqual([])
    expect(notes[0]).toContain("The result is cat.png, image/png, 3 bytes.")
    expect(notes[1]).toContain("--output <file>")
  })
})
