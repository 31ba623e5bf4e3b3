import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { exampleText } from "../../sources/openapi/oas-examples.ts"
import { faultsWithLibrary } from "../../typegen/compile.ts"
import { operations, shell, startHub } from "../support/child.ts"
import { run } from "../support/run.ts"
import type { Ran } from "../support/run.ts"

let cwd: string

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "operations-types-"))
  await writeFile(join(cwd, "petstore.json"), exampleText("3.0/json/petstore.json"))
})

afterEach(() => rm(cwd, { recursive: true, force: true }))

const PETS = ["types", "--openapi", "petstore.json"]

function types(...more: string[]): Promise<Ran> {
  return run([...PETS, ...more], { cwd })
}

function read(file: string): Promise<string> {
  return readFile(join(cwd, file), "utf8")
}

describe("operations types", () => {
  test("prints the types of every operation, and nothing else, on standard output", async () => {
    const { code, stdout, stderr } = await types()

    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    expect(stdout).toContain('    getPetById: {\n      type: "query"\n')
    expect(stdout.endsWith("}\n")).toBe(true)
  })

  test("writes a file, folders included, and says so on standard error", async () => {
    const ran = await types("-o", "src/generated/operations.d.ts")

    expect(ran).toEqual({
      code: 0,
      stdout: "",
      stderr: "Wrote src/generated/operations.d.ts: 20 operations.\n",
    })
    expect(await read("src/generated/operations.d.ts")).toBe((await types()).stdout)
  })

  test("leaves a file alone that is up to date", async () => {
    await types("-o", "operations.d.ts")
    const before = await stat(join(cwd, "operations.d.ts"))
    const { stderr } = await types("-o", "operations.d.ts")

    expect(stderr).toBe("operations.d.ts is up to date: 20 operations.\n")
    const after = await stat(join(cwd, "operations.d.ts"))
    expect([after.mtimeMs, after.ino]).toEqual([before.mtimeMs, before.ino])
  })

  test("says nothing but errors under --quiet", async () => {
    expect(await types("-o", "operations.d.ts", "--quiet")).toEqual({
      code: 0,
      stdout: "",
      stderr: "",
    })
  })

  test("leaves descriptions out under --bare", async () => {
    expect((await types()).stdout).toContain("/** ID of pet to return */")
    expect((await types("--bare")).stdout).not.toContain("ID of pet to return")
  })

  test("prints one JSON value under --json", async () => {
    const { stdout } = await types("--json")
    expect(JSON.parse(stdout)).toEqual({ text: (await types()).stdout, operations: 20 })

    const written = JSON.parse((await types("--json", "-o", "operations.d.ts")).stdout) as object
    expect(written).toMatchObject({
      file: "operations.d.ts",
      operations: 20,
      isUpToDate: true,
      removed: [],
    })
    expect(written).toHaveProperty("added.length", 20)
  })

  test.each([
    [["--check"], "--check compares with a file: give it with -o."],
    [["-o", ""], "-o takes a file."],
    [["-o", "."], '"." is a folder; -o takes a file.'],
    [["--output"], "--output"],
    [["surplus"], "surplus"],
    [["--nonsense"], "--nonsense"],
  ])("refuses %j", async (more, reason) => {
    const { code, stdout, stderr } = await types(...more)
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" })
    expect(stderr).toContain(reason)
  })

  test("never writes over a file of somebody else", async () => {
    await writeFile(join(cwd, "index.ts"), "export const precious = 1\n")
    const { code, stderr } = await types("-o", "index.ts")

    expect(code).toBe(2)
    expect(stderr).toContain('"index.ts" was not written by this command, and is left as it is.')
    expect(await read("index.ts")).toBe("export const precious = 1\n")
  })

  test("says which file cannot be written, and leaves no draft behind", async () => {
    await writeFile(join(cwd, "file"), "")
    const { code, stderr } = await types("-o", "file/operations.d.ts")

    expect(code).toBe(1)
    expect(stderr).toContain('Could not write "file/operations.d.ts"')
  })

  test("writes nothing while a source fails, except with --partial", async () => {
    const config = {
      sources: { pets: { openapi: "petstore.json" }, lost: { openapi: "lost.json" } },
    }
    await writeFile(join(cwd, "operations.config.json"), JSON.stringify(config))
    const refused = await run(["types", "-o", "operations.d.ts"], { cwd })

    expect(refused).toMatchObject({ code: 1, stdout: "" })
    expect(refused.stderr).toContain('Source "lost" failed:')
    expect(refused.stderr).toContain("--partial")
    await expect(read("operations.d.ts")).rejects.toThrow("ENOENT")

    expect(await run(["types", "-o", "operations.d.ts", "--partial"], { cwd })).toMatchObject({
      code: 0,
    })
    expect(await read("operations.d.ts")).toContain('"pets.getPetById"')
  })

  test("covers operations of a folder, internal ones included", async () => {
    await mkdir(join(cwd, "operations"))
    await writeFile(join(cwd, "operations/add.mjs"), MODULE)
    const internal = MODULE.replace('name: "add"', 'name: "inner", visibility: "internal"')
    await writeFile(join(cwd, "operations/inner.mjs"), internal)
    const { code, stdout, stderr } = await run(["types", "--scan", "operations", "--bare"], { cwd })

    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    expect(stdout).toContain("input: { left: number; right?: number | undefined }")
    expect(stdout).toContain('"math.inner"')
    const use = `import { OperationRegistry } from "@alkdev/operations"
const registry = new OperationRegistry()
export const sum: number = (await registry.execute("math.add", { left: 1 })).data
// @ts-expect-error no text
await registry.execute("math.add", { left: "1" })`
    expect(await faultsWithLibrary({ "operations.ts": stdout, "use.ts": use }, true)).toEqual([])
  })
})

