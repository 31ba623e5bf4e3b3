import { mkdtemp, mkdir, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { type as arktype } from "arktype"
import { Type } from "typebox"
import { afterEach, describe, expect, test, vi } from "vitest"
import { z } from "zod"
import { defineOperation } from "../../../src/core/define.ts"
import { silentLogger } from "../../../src/internal/logger.ts"
import { nodeFS } from "../../../src/node/fs.ts"
import { OperationRegistry } from "../../../src/engine/registry.ts"
import {
  scanDefinitions,
  scanOperations,
  type ScannerFS,
  type ScanProblem,
} from "../../../src/sources/scan/scanner.ts"
import { memoryFS } from "../../support/memory-fs.ts"

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const spec = (name: string) => ({
  namespace: "task",
  name,
  version: "1.0.0",
  type: "query" as const,
  description: `Runs ${name}`,
  inputSchema: Type.Object({}),
  outputSchema: Type.String(),
  accessControl: { requiredScopes: [] },
})

const operation = (name: string) => defineOperation({ ...spec(name), handler: () => name })

/** Scans and collects what was skipped. */
async function collect(
  fs: ScannerFS,
  scan: typeof scanOperations | typeof scanDefinitions = scanDefinitions,
  dir = "ops",
): Promise<{ names: string[]; problems: ScanProblem[] }> {
  const problems: ScanProblem[] = []
  const found = await scan(dir, fs, { onProblem: (problem) => problems.push(problem) })
  return { names: found.map(({ name }) => name), problems }
}

describe("what is found", () => {
  test("default exports, lists of them, and what defineOperation made, in the order of the files", async () => {
    const fs = memoryFS({
      ops: {
        "z.ts": { module: { default: operation("z") } },
        "a.mjs": { module: { default: [operation("a1"), operation("a2")] } },
        deep: {
          er: { "b.js": { module: { remove: operation("b2"), create: operation("b1") } } },
        },
      },
    })

    expect(await collect(fs)).toEqual({ names: ["a1", "a2", "b2", "b1", "z"], problems: [] })
  })

  test("an object that is exported twice, or gathered by another module, counts once", async () => {
    const create = operation("create")
    const fs = memoryFS({
      ops: {
        "create.ts": { module: { default: create, create } },
        "index.ts": { module: { create } },
      },
    })

    expect(await collect(fs)).toEqual({ names: ["create"], problems: [] })
  })

  test("modules that are helpers are passed over in silence", async () => {
    const fs = memoryFS({
      ops: {
        "helpers.ts": { module: { add: () => 1, limit: 5, spec: spec("x"), nothing: undefined } },
        "empty.ts": { module: {} },
        "absent.ts": { module: { default: undefined } },
        "odd.ts": { module: 5 },
        "void.ts": { module: null },
      },
    })

    expect(await collect(fs)).toEqual({ names: [], problems: [] })
  })

  test("dependencies, dotfiles, declarations, tests and other files are not imported", async () => {
    const evil = { module: { default: operation("evil") } }
    const fs = memoryFS({
      ops: {
        node_modules: { "x.js": evil },
        ".hidden": { "x.js": evil },
        ".x.js": evil,
        "x.d.ts": evil,
        "x.d.mts": evil,
        "x.test.ts": evil,
        "x.spec.js": evil,
        "x.cjs": evil,
        "x.json": evil,
        js: evil,
        "good.js": { module: { default: operation("good") } },
      },
    })

    expect(await collect(fs)).toEqual({ names: ["good"], problems: [] })
    expect(fs.imported).toEqual(["file:///app/ops/good.js"])
  })

  test("extensions can be chosen", async () => {
    const fs = memoryFS({
      ops: {
        "a.op.js": { module: { default: operation("a") } },
        "b.js": { module: { default: operation("b") } },
      },
    })

    const found = await scanDefinitions("ops", fs, { extensions: [".op.js"] })

    expect(found.map(({ name }) => name)).toEqual(["a"])
  })

  test("schemas of other libraries are taken as they are", async () => {
    const inputSchema = arktype({ "id?": "string" })
    const outputSchema = z.string()
    const fs = memoryFS({
      ops: { "a.ts": { module: { default: { ...spec("a"), inputSchema, outputSchema } } } },
    })

    const [found] = await scanOperations("ops", fs)

    expect(found?.inputSchema).toBe(inputSchema)
    expect(found?.outputSchema).toBe(outputSchema)
  })

  test("an absolute folder, one with a slash at its end, and the working folder", async () => {
    const fs = memoryFS({ ops: { "a.ts": { module: { default: operation("a") } } } })

    await expect(collect(fs, scanDefinitions, "/app/ops")).resolves.toMatchObject({ names: ["a"] })
    await expect(collect(fs, scanDefinitions, "ops/")).resolves.toMatchObject({ names: ["a"] })
    await expect(collect(fs, scanDefinitions, ".")).resolves.toMatchObject({ names: ["a"] })
    expect(new Set(fs.imported)).toEqual(new Set(["file:///app/ops/a.ts"]))
  })
})

describe("scanOperations and scanDefinitions", () => {
  const fs = memoryFS({
    ops: {
      "spec.ts": { module: { default: spec("spec") } },
      "both.ts": {
        module: { default: { ...spec("both"), handler: () => "x", composes: ["a.*"] } },
      },
    },
  })

  test("scanOperations gives specs without handlers and policies", async () => {
    const found = await scanOperations("ops", fs)

    expect(found.map(({ name }) => name)).toEqual(["both", "spec"])
    expect(found[0]).not.toHaveProperty("handler")
    expect(found[0]).not.toHaveProperty("composes")
    expect(found[1]).toEqual(spec("spec"))
  })

  test("scanDefinitions gives what registerAll takes, and reports what has no handler", async () => {
    const problems: ScanProblem[] = []
    await using registry = new OperationRegistry()

    const found = await scanDefinitions("ops", fs, { onProblem: (p) => problems.push(p) })
    registry.registerAll(found)

    await expect(registry.execute("task.both", {})).resolves.toMatchObject({ data: "x" })
    expect(problems).toEqual([
      {
        file: "ops/spec.ts",
        reason:
          "the default export has no handler; add one, or scan for specs with scanOperations() and use registerHandler()",
      },
    ])
  })

  test("a spec that was scanned gets its handler afterwards", async () => {
    await using registry = new OperationRegistry()

    for (const found of await scanOperations("ops", fs)) registry.registerSpec(found)
    registry.registerHandler("task.spec", () => "late")

    await expect(registry.execute("task.spec", {})).resolves.toMatchObject({ data: "late" })
  })
})

describe("what is skipped and reported", () => {
  test("a default export that is no operation, with every fault", async () => {
    const { outputSchema: _, ...lacking } = spec("bad name")
    const fs = memoryFS({
      ops: { "a.ts": { module: { default: { ...lacking, type: "read", version: 1 } } } },
    })

    const { names, problems } = await collect(fs, scanOperations)

    expect(names).toEqual([])
    expect(problems).toHaveLength(1)
    expect(problems[0]?.file).toBe("ops/a.ts")
    for (const path of ["/name", "/type", "/version", "/outputSchema"]) {
      expect(problems[0]?.reason).toContain(path)
    }
  })

  test.each([
    ["a function", () => 1, "got a function"],
    ["text", "task", `got "task"`],
    ["null", null, "got null"],
  ])("a default export that is %s", async (_, value, message) => {
    const { problems } = await collect(
      memoryFS({ ops: { "a.ts": { module: { default: value } } } }),
    )

    expect(problems).toEqual([{ file: "ops/a.ts", reason: expect.stringContaining(message) }])
  })

  test("a member of a list is named by its place, and the others are taken", async () => {
    const fs = memoryFS({ ops: { "a.ts": { module: { default: [operation("a"), 5, [], {}] } } } })

    const { names, problems } = await collect(fs)

    expect(names).toEqual(["a"])
    expect(problems.map(({ reason }) => reason)).toEqual([
      expect.stringContaining(`the export "default[1]" must be an operation, got 5`),
      expect.stringContaining(`the export "default[2]" must be an operation, got []`),
      expect.stringContaining(`the export "default[3]" is not a valid operation: `),
    ])
  })

  test("an operation whose schema is unsound", async () => {
    const bad = { ...spec("bad"), inputSchema: { $ref: "#/$defs/lost" }, handler: () => 1 }
    const worse = { ...spec("worse"), outputSchema: z.date(), handler: () => 1 }
    const fs = memoryFS({
      ops: { "a.ts": { module: { default: bad } }, "b.ts": { module: { default: worse } } },
    })

    const { names, problems } = await collect(fs)

    expect(names).toEqual([])
    expect(problems.map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/\/inputSchema is not a valid schema.*lost/),
      expect.stringMatching(/\/outputSchema The output of this zod schema/),
    ])
  })

  test("the second operation of an id, with both files", async () => {
    const fs = memoryFS({
      ops: {
        "a.js": { module: { default: operation("same") } },
        "a.ts": { module: { default: operation("same"), again: operation("same") } },
        "b.ts": { module: { one: operation("own"), two: operation("own") } },
      },
    })

    const { names, problems } = await collect(fs)

    expect(names).toEqual(["same", "own"])
    expect(problems).toEqual([
      {
        file: "ops/a.ts",
        reason: `the default export is "task.same", which ops/a.js has already; rename or remove one of them`,
      },
      { file: "ops/a.ts", reason: expect.stringContaining(`the export "again" is "task.same"`) },
      { file: "ops/b.ts", reason: expect.stringContaining("which this file has already") },
    ])
  })

  test("modules that throw, reject, or are no modules; the others are loaded", async () => {
    const broken = new Error("cannot find the database")
    const fs = memoryFS({
      ops: {
        "a.ts": {
          module: () => {
            throw broken
          },
        },
        "b.ts": { module: () => Promise.reject(new SyntaxError("Unexpected token")) },
        "c.ts": { module: { default: operation("c") } },
      },
    })

    const { names, problems } = await collect(fs)

    expect(names).toEqual(["c"])
    expect(problems).toEqual([
      {
        file: "ops/a.ts",
        reason: "cannot be loaded: cannot find the database",
        cause: broken,
      },
      {
        file: "ops/b.ts",
        reason: "cannot be loaded: Unexpected token",
        cause: expect.any(SyntaxError),
      },
    ])
  })

  test("exports and operations that throw when they are read", async () => {
    const hostile = (): never => {
      throw new Error("no")
    }
    const fs = memoryFS({
      ops: {
        "a.ts": { module: new Proxy({}, { ownKeys: hostile }) },
        "b.ts": { module: { default: new Proxy({}, { get: hostile }) } },
        "c.ts": { module: { helper: new Proxy({}, { has: hostile }) } },
      },
    })

    const { problems } = await collect(fs)

    expect(problems).toEqual([
      { file: "ops/a.ts", reason: "its exports cannot be read: no", cause: expect.any(Error) },
      { file: "ops/b.ts", reason: "the default export cannot be read: no" },
      { file: "ops/c.ts", reason: "its exports cannot be read: no", cause: expect.any(Error) },
    ])
  })

  test("without onProblem it is a warning in the log", async () => {
    const warn = vi.fn()
    const fs = memoryFS({ ops: { "a.ts": { module: { default: 5 } } } })

    await scanOperations("ops", fs, { logger: { ...silentLogger, warn } })

    expect(warn).toHaveBeenCalledExactlyOnceWith("Skipped a file of the scanned folder", {
      file: "ops/a.ts",
      reason: expect.stringContaining("must be an operation"),
    })
  })

  test("without a logger either it is a warning on the console", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {})

    await scanOperations("ops", memoryFS({ ops: { "a.ts": { module: { default: 5 } } } }))

    expect(warn).toHaveBeenCalledOnce()
  })

  test("what onProblem throws ends the scan", async () => {
    const fs = memoryFS({ ops: { "a.ts": { module: { default: 5 } } } })
    const strict = ({ file, reason }: ScanProblem): never => {
      throw new Error(`${file} ${reason}`)
    }

    await expect(scanOperations("ops", fs, { onProblem: strict })).rejects.toThrow("ops/a.ts")
  })
})

