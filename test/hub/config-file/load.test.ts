import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { ConfigError } from "../../../src/config.ts"
import { CONFIG_NAMES, findConfig } from "../../../src/hub/config-file/find.ts"
import { loadConfig } from "../../../src/hub/config-file/load.ts"

const CANARY = "canary-58-secret"
let folder: string

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "operations-load-")))
  // The root of a project: nothing above it is looked at.
  await mkdir(join(folder, ".git"))
})

afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})

describe("loadConfig", () => {
  test.each([
    ["operations.config.json", `{ "sources": { "a": { "scan": "." } } }`],
    ["operations.config.jsonc", `\uFEFF{ // mine\n "sources": { "a": { "scan": ".", }, }, }`],
    ["operations.config.yaml", "sources:\n  a: { scan: . }\nserver:\n"],
    ["operations.config.yml", "mcpServers:\n  a:\n    command: x\n    env: { PORT: 8080 }\n"],
  ])("reads %s", async (name, text) => {
    const path = await file(name, text)

    const config = await loadConfig(path)

    expect(config).toMatchObject({ baseDir: folder, file: path, sources: [{ name: "a" }] })
  })

  test.each([
    [".mcp.json", `{ "mcpServers": { "a": { "command": "x" } } }`],
    ["mcp.json", `{ "servers": { "a": { "url": "https://x.y" } }, "inputs": [{ "id": "k" }] }`],
    ["mcp.json", `{ "a": { "command": "x" } }`],
    ["claude_desktop_config.json", `{ "mcpServers": { "a": { "command": "x" } }, "theme": 1 }`],
    ["settings.json", `{ "mcp": { "servers": { "a": { "command": "x" } } }, "editor": {} }`],
    ["opencode.json", `{ "mcp": { "a": { "command": ["x", "y"], "type": "local" } } }`],
  ])("takes servers from an editor's %s", async (name, text) => {
    const { sources } = await loadConfig(await file(name, text))

    expect(sources).toMatchObject([{ name: "a", kind: "mcp" }])
  })

  test.each([
    [
      "a.json",
      `{\n "sources": {\n  "a": { "opanapi": "x" } } }`,
      `:3:10: "sources.a.opanapi" is not`,
    ],
    ["b.json", `{ "mcpServers": {},\n "theme": 1 }`, `:2:2: "theme" is not known`],
    ["mcp.json", `{ "servers": { "b": { "command": "x" },\n  "a": { "comand": "x" } } }`, ":2:10:"],
    ["a.yaml", "sources:\n  a:\n    scan: .\n    includ: x\n", `:4:5: "sources.a.includ" is not`],
    ["b.yaml", `sources:\n  a: "${CANARY}\n  b: 1`, ":3:"],
    ["c.json", `{ "a": "${CANARY}`, ":1:8: The file has a text that does not end"],
    ["d.json", "", "d.json: The file is empty."],
    ["e.toml", "a = 1", "of a kind that is not read"],
  ])("%s with a mistake gives the place", async (name, text, message) => {
    const error = await failureOf(await file(name, text))

    expect(error.message).toContain(message)
    expect(error.message).toContain(name)
    expect(`${error.stack}${JSON.stringify(error)}`).not.toContain(CANARY)
  })

  test("says what to do when the file does not exist or is a folder", async () => {
    expect((await failureOf(join(folder, "none.json"))).message).toContain("does not exist")
    expect((await failureOf(folder)).message).toContain("is a folder")
  })
})

describe("findConfig", () => {
  test("finds it in the folder, or above it, up to the root of the project", async () => {
    const outer = join(folder, "outer")
    const inner = join(outer, "project")
    const deep = join(inner, "a", "b")
    await mkdir(deep, { recursive: true })
    await writeFile(join(outer, "operations.config.json"), "{}")

    expect(await findConfig(deep)).toBe(join(outer, "operations.config.json"))
    await mkdir(join(inner, ".git"))
    expect(await findConfig(deep)).toBeUndefined()
    await writeFile(join(inner, "operations.config.yaml"), "")
    expect(await findConfig(deep)).toBe(join(inner, "operations.config.yaml"))
    await mkdir(join(deep, "operations.config.ts"))
    expect(await findConfig(deep)).toBe(join(inner, "operations.config.yaml"))
  })

  test("the order of names is kept", async () => {
    const at = join(folder, "order")
    await mkdir(at)
    for (const name of CONFIG_NAMES.toReversed()) {
      await writeFile(join(at, name), "")
      expect(await findConfig(at)).toBe(join(at, name))
    }
  })

  test.skipIf(process.platform === "win32")(
    "takes none from a folder above that anyone may write to",
    async () => {
      const open = join(folder, "trusted", "open")
      await mkdir(join(open, "mine"), { recursive: true })
      await mkdir(join(folder, "trusted", ".git"))
      await chmod(open, 0o777)
      await writeFile(join(open, "operations.config.json"), "{}")

      expect(await findConfig(join(open, "mine"))).toBeUndefined()
      expect(await findConfig(open)).toBe(join(open, "operations.config.json"))
    },
  )

  test("a missing folder has no configuration", async () => {
    await mkdir(join(folder, "root", ".git"), { recursive: true })

    await expect(findConfig(join(folder, "root", "none", "none"))).resolves.toBeUndefined()
  })
})

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, text)
  return path
}

async function failureOf(path: string): Promise<ConfigError> {
  try {
    await loadConfig(path)
  } catch (thrown) {
    if (thrown instanceof ConfigError) return thrown
    throw thrown
  }
  throw new Error("It was loaded.")
}