const MODULE = `export default {
  namespace: "math", name: "add", version: "1.0.0", type: "query", description: "Adds.",
  inputSchema: {
    type: "object",
    properties: { left: { type: "number" }, right: { type: "number", default: 1 } },
    required: ["left", "right"],
  },
  outputSchema: { type: "number" },
  accessControl: { requiredScopes: [] },
  handler: ({ left, right }) => left + right,
}
`

describe("operations types --check", () => {
  test("exits 0 for what is up to date, also with other ends of lines", async () => {
    await types("-o", "operations.d.ts")
    const text = await read("operations.d.ts")
    expect((await types("-o", "operations.d.ts", "--check")).code).toBe(0)

    await writeFile(join(cwd, "operations.d.ts"), text.replaceAll("\n", "\r\n"))
    expect((await types("-o", "operations.d.ts", "--check")).code).toBe(0)
  })

  test("exits 1 for what is not, says what changed, and writes nothing", async () => {
    await types("-o", "operations.d.ts")
    const text = await read("operations.d.ts")
    const old = text.replace('"petstore.getPetById":', '"petstore.old":')
    await writeFile(join(cwd, "operations.d.ts"), old)
    const { code, stdout, stderr } = await types("-o", "operations.d.ts", "--check")

    expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
    expect(stderr).toBe(
      "operations.d.ts is out of date: 1 new, 1 gone.\nTo write it, run the same command without --check.\n",
    )
    expect(await read("operations.d.ts")).toBe(old)
    const report = JSON.parse(
      (await types("-o", "operations.d.ts", "--check", "--json")).stdout,
    ) as object
    expect(report).toMatchObject({
      isUpToDate: false,
      added: ["petstore.getPetById"],
      removed: ["petstore.old"],
    })
  })

  test("exits 1 where there is no file", async () => {
    const { code, stderr } = await types("-o", "operations.d.ts", "--check")
    expect(code).toBe(1)
    expect(stderr).toContain("operations.d.ts does not exist.")
  })
})

describe("operations types, as a process", () => {
  test("takes the operations of a hub that runs", async () => {
    await using hub = await startHub()
    const { code, stdout, stderr } = await operations(["types", "--hub", hub.url], { cwd })

    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    expect(stdout).toContain('  "task.create": Routes["task"]["create"]')
    expect(stdout).toContain('priority?: "low" | "high" | undefined')
    expect(stdout).toMatch(/type: "subscription"/)
    expect(await faultsWithLibrary({ "operations.ts": stdout }, true)).toEqual([])
  })

  test("says what is wrong when the hub is not there", async () => {
    const { code, stdout, stderr } = await operations(["types", "--hub", "http://127.0.0.1:9"], {
      cwd,
    })
    expect(stdout).toBe("")
    expect(code).toBe(1)
    expect(stderr).toContain("127.0.0.1:9")
  })

  test("ends quietly when its reader closes the pipe", async () => {
    const line = "operations types --openapi petstore.json | head -n 1"
    const { stdout, stderr } = await shell(line, { cwd })
    expect({ stdout, stderr }).toEqual({ stdout: "/* eslint-disable */\n", stderr: "" })
  })
})
