import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { rejection } from "../../../support/operations.ts"
import { real } from "../support/real.ts"
import { FILESYSTEM, metaOf, temporaryFolder, textOf, use } from "./support.ts"
import type { UsedServer } from "./support.ts"

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

const folder = temporaryFolder()
const at = (name: string): string => join(folder.path, name)
let files: UsedServer

beforeAll(async () => {
  files = await use("files", real(FILESYSTEM, folder.path))
})

afterAll(async () => {
  await files[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

test("files are written, edited, moved and read", async () => {
  await files.call("create_directory", { path: at("notes") })
  await files.call("write_file", { path: at("notes/a.txt"), content: "one\ntwo\nthree\n" })
  const edits = [{ oldText: "two", newText: "2" }]
  const edited = await files.call("edit_file", { path: at("notes/a.txt"), edits })
  await files.call("move_file", { source: at("notes/a.txt"), destination: at("notes/b.txt") })

  expect(textOf(edited)).toContain("+2")
  expect(readFileSync(at("notes/b.txt"), "utf8")).toBe("one\n2\nthree\n")
  expect((await files.call("read_text_file", { path: at("notes/b.txt"), head: 2 })).data).toEqual({
    content: "one\n2",
  })
  const paths = [at("notes/b.txt"), at("notes/none.txt")]
  expect(textOf(await files.call("read_multiple_files", { paths }))).toContain("ENOENT")
})

test("folders are listed, searched and described", async () => {
  writeFileSync(at("found.md"), "here")

  expect(textOf(await files.call("list_directory", { path: at("") }))).toContain("[FILE] found.md")
  expect(textOf(await files.call("list_directory_with_sizes", { path: at("") }))).toContain("4 B")
  expect(textOf(await files.call("directory_tree", { path: at("") }))).toContain('"found.md"')
  const search = { path: at(""), pattern: "*.md" }
  expect((await files.call("search_files", search)).data).toEqual({ content: at("found.md") })
  expect(textOf(await files.call("get_file_info", { path: at("found.md") }))).toContain("size: 4")
  expect(textOf(await files.call("list_allowed_directories"))).toContain(folder.path)
})

test.each([
  ["pixel.png", PIXEL, { type: "image", data: PIXEL, mimeType: "image/png" }],
  ["beep.wav", "UklGRg==", { type: "audio", data: "UklGRg==", mimeType: "audio/wav" }],
  ["raw.bin", "AAEC", { type: "resource", resource: { blob: "AAEC" } }],
])("%s is read as what it is", async (name, bytes, block) => {
  writeFileSync(at(name), Buffer.from(bytes, "base64"))

  const result = await files.call("read_media_file", { path: at(name) })

  expect(metaOf(result).content).toMatchObject([block])
})

test("a file outside is a failure that is reported, not thrown", async () => {
  const result = await files.call("read_text_file", { path: "/etc/passwd" })

  expect(metaOf(result).isError).toBe(true)
  expect(textOf(result)).toContain("Access denied")
  const missing = await files.call("read_text_file", { path: at("missing.txt") })
  expect(metaOf(missing).isError).toBe(true)
  expect(await rejection(files.call("read_text_file", { path: 7 }))).toMatchObject({
    code: "VALIDATION_ERROR",
  })
})

test("a file of 20 MB arrives whole, beside small ones", async () => {
  const content = "0123456789".repeat(2_000_000)
  writeFileSync(at("large.txt"), content)
  writeFileSync(at("small.txt"), "small")

  const [large, small] = await Promise.all([
    files.call("read_text_file", { path: at("large.txt") }),
    files.call("read_text_file", { path: at("small.txt") }),
  ])

  expect((large.data as { content: string }).content === content).toBe(true)
  expect(small.data).toEqual({ content: "small" })
})

test("a file that is larger than what is allowed ends the call, and the next one works", async () => {
  writeFileSync(at("large.txt"), "x".repeat(2_000_000))
  writeFileSync(at("small.txt"), "small")
  await using small = await use("files", {
    ...real(FILESYSTEM, folder.path),
    maxResultBytes: 1_000_000,
  })

  const error = await rejection(small.call("read_text_file", { path: at("large.txt") }))

  expect(error).toMatchObject({
    code: "PAYLOAD_TOO_LARGE",
    message: expect.stringContaining("maxResultBytes"),
  })
  expect((await small.call("read_text_file", { path: at("small.txt") })).data).toEqual({
    content: "small",
  })
})

test("folders of the client take the place of those on the command line", async () => {
  using other = temporaryFolder()
  writeFileSync(join(other.path, "there.txt"), "there")
  await using server = await use("files", {
    ...real(FILESYSTEM, folder.path),
    roots: [{ uri: `file://${other.path}` }],
  })

  await expect
    .poll(async () => textOf(await server.call("list_allowed_directories")))
    .toContain(other.path)

  const { data } = await server.call("read_text_file", { path: join(other.path, "there.txt") })
  expect(data).toEqual({ content: "there" })
})
