// Files as inputs and results of `call`, in this process and of a hub in another one.
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { program } from "../../sources/mcp/support/program.ts"
import { root } from "../../support/manifest.ts"
import { operations, shell } from "../support/child.ts"
import { startServe } from "../support/served.ts"
import type { Served } from "../support/served.ts"

let folder: string
let source: string[]
let hub: Served

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "operations-files-"))
  await writeFile(join(folder, "cat.png"), new Uint8Array([1, 2, 3]))
  // Bundled: every process would compile the library otherwise.
  const files = pathToFileURL(program(join(root, "test/serve/http/files/files.ts"))).href
  source = ["--scan", join(folder, "operations")]
  await mkdir(join(folder, "operations"))
  await writeFile(
    join(folder, "operations/files.mjs"),
    `export { download, encoded, sum, upload } from ${JSON.stringify(files)}`,
  )
  hub = await startServe([...source, "--port", "0"])
})

afterAll(async () => {
  await hub[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

describe.each([
  ["in this process", () => ({ more: source, env: {} })],
  ["of a hub", () => ({ more: [] as string[], env: { OPERATIONS_HUB: hub.url } })],
])("operations call with files, %s", (_, where) => {
  const call = async (...args: readonly string[]) => {
    const { more, env } = where()
    return await operations(["call", ...args, ...more], { env, cwd: folder })
  }

  test("sends a file by its path, with its name", async () => {
    for (const given of ["cat.png", "@cat.png"]) {
      const { code, stdout, stderr } = await call("files.upload", "title=T", `file=${given}`)
      expect([code, stderr]).toEqual([0, ""])
      expect(JSON.parse(stdout)).toMatchObject({ file: { name: "cat.png", size: 3 } })
    }
  })

  test("sends stdin as a file, bytes of a file, and a file as base64 text", async () => {
    const { more, env } = where()
    const line = `printf abc | operations call files.upload title=T file=- ${more.join(" ")}`
    const piped = await shell(line, { env, cwd: folder })
    const bytes = await call("files.sum", "bytes=cat.png")
    const text = await call("files.encoded", "text=@cat.png")

    expect(JSON.parse(piped.stdout)).toMatchObject({ file: { size: 3 } })
    expect(bytes.stdout).toBe("6\n")
    expect(text.stdout).toBe("AQID\n")
  })

  test("says which file cannot be read", async () => {
    const { code, stderr } = await call("files.upload", "title=T", "file=dog.png")
    expect(code).toBe(2)
    expect(stderr).toContain('cannot read "dog.png" (there is no such file)')
  })

  test("writes a result to a file or a pipe, and as base64 into JSON", async () => {
    const saved = await call("files.download", "length=300000", "--output", "out.bin")
    const json = await call("files.download", "length=3", "name=n", "--json")

    expect([saved.code, saved.stdout]).toEqual([0, ""])
    expect(saved.stderr).toContain("Wrote 300.0 kB to")
    expect((await readFile(join(folder, "out.bin"))).length).toBe(300_000)
    expect([json.code, json.stderr]).toEqual([0, ""])
    expect(JSON.parse(json.stdout)).toMatchObject({ data: "BwcH", binary: { "": { name: "n" } } })
    const { more, env } = where()
    const line = `operations call files.download length=70000 ${more.join(" ")} > piped.bin`
    expect(await shell(line, { env, cwd: folder })).toMatchObject({ code: 0, stderr: "" })
    expect((await readFile(join(folder, "piped.bin"))).length).toBe(70_000)
  })

  test("shows what would be sent, without the file", async () => {
    const { code, stdout } = await call("files.upload", "title=T", "file=cat.png", "--dry-run")
    expect(code).toBe(0)
    expect(stdout).toMatch(/AQID|multipart\/form-data/)
  })
})
