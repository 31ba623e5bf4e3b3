import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { launchBrowser } from "./browser.ts"

const run = promisify(execFile)

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "operations-path-"))
})

afterEach(async () => {
  await rm(folder, { recursive: true })
})

async function program(name: string, text: string): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, text)
  await chmod(path, 0o755)
  return path
}

describe("launchBrowser", () => {
  test("says what a browser that does not start wrote, and leaves no profile behind", async () => {
    const path = await program(
      "chromium",
      `#!/bin/sh\nfor a in "$@"; do echo "$a" >> ${folder}/arguments; done\necho no display >&2\nexit 1\n`,
    )
    await expect(launchBrowser(path)).rejects.toThrow(/The browser ended\. no display/)
    const { stdout } = await run("grep", ["user-data-dir", join(folder, "arguments")])
    expect(existsSync(stdout.trim().split("=")[1] as string)).toBe(false)
  })

  test("says so when there is nothing to start", async () => {
    await expect(launchBrowser(join(folder, "none"))).rejects.toThrow("ENOENT")
  })
})
