// @isolated: it changes what the whole process uses.
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest"
import { ConfigError } from "../../../src/config.ts"
import { loadConfig } from "../../../src/hub/config-file/load.ts"
import { loadScript } from "../../../src/hub/config-file/script.ts"
import { importModule } from "../../../src/node/import-module.ts"

// The test runner replaces `import()`: what Node's gives, or throws, is given here word by word.
vi.mock("../../../src/node/import-module.ts", () => ({ importModule: vi.fn() }))

const CANARY = "canary-91-secret"
let folder: string
let path: string

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "operations-script-")))
  path = join(folder, "operations.config.mjs")
})

beforeEach(async () => {
  vi.mocked(importModule).mockReset()
  await writeFile(path, "export default {}\n")
})

afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})

describe("the export of a configuration script", () => {
  const config = { sources: { a: { scan: "." } } }

  test.each([
    ["an object", config],
    ["a function", () => config],
    ["an async function", async () => await Promise.resolve(config)],
    ["CommonJS that was a module", { __esModule: true, default: config }],
  ])("is taken as %s", async (_, exported) => {
    vi.mocked(importModule).mockResolvedValue({ default: exported })

    expect((await loadConfig(path)).sources).toMatchObject([{ name: "a", kind: "scan" }])
    expect(importModule).toHaveBeenCalledExactlyOnceWith(pathToFileURL(path).href)
  })

  test("a function receives the variables and the folder", async () => {
    const write = vi.fn(() => config)
    vi.mocked(importModule).mockResolvedValue({ default: write })

    await loadConfig(path, { env: { A: "1" } })
    await loadConfig(path)

    expect(write.mock.calls).toEqual([
      [{ env: { A: "1" }, baseDir: folder }],
      [{ env: process.env, baseDir: folder }],
    ])
  })

  test.each([
    ["operations.config.mjs", true],
    ["operations.config.ts", false],
    ["operations.config.mts", false],
  ])("is imported anew: %s, fresh: %s", async (name, fresh) => {
    const file = join(folder, name)
    await writeFile(file, "export default {}\n")
    vi.mocked(importModule).mockResolvedValue({ default: config })

    await loadConfig(file, { fresh })

    expect(vi.mocked(importModule).mock.lastCall?.[0]).toMatch(
      /operations\.config\.m?[jt]s\?operations-fresh=\d+$/,
    )
  })

  test.each([
    ["no default", {}],
    ["a default of nothing", { default: undefined }],
    ["an inner default of nothing", { default: { __esModule: true } }],
    ["no module at all", null],
  ])("must be there: %s", async (_, module) => {
    vi.mocked(importModule).mockResolvedValue(module)

    const error = await failureOf()

    expect(error.message).toContain("The file has no default export. Write: export default")
    expect(error.file).toBe(path)
  })

  test("is validated as any configuration, and mistakes are located in the text", async () => {
    await writeFile(path, `export default {\n  sources: {\n    a: { opanapi: "x" },\n  },\n}\n`)
    vi.mocked(importModule).mockResolvedValue({ default: { sources: { a: { opanapi: "x" } } } })

    expect((await failureOf()).message).toContain(`:3:10: "sources.a.opanapi" is not`)
  })
})

describe("a configuration script that fails", () => {
  test.each([
    ["Error", new Error("no luck"), "could not be run: no luck."],
    ["question", new Error("Where is it?"), "could not be run: Where is it?"],
    ["first line only", new Error(`one\n${CANARY}`), "could not be run: one."],
    ["text", "no luck", "could not be run: no luck."],
    ["undefined", undefined, "could not be run: undefined."],
    ["no message", new Error(""), "could not be run: ."],
    [
      "package",
      new Error("Cannot find package '@a/b' imported from /x.mjs"),
      "could not be run: Cannot find package '@a/b' imported from /x.mjs. Install it: npm install @a/b",
    ],
    [
      "syntax",
      new SyntaxError(`Unexpected string "${CANARY}" or '${CANARY}', not "}" nor ''`),
      `is not sound: unexpected string … or …, not "}" nor ''.`,
    ],
    [
      "transform",
      transformError(`Transform failed\n/x.ts:1:2: ERROR: Expected "}" but found "${CANARY}"`),
      `is not sound: expected "}" but found ….`,
    ],
    ["transform, no reason", transformError(CANARY), "is not sound: it cannot be read."],
  ])("says why, and shows nothing of the file: %s", async (_, thrown, message) => {
    vi.mocked(importModule).mockRejectedValue(thrown)

    const { faults, ...error } = await failureOf()

    expect(faults).toMatchObject([{ path: "", message: `The file ${message}` }])
    expect(JSON.stringify([faults, error])).not.toContain(CANARY)
  })

  test("hides variables with names of secrets", async () => {
    vi.mocked(importModule).mockResolvedValue({
      default: ({ env }: { env: Record<string, string> }) => {
        throw new Error(`refused ${env["API_TOKEN"]} for ${env["USER_NAME"]}`)
      },
    })

    const error = await failureOf({
      API_TOKEN: CANARY,
      USER_NAME: "somebody",
      DB_PASSWORD: undefined,
    })

    expect(error.message).toContain("could not be run: refused ")
    expect(error.message).toContain("somebody")
    expect(error.message).not.toContain(CANARY)
  })

  test("rethrows a ConfigError unchanged", async () => {
    const own = new ConfigError([{ path: "a", message: "is mine." }])
    vi.mocked(importModule).mockResolvedValue({ default: () => Promise.reject(own) })

    expect(await failureOf()).toBe(own)
  })
})