describe("waiting", () => {
  test("a module that never finishes is given up after importTimeout, and leaves no timer", async () => {
    vi.useFakeTimers()
    const fs = memoryFS({
      ops: {
        "a.ts": { module: () => new Promise(() => {}) },
        "b.ts": { module: { default: operation("b") } },
      },
    })
    const scanned = collect(fs)

    await vi.advanceTimersByTimeAsync(4999)
    expect(vi.getTimerCount()).toBe(1)
    await vi.advanceTimersByTimeAsync(1)

    expect(await scanned).toEqual({
      names: ["b"],
      problems: [
        {
          file: "ops/a.ts",
          reason: expect.stringContaining("did not finish loading within 5000 ms"),
        },
      ],
    })
    expect(vi.getTimerCount()).toBe(0)
  })

  test("a module that fails after it was given up is nobody's unhandled rejection", async () => {
    vi.useFakeTimers()
    const unhandled = vi.fn()
    process.on("unhandledRejection", unhandled)
    const late = deferred()
    const fs = memoryFS({ ops: { "a.ts": { module: () => late.promise } } })
    const scanned = scanOperations("ops", fs, { importTimeout: 10, onProblem: () => {} })

    await vi.advanceTimersByTimeAsync(10)
    expect(await scanned).toEqual([])
    late.reject(new Error("late"))
    vi.useRealTimers()
    await new Promise((resolve) => setImmediate(resolve))

    expect(unhandled).not.toHaveBeenCalled()
    process.off("unhandledRejection", unhandled)
  })

  test.each([Number.POSITIVE_INFINITY, 2 ** 40])(
    "importTimeout %d sets no timer",
    async (importTimeout) => {
      vi.useFakeTimers()
      const slow = deferred()
      const fs = memoryFS({ ops: { "a.ts": { module: () => slow.promise } } })
      const scanned = scanOperations("ops", fs, { importTimeout })

      await vi.advanceTimersByTimeAsync(1000)
      expect(vi.getTimerCount()).toBe(0)
      slow.resolve({ default: spec("a") })

      expect(await scanned).toHaveLength(1)
    },
  )

  test("only a few modules are loaded at once", async () => {
    let running = 0
    let most = 0
    const slow = async (name: string): Promise<unknown> => {
      most = Math.max(most, ++running)
      await Promise.resolve()
      running--
      return { default: operation(name) }
    }
    const names = Array.from({ length: 40 }, (_, index) => `n${index + 10}`)
    const ops = Object.fromEntries(
      names.map((name) => [`${name}.ts`, { module: () => slow(name) }]),
    )

    expect(await collect(memoryFS({ ops }))).toEqual({ names, problems: [] })
    expect(most).toBeLessThanOrEqual(8)
  })

  test("an aborted signal ends the scan, before it and during it", async () => {
    const controller = new AbortController()
    const fs = memoryFS({
      ops: {
        "a.ts": { module: () => new Promise(() => {}) },
        ...Object.fromEntries(
          Array.from({ length: 9 }, (_, index) => [`b${index}.ts`, { module: {} }]),
        ),
      },
    })
    const { signal } = controller
    vi.useFakeTimers()

    const scanned = scanOperations("ops", fs, { signal })
    setTimeout(() => controller.abort(new Error("enough")), 10)
    const caught = scanned.catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(10)

    expect(await caught).toMatchObject({ code: "ABORTED", cause: new Error("enough") })
    expect(vi.getTimerCount()).toBe(0)
    await expect(scanOperations("ops", fs, { signal })).rejects.toMatchObject({ code: "ABORTED" })
  })

  test("a signal aborted between finding and loading ends the scan", async () => {
    const controller = new AbortController()
    const fs = memoryFS({ ops: { "a.ts": { module: {} } } })
    const cwd = (): string => {
      controller.abort()
      return "/app"
    }

    const scanned = scanOperations("ops", { ...fs, cwd }, { signal: controller.signal })

    await expect(scanned).rejects.toMatchObject({ code: "ABORTED" })
    expect(fs.imported).toEqual([])
  })

  test("listeners on the signal are removed", async () => {
    const { signal } = new AbortController()
    const remove = vi.spyOn(signal, "removeEventListener")
    const add = vi.spyOn(signal, "addEventListener")

    await scanOperations("ops", memoryFS({ ops: { "a.ts": { module: {} } } }), { signal })

    expect(add).toHaveBeenCalledOnce()
    expect(remove).toHaveBeenCalledOnce()
  })
})

