import { join, resolve } from "node:path"
import { describe, expect, test } from "vitest"
import { hashApiKey } from "../../../src/to-http.ts"
import { program } from "../../sources/mcp/support/program.ts"
import { root } from "../../support/manifest.ts"
import { provideTmux, Screen } from "../../support/tmux.ts"
import { operations, shell } from "../support/child.ts"
import { run } from "../support/run.ts"

const KEY = "canary-key-0123456789"
const HASH = hashApiKey(KEY)
const hasTmux = await provideTmux()

describe("operations hash-key", () => {
  test("hashes the key on standard input, with and without a line feed", async () => {
    for (const input of [KEY, `${KEY}\n`, `${KEY}\r\n`]) {
      const { code, stdout, stderr } = await operations(["hash-key"], { input })
      expect({ code, stdout }).toEqual({ code: 0, stdout: `${HASH}\n` })
      expect(stderr).toContain(`{ hash: "${HASH}", identity: { id:`)
      expect(stdout + stderr).not.toContain("canary")
    }
  })

  test("makes a key, shows it once, and hashes it", async () => {
    const quiet = await operations(["hash-key", "--generate", "--quiet"])
    expect(quiet.code).toBe(0)
    const key = /shown only now: ([\w-]{43})\n/.exec(quiet.stderr)?.[1] ?? ""
    expect(quiet.stdout).toBe(`${hashApiKey(key)}\n`)
    const json = await operations(["hash-key", "--generate", "--json"])
    const made = JSON.parse(json.stdout) as { hash: string; key: string }
    expect(made.hash).toBe(hashApiKey(made.key))
    expect(made.key).not.toBe(key)
    expect(json.stderr).toBe("")
  })

  test("prints one JSON value", async () => {
    const { stdout } = await operations(["hash-key", "--json"], { input: KEY })
    expect(JSON.parse(stdout)).toEqual({ hash: HASH })
  })

  test("refuses a key as an argument, and does not repeat it", async () => {
    for (const argv of [
      ["hash-key", KEY],
      ["hash-key", "--generate", KEY, KEY],
    ]) {
      const { code, stdout, stderr } = await operations(argv)
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" })
      expect(stderr).toContain("history of the shell")
      expect(stderr).not.toContain("canary")
    }
  })

  test.each([
    ["nothing", "", "There is no key on standard input"],
    ["a short one", "canary", "16 to 4096 visible ASCII characters"],
    ["spaces", "canary key 0123456789", "16 to 4096 visible ASCII characters"],
    ["a whole file", "canary-".repeat(1000), "16 to 4096 visible ASCII characters"],
    ["letters of another alphabet", "canary-ключ-0123456789", "visible ASCII characters"],
  ])("refuses what is no key: %s", async (_, input, message) => {
    const { code, stdout, stderr } = await run(["hash-key"], { stdin: pieces(input) })
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" })
    expect(stderr).toContain(message)
    expect(stderr).not.toContain("canary")
  })

  test("has help, and the shell completes it", async () => {
    const help = await operations(["hash-key", "--help"])
    expect(help.stdout).toContain("operations hash-key --generate")
    expect((await operations(["--help"])).stdout).toContain("hash-key")
    const offered = await shell("operations __complete -- hash-key --g")
    expect(offered.stdout).toContain("--generate")
  })

  test.runIf(hasTmux)("does not show the key that is typed", async () => {
    const bin = program(join(root, "src/cli/bin.ts"))
    await using screen = await Screen.open([process.execPath, bin, "hash-key"], {
      cwd: resolve(root),
    })
    await screen.until("API key (not shown):")
    await screen.type(KEY)
    const shown = await screen.until(HASH.slice(0, 40))
    expect(shown).not.toContain("canary")
  })
})

async function* pieces(text: string): AsyncGenerator<string, void, void> {
  if (text !== "") yield text
}