describe("the place of a configuration script's failure", () => {
  test.each([
    ["line and column", (file: string) => `at ${file}:7:9`, { line: 7, column: 9 }],
    ["line", (file: string) => `${file}:7\nx`, { line: 7 }],
    ["address", (file: string) => `at ${pathToFileURL(file).href}:3:4`, { line: 3, column: 4 }],
    [
      "marked address",
      (file: string) => `at ${pathToFileURL(file).href}?operations-fresh=12:3:4`,
      { line: 3, column: 4 },
    ],
  ])("is read from the stack: %s", async (_, stack, place) => {
    const error = new Error("no luck")
    error.stack = stack(path)
    vi.mocked(importModule).mockRejectedValue(error)

    expect((await failureOf()).faults).toEqual([
      { path: "", message: "The file could not be run: no luck.", ...place },
    ])
  })

  test.each([
    ["no number", (file: string) => `at ${file}:x`],
    ["another file", () => "at /else.mjs:1:1"],
    ["no stack", () => undefined],
  ])("is left out when there is none: %s", async (_, stack) => {
    const error = new Error("no luck")
    Object.defineProperty(error, "stack", { value: stack(path) })
    vi.mocked(importModule).mockRejectedValue(error)

    expect((await failureOf()).faults).toEqual([
      { path: "", message: "The file could not be run: no luck." },
    ])
  })

  test("comes from Node for a syntax error in JavaScript", async () => {
    await writeFile(path, "export default {\n  a: 1,\n  b: : 2,\n}\n")
    vi.mocked(importModule).mockRejectedValue(new SyntaxError("Unexpected token ':'"))

    expect((await failureOf()).faults).toEqual([
      { path: "", message: "The file is not sound: unexpected token ':'.", line: 3 },
    ])
  })

  test("is omitted when Node finds no mistake", async () => {
    vi.mocked(importModule).mockRejectedValue(new SyntaxError("Odd"))

    expect((await failureOf()).faults).toEqual([
      { path: "", message: "The file is not sound: odd." },
    ])
  })

  test.each([
    ["package", "Cannot find package 'none' imported from x", `import "none"`, 2],
    ["module", "Cannot find module '/a/b/none.mjs' imported from x", `import "./none.mjs"`, 2],
    ["Windows", String.raw`Cannot find module 'C:\a\none.cjs'`, `require("./none.cjs")`, 2],
    [
      "in what it imports",
      "Cannot find package 'other' imported from x",
      `import "none"`,
      undefined,
    ],
    ["not an import", "Cannot find package 'none' imported from x", `"none"`, undefined],
  ])("is the line that imports what is missing: %s", async (_, message, code, line) => {
    await writeFile(path, `// none, other\n${code}\nexport default {}\n`)
    vi.mocked(importModule).mockRejectedValue(new Error(message))

    expect((await failureOf()).faults[0]?.line).toBe(line)
  })

  test("is omitted when the file was deleted meanwhile", async () => {
    vi.mocked(importModule).mockRejectedValue(new Error("Cannot find module './gone.mjs'"))
    const gone = join(folder, "gone.mjs")

    await expect(
      loadScript(gone, "gone.mjs", { env: {}, baseDir: folder }, false),
    ).rejects.toMatchObject({
      faults: [
        { path: "", message: "The file could not be run: Cannot find module './gone.mjs'." },
      ],
    })
  })
})

describe("a configuration that is not a script", () => {
  test("is shown relative to the working folder when it is inside", async () => {
    const missing = await failureOf({}, join("test", "none", "operations.config.json"))

    expect(missing.file).toBe(join("test", "none", "operations.config.json"))
    expect((await failureOf({}, ".")).file).toBe(process.cwd())
  })

  test("cannot be below a file", async () => {
    expect((await failureOf({}, join(path, "a.json"))).message).toContain("does not exist")
  })

  test("reports the code of any other failure", async () => {
    const long = join(folder, `${"a".repeat(300)}.json`)

    expect((await failureOf({}, long)).message).toContain("cannot be read (ENAMETOOLONG).")
  })

  test("is JSON when it has no extension", async () => {
    const file = join(folder, "settings")
    await writeFile(file, `{ "sources": { "a": { "scan": "." } } }`)

    expect((await loadConfig(file)).sources).toMatchObject([{ name: "a" }])
  })
})

function transformError(message: string): Error {
  return Object.assign(new Error(message), { name: "TransformError" })
}

async function failureOf(
  env: Record<string, string | undefined> = {},
  file: string = path,
): Promise<ConfigError> {
  const thrown: unknown = await loadConfig(file, { env }).then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(thrown instanceof ConfigError)) throw new Error("did not fail as it should")
  return thrown
}