describe("links", () => {
  const real = { "a.ts": { module: { default: operation("a") } } }

  test("are followed inside of the folder, each place once", async () => {
    const fs = memoryFS({
      ops: {
        "current.ts": { link: "/app/ops/..data/a.ts" },
        "..data": { link: "/app/ops/..v1" },
        "..v1": real,
        again: { link: "/app/ops/..v1" },
        loop: { link: "/app/ops" },
        deep: { up: { link: "/app/ops/deep" } },
      },
    })

    expect(await collect(fs)).toEqual({ names: ["a"], problems: [] })
    expect(fs.imported).toEqual(["file:///app/ops/..v1/a.ts"])
  })

  test("a folder behind a link is found under the name of the link", async () => {
    const fs = memoryFS({
      ops: { current: { link: "/app/ops/.v1" }, ".v1": { "a.ts": { module: { default: 5 } } } },
    })

    const { problems } = await collect(fs)

    expect(problems).toMatchObject([{ file: "ops/current/a.ts" }])
  })

  test("that lead out of the folder, or nowhere, are reported and not followed", async () => {
    const fs = memoryFS({
      secret: real,
      "ops-too": real,
      ops: {
        "file.ts": { link: "/app/secret/a.ts" },
        folder: { link: "/app/secret" },
        "lost.ts": { link: "/app/nowhere" },
        "sibling.ts": { link: "/app/ops-too/a.ts" },
        "readme.md": { link: "/app/nowhere" },
      },
    })

    const { names, problems } = await collect(fs)

    expect(names).toEqual([])
    expect(fs.imported).toEqual([])
    expect(problems).toEqual([
      { file: "ops/file.ts", reason: expect.stringContaining("leads out of the scanned folder") },
      { file: "ops/folder", reason: expect.stringContaining("leads out of the scanned folder") },
      {
        file: "ops/lost.ts",
        reason: expect.stringContaining("leads nowhere"),
        cause: expect.any(Error),
      },
      {
        file: "ops/sibling.ts",
        reason: expect.stringContaining("leads out of the scanned folder"),
      },
    ])
  })

  test("are not followed where the file system cannot tell where they lead", async () => {
    const fs = memoryFS(
      { ops: { "b.ts": { link: "/app/ops/a.ts" }, ...real } },
      { realpath: false },
    )

    const { names, problems } = await collect(fs)

    expect(names).toEqual(["a"])
    expect(problems).toEqual([
      { file: "ops/b.ts", reason: expect.stringContaining("add realpath() to fs") },
    ])
  })

  test("the scanned folder itself may be one", async () => {
    const fs = memoryFS({
      ops: { link: "/app/v1" },
      v1: { ...real, "b.ts": { link: "/app/v1/a.ts" } },
    })

    expect(await collect(fs)).toEqual({ names: ["a"], problems: [] })
  })
})

