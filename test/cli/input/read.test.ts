import { truncate } from "node:fs/promises"
import { join } from "node:path"
import { expect, test } from "vitest"
import { InputReader, textOf } from "../../../src/cli/input/read.ts"
import { UsageError } from "../../../src/cli/model.ts"
import { folderWith } from "../support/folder.ts"
import { testIO } from "../support/run.ts"

async function* chunks(...parts: (string | Uint8Array)[]) {
  yield* parts
}

const MIB = 1024 * 1024

test("a file is read from the folder of the command, or by its whole path", async () => {
  await using folder = await folderWith({ "a.txt": "é" })
  const reader = new InputReader(testIO({ cwd: folder.path }))
  expect(textOf(await reader.file("a.txt", "a=@a.txt"), "a")).toBe("é")
  expect(await reader.file(join(folder.path, "a.txt"), "a")).toHaveLength(2)
})

test("a file that cannot be read says why, and how the text itself is given", async () => {
  await using folder = await folderWith({ "a.txt": "a" })
  const reader = new InputReader(testIO({ cwd: folder.path }))
  await expect(reader.file("none", "a=@none")).rejects.toThrow(
    'a=@none: cannot read "none" (there is no such file). For the text itself: a=@@none',
  )
  await expect(reader.file(".git", "--input")).rejects.toThrow(
    new UsageError('--input: cannot read ".git" (it is a folder).'),
  )
  await expect(reader.file("a.txt/b", "--input")).rejects.toThrow("(ENOTDIR)")
  await expect(reader.file("a\0b", "--input")).rejects.toThrow("(ERR_INVALID_ARG_VALUE)")
})

test("a file that is too large is not read", async () => {
  await using folder = await folderWith({ big: "" })
  await truncate(join(folder.path, "big"), 256 * MIB + 1)
  const reader = new InputReader(testIO({ cwd: folder.path }))
  await expect(reader.file("big", "--input")).rejects.toThrow(
    new UsageError('--input: "big" is larger than 256 MiB.'),
  )
})

test("a stopped command reads no file", async () => {
  await using folder = await folderWith({ "a.txt": "a" })
  const reader = new InputReader(testIO({ cwd: folder.path, signal: AbortSignal.abort() }))
  await expect(reader.file("a.txt", "--input")).rejects.toThrow('cannot read "a.txt"')
})

test("stdin is taken in text and bytes, and only once", async () => {
  const reader = new InputReader(testIO({ stdin: chunks("é", new Uint8Array([0x21])) }))
  expect(textOf(await reader.stdin("--input"), "--input")).toBe("é!")
  await expect(reader.stdin("a=@-")).rejects.toThrow(
    new UsageError("a=@-: stdin was read for --input already."),
  )
})

test("stdin without an end is given up", async () => {
  const chunk = new Uint8Array(128 * MIB)
  const reader = new InputReader(testIO({ stdin: chunks(chunk, chunk, "x") }))
  await expect(reader.stdin("--input")).rejects.toThrow("--input: stdin is larger than 256 MiB.")
})

test("textOf refuses bytes that are not text, and drops a byte order mark", () => {
  expect(textOf(new Uint8Array([0xef, 0xbb, 0xbf, 0x61]), "x")).toBe("a")
  expect(() => textOf(new Uint8Array([0xff, 0xfe]), "x")).toThrow(
    "x: that is not UTF-8 text, and no bytes are taken here.",
  )
})
