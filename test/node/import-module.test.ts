// @isolated: it changes what the whole process uses.
import { describe, expect, type Mock, test, vi } from "vitest"
import { importModule, type ModuleLoaders } from "../../src/node/import-module.ts"

const URL_TS = "file:///app/a.ts"

describe("importModule", () => {
  test("gives what Node loads", async () => {
    const loaders = loadersWith(() => Promise.resolve({ a: 1 }))

    await expect(importModule(URL_TS, loaders)).resolves.toEqual({ a: 1 })
    expect(loaders.findTypeScript).not.toHaveBeenCalled()
  })

  test.each([new Error("no database"), null, "text"])(
    "passes on what a module throws",
    async (thrown) => {
      const loaders = loadersWith(() => Promise.reject(thrown))

      await expect(importModule(URL_TS, loaders)).rejects.toBe(thrown)
      expect(loaders.findTypeScript).not.toHaveBeenCalled()
    },
  )

  test.each(["ERR_UNKNOWN_FILE_EXTENSION", "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX"])(
    "after %s a loader for TypeScript is tried",
    async (code) => {
      const loaders = loadersWith(() => Promise.reject(coded(code)))
      loaders.findTypeScript.mockResolvedValue(() => Promise.resolve({ a: 2 }))

      await expect(importModule(URL_TS, loaders)).resolves.toEqual({ a: 2 })
      expect(loaders.findTypeScript).toHaveBeenCalledWith(URL_TS)
    },
  )

  test("what the module throws under that loader is its own error", async () => {
    const loaders = loadersWith(() => Promise.reject(coded("ERR_UNKNOWN_FILE_EXTENSION")))
    loaders.findTypeScript.mockResolvedValue(() => Promise.reject(new Error("no database")))

    await expect(importModule(URL_TS, loaders)).rejects.toThrow("no database")
  })

  test("without such a loader the error names the cure and keeps its cause", async () => {
    const cause = coded("ERR_UNKNOWN_FILE_EXTENSION")
    const loaders = loadersWith(() => Promise.reject(cause))

    await expect(importModule(URL_TS, loaders)).rejects.toMatchObject({
      message: expect.stringContaining("npm install tsx"),
      cause,
    })
  })
})

function loadersWith(
  load: ModuleLoaders["load"],
): ModuleLoaders & { findTypeScript: Mock<ModuleLoaders["findTypeScript"]> } {
  return { load, findTypeScript: vi.fn(() => Promise.resolve(undefined)) }
}

function coded(code: string): Error {
  return Object.assign(new Error(code), { code })
}