describe("folders that cannot be read", () => {
  test.each([scanOperations, scanDefinitions])("%o names the folder", async (scan) => {
    await expect(scan("lost", memoryFS({}))).rejects.toMatchObject({
      name: "CallError",
      code: "EXECUTION_ERROR",
      message: expect.stringMatching(/^The folder "lost" cannot be read: ENOENT.*"\/app"\.$/),
      cause: expect.any(Error),
    })
  })

  test("a file in the place of a folder", async () => {
    await expect(scanOperations("a.ts", memoryFS({ "a.ts": { module: {} } }))).rejects.toThrow(
      `The folder "a.ts" cannot be read`,
    )
  })

  test("a folder further down, and a file system without realpath", async () => {
    const fs = memoryFS({ ops: { deep: {} } }, { realpath: false })
    const guarded: ScannerFS = {
      ...fs,
      readdir(path) {
        if (path === "ops/deep") throw new Error("EACCES")
        return fs.readdir(path)
      },
    }

    await expect(scanOperations("ops", guarded)).rejects.toThrow(
      `The folder "ops/deep" cannot be read: EACCES`,
    )
  })

  test.each([
    ["a promise of a list", () => Promise.resolve([])],
    ["an entry without a name", () => [{ isFile: true }]],
    ["no entry", () => [undefined]],
    ["nothing", () => undefined],
  ])("a readdir that gives %s", async (_, readdir) => {
    const fs = { cwd: () => "/app", readdir } as unknown as ScannerFS

    await expect(scanOperations("ops", fs)).rejects.toThrow(`The folder "ops" cannot be read`)
  })
})

