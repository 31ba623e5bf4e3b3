import { describe, expect, test } from "vitest"
import { DOCUMENT, folderWith, moduleText } from "../support/folder.ts"
import { runCommand } from "../../support/command-io.ts"

describe("operations serve, in this process", () => {
  test("serve prints its address, serves, and stops at a signal", async () => {
    await using folder = await folderWith({
      "operations.config.json": JSON.stringify({
        server: { title: "Mine" },
        sources: { own: { scan: "./operations" }, gone: { openapi: "./gone.yaml" } },
      }),
      "operations/own.mjs": moduleText("own", "first"),
    })
    for (const argv of [["--host", "127.0.0.1"], ["--no-watch", "--verbose"], ["--quiet"]]) {
      const stop = new AbortController()
      const ran = await runCommand(["serve", "--port", "0", ...argv], {
        cwd: folder.path,
        signal: stop.signal,
        env: { npm_lifecycle_event: "start" },
        onOutput: () => stop.abort(),
      })
      expect(ran.code).toBe(0)
      expect(ran.stdout).toMatch(/Mine is at http:\/\/127\.0\.0\.1:\d+\n/)
      expect(ran.stdout).toContain("1 operation of 1 source; not there: gone.")
      expect(ran.stderr).toContain("✗ gone")
      expect(ran.stderr.includes("Stopping: ")).toBe(!argv.includes("--quiet"))
    }
  })

  test("says nothing of where it is when it is stopped before", async () => {
    await using folder = await folderWith({ "weather.yaml": DOCUMENT })
    const signal = AbortSignal.abort()
    const argv = ["serve", "--port", "0", "--openapi", "weather.yaml"]
    const ran = await runCommand(argv, { cwd: folder.path, signal })
    expect(ran.stdout).toBe("")
    const stdio = ["serve", "--stdio", "--openapi", "weather.yaml"]
    expect(await runCommand(stdio, { cwd: folder.path, signal })).toMatchObject({ stdout: "" })
  })

  test.each([
    [["--port", "65536"], `--port takes a number up to 65535; got "65536".`],
    [["--port", "-1"], "--port"],
    [["--watch", "--no-watch"], "Give either --watch or --no-watch; got both."],
    [["--stdio", "--host", "::1"], "it goes without --host."],
    [["--stdio", "--json"], "it goes without --json."],
    [["--hub", "http://127.0.0.1:9"], "To serve its operations: --remote <url>"],
  ])("refuses %j", async (argv, message) => {
    const ran = await runCommand(["serve", ...argv])
    expect(ran).toMatchObject({ code: 2, stdout: "" })
    expect(ran.stderr).toContain(message)
  })
})
