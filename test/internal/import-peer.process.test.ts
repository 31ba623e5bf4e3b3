import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { buildSync } from "esbuild"
import { describe, expect, onTestFinished, test } from "vitest"
import { checkPeer, importPeer } from "../../src/internal/import-peer.ts"

describe("importPeer", () => {
  test("returns the module", async () => {
    expect(await importPeer("transport/x", "x", async () => ({ x: 1 }))).toEqual({ x: 1 })
  })

  test("says what to install when the package is missing", async () => {
    const name = "a-package-that-nobody-has"
    const missing = importPeer("transport/x", name, () => import(/* @vite-ignore */ name))

    await expect(missing).rejects.toThrow(
      `transport/x needs the optional package "${name}". Install it: npm install ${name}`,
    )
  })

  test.each([
    Object.assign(new Error("Cannot find package 'other' imported from ws"), {
      code: "ERR_MODULE_NOT_FOUND",
    }),
    new SyntaxError("Unexpected token"),
    "a string",
    null,
  ])("leaves other failures as they are: %s", async (failure) => {
    const failing = importPeer("transport/x", "ws", () => Promise.reject(failure as Error))

    await expect(failing).rejects.toBe(failure)
  })
})

describe("checkPeer", () => {
  const load = (): Promise<never> => Promise.reject(new Error("It was loaded."))

  test("does not load a package that is there", async () => {
    await expect(checkPeer("transport/x", "typebox", load)).resolves.toBeUndefined()
  })

  test("says what to install when the package is missing", async () => {
    const name = "a-package-that-nobody-has"
    const missing = checkPeer("transport/x", name, () => import(/* @vite-ignore */ name))

    await expect(missing).rejects.toThrow(
      `transport/x needs the optional package "${name}". Install it: npm install ${name}`,
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
