// @isolated: it changes what the whole process uses.
import type * as Files from "node:fs/promises"
import { mkdir, mkdtemp, open, realpath, rm, writeFile } from "node:fs/promises"
import { homedir, tmpdir } from "node:os"
import { basename, join, sep } from "node:path"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import {
  editorPlace,
  readSecretFile,
  runCommand,
} from "../../../src/hub/config-file/secret-sources.ts"

vi.mock("node:os", async (original) => ({
  ...(await original<object>()),
  homedir: () => folder,
}))

vi.mock("node:fs/promises", async (original) => {
  const actual = await original<typeof Files>()
  return { ...actual, open: vi.fn(actual.open) }
})

const MOST = 1024 * 1024
const CANARY = "canary-77-secret"
let folder = ""

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "operations-secrets-")))
})

afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})

describe("readSecretFile", () => {
  test.each([
    ["a line break", "one\n", "one"],
    ["many, of Windows", "one\r\n\r\n", "one"],
    ["a mark in front", "\uFEFFone", "one"],
    ["breaks within", "a\nb \n", "a\nb "],
    ["the most there may be", "x".repeat(MOST), "x".repeat(MOST)],
  ])("gives the text: %s", async (_, text, value) => {
    await writeFile(join(folder, "secret"), text)

    expect(await readSecretFile("secret", folder)).toBe(value)
    expect(await readSecretFile(join(folder, "secret"), "/elsewhere")).toBe(value)
    expect(await readSecretFile("~/secret", "/elsewhere")).toBe(value)
  })

  test.each([
    ["", "uses ${file:…} without a path."],
    ["a\0b", "uses ${file:…} without a path."],
    ["none", `the file "none" does not exist. Paths are relative to the configuration.`],
    ["empty/x", `the file "empty/x" does not exist. Paths are relative to the configuration.`],
    ["empty", `the file "empty" is empty. Put the secret into it.`],
    ["sub", `the file "sub" is a folder.`],
    ["~", `the file "~" is a folder.`],
    ["large", `the file "large" cannot be read, or is larger than ${MOST} bytes.`],
  ])("refuses %j", async (path, message) => {
    await mkdir(join(folder, "sub"), { recursive: true })
    await writeFile(join(folder, "empty"), "\uFEFF\r\n\n")
    await writeFile(join(folder, "large"), CANARY.repeat(MOST / 8))

    await expect(readSecretFile(path, folder)).rejects.toThrow(new Error(message))
  })
})

test.each(["EACCES", "EPERM"])("a file that may not be read: %s", async (code) => {
  vi.mocked(open).mockRejectedValueOnce(Object.assign(new Error(CANARY), { code }))

  await expect(readSecretFile("locked", folder)).rejects.toThrow(
    new Error(`the file "locked" may not be read by this user.`),
  )
})

describe("runCommand", () => {
  test("returns the output of a program, run in its folder with its variables", async () => {
    const code = `console.log(process.cwd() + "|" + process.env.A + "\\n\\n")`

    expect(await node(code, { A: "1" })).toBe(`${folder}|1`)
  })

  test.each([
    ["nothing", `console.log("")`, "printed nothing. Run it by hand"],
    ["exit code", `console.error("${CANARY}"); process.exit(3)`, "failed (exit code 3). Run it"],
    ["signal", `process.kill(process.pid, "SIGKILL")`, "failed (signal SIGKILL). Run it"],
    ["too much", `process.stdout.write("x".repeat(${MOST + 1}))`, `more than ${MOST} bytes.`],
  ])("says what went wrong: %s", async (_, code, message) => {
    const error: unknown = await node(code).catch((thrown: unknown) => thrown)

    expect(error).toHaveProperty("message", expect.stringContaining(message))
    expect(String(error)).not.toContain(CANARY)
  })

  test("stops a program that does not end", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    try {
      const running = node("setInterval(() => {}, 1000)")
      vi.advanceTimersByTime(30_000)

      await expect(running).rejects.toThrow(
        "did not finish within 30 s. Does it ask for something?",
      )
    } finally {
      vi.useRealTimers()
    }
  })

  test("reports a missing program", async () => {
    await expect(runCommand(["no-such-program-77", CANARY], folder, {})).rejects.toThrow(
      new Error(
        `the program "no-such-program-77" cannot be started. Is it installed, and in PATH?`,
      ),
    )
  })

  function node(code: string, env: Record<string, string> = {}): Promise<string> {
    return runCommand([process.execPath, "-e", code], folder, env)
  }
})

test("editorPlace resolves variables of editors", () => {
  expect(editorPlace("userHome", "/a/b")).toBe(homedir())
  expect(editorPlace("workspaceFolderBasename", folder)).toBe(basename(folder))
  expect(editorPlace("pathSeparator", "/a/b")).toBe(sep)
  expect(editorPlace("/", "/a/b")).toBe(sep)
  expect(editorPlace("workspaceFolder", "/a/b")).toBe("/a/b")
})
