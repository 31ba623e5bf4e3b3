// @isolated: it adds a kind of source to the lists of kinds.
// All of the kind is in the folder `example`. Beside it, a new kind needs its place in three lists, and nothing else.
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Compile } from "typebox/schema"
import { describe, expect, test, vi } from "vitest"
import { configSchema, resolveConfig } from "../../../src/config.ts"
import { createHub } from "../../../src/hub/create-hub.ts"
import { loadConfig } from "../../../src/hub/config-file/load.ts"
import { silentLogger } from "../../../src/internal/logger.ts"
import { rejection } from "../../support/operations.ts"
import { run } from "../../cli/support/run.ts"
import { folder } from "../support.ts"

vi.mock(import("../../../src/config/kinds/index.ts"), async (original) => {
  const { example } = await import("./example/config.ts")
  const { SOURCES } = await original()
  return { SOURCES: { ...SOURCES, example } }
})
vi.mock(import("../../../src/hub/sources/index.ts"), async (original) => {
  const { example } = await import("./example/hub.ts")
  const { HUB_SOURCES } = await original()
  return { HUB_SOURCES: { ...HUB_SOURCES, example } }
})
vi.mock(import("../../../src/cli/sources/index.ts"), async (original) => {
  const { example } = await import("./example/cli.ts")
  const { COMMAND_SOURCES } = await original()
  // An MCP server may have any command: kinds before it are asked first.
  return { COMMAND_SOURCES: { example, ...COMMAND_SOURCES } }
})

const CONFIG = `sources:
  polite:
    example: \${env:GREETING}
    nobody: you
    times: 3
`

describe("a kind of source in the lists of kinds", () => {
  test("has valid configurations, with the options of every source", () => {
    const source = { example: "Hello", include: "greet", disabled: true }
    const { sources, warnings } = resolveConfig({ sources: [source] }, { baseDir: "/" })

    expect(sources).toMatchObject([{ name: "hello", kind: "example", disabled: true }])
    expect(warnings).toEqual([])
  })

  test("has mistakes reported with their places", async () => {
    const dir = folder({
      "operations.config.yaml": `sources:
  a:
    example: Hello
    nobody: you
    tmes: 3
  b:
    example: 7
  c:
    example: Hello
    times: 3
  d:
    greeting: Hello
  e:
    example: \${vault:x}
    scan: ./operations
  f:
    scan: ./operations
    words: {}
  g:
    example: \${vault:x}
example: Hello
`,
    })
    const { message } = (await rejection(loadConfig(join(dir, "operations.config.yaml")))) as Error

    expect(message.replaceAll(/^.*operations\.config\.yaml:/gm, "").split("\n")).toEqual([
      '5:5: "sources.a.tmes" is not known. Did you mean "times"?',
      '7:5: "sources.b.example" must be a string that is not empty, got a number.',
      '10:5: "sources.c.times" needs "nobody".',
      '12:5: "sources.d.greeting" is not known. Write "example".',
      '13:3: "sources.e" has "scan" and "example". Make each a source of its own.',
      '18:5: "sources.f.words" is not known. It is for "example" sources.',
      expect.stringMatching(
        /^20:5: "sources\.g\.example" uses \$\{vault:…\}, which is not known\./,
      ),
      '21:1: "example" is not known. Write a source: { "sources": { "greetings": { "example": … } } }.',
    ])
  })

  test("warns about a literal secret", () => {
    const source = { example: "Hello", token: "a-literal" }
    const { warnings } = resolveConfig({ sources: { a: source } }, { baseDir: "/" })

    expect(warnings).toMatchObject([
      { path: "sources.a.token", message: expect.stringContaining("contains a literal secret") },
    ])
  })

  test("is in the JSON Schema for editors", () => {
    const check = Compile(configSchema)

    expect(check.Check({ sources: { a: { example: "Hello", times: 3 } } })).toBe(true)
    expect(check.Check({ sources: { a: { example: "Hello", times: "3" } } })).toBe(false)
    expect(JSON.stringify(configSchema)).toContain("Greetings in one language.")
  })

  test("is opened by a hub, with its references, and called", async () => {
    const dir = folder({ "operations.config.yaml": CONFIG })
    const config = await loadConfig(join(dir, "operations.config.yaml"))
    await using hub = createHub(config, { env: { GREETING: "Hello" }, logger: silentLogger })
    await hub.ready()

    expect(hub.sources).toMatchObject([
      { name: "polite", kind: "example", origin: "the word ${env:GREETING}", state: "ready" },
    ])
    expect((await hub.registry.trusted.execute("polite.greet", {})).data).toBe("Hello you!!!")
    expect(hub.report("polite")).toMatchObject({ kept: 1 })
  })

  test("fails with the name of a missing variable", async () => {
    const config = resolveConfig(
      { sources: { polite: { example: "${env:GREETING}" } } },
      { baseDir: "/" },
    )
    await using hub = createHub(config, { env: {}, logger: silentLogger, retry: false })
    await hub.ready()

    expect(hub.sources[0]?.reason).toContain('Source "polite", example: the variable "GREETING"')
  })

  test("is an option of the command line", async () => {
    const { stdout: help } = await run(["list", "--help"])
    const { stdout: list } = await run(["list", "--example", "Hello"])
    const { stdout: called } = await run(["call", "hello.greet", "--example", "Hello"])
    const { stderr: empty } = await run(["list", "--example", " "])

    expect(help).toContain("--example <word>")
    expect(list).toContain("hello.greet")
    expect(called).toContain("Hello nobody!")
    expect(empty).toContain("--example needs a value that is not empty.")
  })

  test("is shown by doctor, with its credentials and packages", async () => {
    const cwd = folder({ "operations.config.yaml": CONFIG })
    const { stdout } = await run(["doctor"], { cwd, env: { GREETING: "Hello" } })

    expect(stdout).toContain("✓ polite (example the word ${env:GREETING})")
    expect(stdout).toContain("✓ GREETING (sources.polite.example)")
    expect(stdout).toContain('Source "polite" needs the package "package-of-greetings"')
  })

  test("is shown by trust", async () => {
    const cwd = folder({ "operations.config.yaml": CONFIG })
    const { stdout } = await run(["trust", "--dry-run"], { cwd })

    expect(stdout).toContain('"polite" greets with ${env:GREETING}; sends it ${env:GREETING}')
  })

  test("is recognised by import", async () => {
    const cwd = folder({ "operations.config.yaml": CONFIG })
    await run(["import", "Hello", "--force"], { cwd, env: { GREETING: "Hello" } })

    expect(readFileSync(join(cwd, "operations.config.yaml"), "utf8")).toContain(
      "hello:\n    example: Hello",
    )
  })
})