describe("nonsense arguments", () => {
  const fs = memoryFS({ ops: {} })
  const scan = scanOperations as (...args: unknown[]) => Promise<unknown>

  test.each([
    [[undefined, fs], "dir must be the path of a folder, got undefined"],
    [["", fs], `dir must be the path of a folder, got ""`],
    [[new URL("file:///ops"), fs], "dir must be the path of a folder"],
    [["file:///ops", fs], "fileURLToPath()"],
    [["ops"], "fs must have readdir() and cwd()"],
    [["ops", {}], "nodeFS"],
    [["ops", { readdir: () => [] }], "fs must have readdir() and cwd()"],
    [["ops", { ...fs, realpath: "/" }], "fs.realpath must be a function"],
    [["ops", { ...fs, importModule: true }], "fs.importModule must be a function"],
  ])("%# is a TypeError with the cure", async (args, message) => {
    await expect(scan(...args)).rejects.toThrow(TypeError)
    await expect(scan(...args)).rejects.toThrow(`scanOperations(dir, fs, options): `)
    await expect(scan(...args)).rejects.toThrow(message)
  })
})

describe("real folders", () => {
  const module = (name: string, before = ""): string => `${before}
    export default {
      namespace: "real", name: ${JSON.stringify(name)}, version: "1.0.0", type: "query",
      description: "x", inputSchema: {}, outputSchema: {}, accessControl: { requiredScopes: [] },
      handler: () => ${JSON.stringify(name)},
    }`

  test("a module that hangs is reported", async () => {
    await using folder = await temporaryFolder({
      "hangs.mjs": `await new Promise(() => {}); ${module("hangs")}`,
    })
    const problems: ScanProblem[] = []

    const found = await scanDefinitions(folder.path, nodeFS, {
      importTimeout: 50,
      onProblem: (problem) => problems.push(problem),
    })

    expect(found).toEqual([])
    expect(problems).toMatchObject([
      { reason: expect.stringContaining("did not finish loading within 50 ms") },
    ])
  })

  test("modules of every kind and name, throwing ones, and loops of links", async () => {
    await using folder = await temporaryFolder({
      "plain.mjs": module("plain"),
      "script.js": module("script"),
      "typed.ts": module("typed", "const n: number = 1; void n;"),
      "100%41.mjs": module("percent"),
      "with space.mjs": module("space"),
      "grüße-日本-😀.mjs": module("unicode"),
      "throws.mjs": `throw new Error("no database")`,
      "syntax.mjs": `export default {`,
      "helper.mjs": `export const helper = 1`,
      "node_modules/x/index.js": `throw new Error("imported a dependency")`,
      "deep/plain.mjs": module("deep"),
    })
    await symlink(folder.path, join(folder.path, "deep", "loop"))
    await symlink(tmpdir(), join(folder.path, "outside"))
    const problems: ScanProblem[] = []

    const found = await scanDefinitions(folder.path, nodeFS, {
      importTimeout: 60_000,
      onProblem: (problem) => problems.push(problem),
    })

    expect(found.map(({ name }) => name)).toEqual([
      "percent",
      "deep",
      "unicode",
      "plain",
      "script",
      "typed",
      "space",
    ])
    expect(problems.map(({ file }) => file.slice(folder.path.length + 1))).toEqual([
      "outside",
      "syntax.mjs",
      "throws.mjs",
    ])
    await using registry = new OperationRegistry().registerAll(found)
    await expect(registry.execute("real.space", {})).resolves.toMatchObject({ data: "space" })
  })

  test("without importModule the file URL is imported", async () => {
    await using folder = await temporaryFolder({ "plain.mjs": module("plain") })
    const { importModule: _, ...fs } = nodeFS

    expect(await scanDefinitions(folder.path, fs)).toMatchObject([{ name: "plain" }])
  })
})

function deferred(): {
  promise: Promise<unknown>
  resolve: (value: unknown) => void
  reject: (reason: Error) => void
} {
  let resolve!: (value: unknown) => void
  let reject!: (reason: Error) => void
  const promise = new Promise((onValue, onReason) => {
    resolve = onValue
    reject = onReason
  })
  return { promise, resolve, reject }
}

async function temporaryFolder(
  files: Record<string, string>,
): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), "operations-scan-"))
  for (const [name, text] of Object.entries({ "package.json": `{"type":"module"}`, ...files })) {
    await mkdir(dirname(join(path, name)), { recursive: true })
    await writeFile(join(path, name), text)
  }
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}
