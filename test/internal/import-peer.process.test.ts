import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { buildSync } from "esbuild"
import { describe, expect, onTestFinished, test } from "vitest"
import { checkPeer, importError } from "../../src/internal/import-peer.ts"

describe("importError", () => {
  const name = "a-package-that-is-not-installed"
  const unresolved = (message: string, code?: string): Error =>
    Object.assign(new Error(message), { code })

  test.each([
    ["Node", () => import(/* @vite-ignore */ name)],
    ["webpack", unresolved(`Cannot find module '${name}'`, "MODULE_NOT_FOUND")],
    ["Vite", unresolved(`Could not resolve "${name}" imported by "@alkdev/operations".`)],
    ["Chrome", new TypeError(`Failed to resolve module specifier '${name}'`)],
    [
      "Firefox",
      new TypeError(`The specifier “${name}” was a bare specifier, but was not remapped`),
    ],
    ["Safari", new TypeError(`Module name, '${name}' does not resolve to a valid URL.`)],
  ])("says what to install when the package is missing: %s", async (_, failure) => {
    const error = failure instanceof Error ? failure : await failure().catch((e: unknown) => e)
    expect(importError("transport/x", name, error)).toMatchObject({
      message: `transport/x needs the optional package "${name}". Install it: npm install ${name}`,
      cause: error,
    })
  })

  test.each([
    unresolved("Cannot find package 'other' imported from ws", "ERR_MODULE_NOT_FOUND"),
    unresolved('Could not resolve "other" imported by "ws".'),
    new SyntaxError("Unexpected token 'ws'"),
    "a string",
    null,
  ])("leaves other failures as they are: %s", (failure) => {
    expect(importError("transport/x", "ws", failure)).toBe(failure)
  })
})

describe("checkPeer", () => {
  const load = (): Promise<never> => Promise.reject(new Error("It was loaded."))

  test("does not load a package that is there", async () => {
    await expect(checkPeer("typebox", load)).resolves.toBeUndefined()
  })

  test("loads what the platform cannot find, which gives the error", async () => {
    await expect(checkPeer("a-package-that-is-not-installed", load)).rejects.toThrow(
      "It was loaded.",
    )
  })

  test("finds a package that is bundled with the application, where none is installed", async () => {
    const folder = mkdtempSync(join(tmpdir(), "import-peer-"))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const outfile = join(folder, "app.mjs")
    const source = resolve(import.meta.dirname, "../../src/transport/websocket/ws-package.ts")
    buildSync({
      stdin: {
        contents: `import { checkWs } from ${JSON.stringify(source)}\nawait checkWs("app")\nconsole.log("there")`,
        resolveDir: import.meta.dirname,
      },
      outfile,
      bundle: true,
      platform: "node",
      format: "esm",
      banner: {
        js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url)',
      },
    })

    expect(execFileSync(process.execPath, [outfile], { cwd: folder, encoding: "utf8" })).toBe(
      "there\n",
    )
  })
})
