import { describe, expect, test, vi } from "vitest"
import { childEnvironment } from "../../../../src/sources/mcp/client/stdio/launch.ts"

const env = {
  HOME: "/home/ada",
  PATH: "/bin",
  TERM: "() { :; }; echo owned",
  AWS_SECRET_ACCESS_KEY: "hunter2",
  HTTP_PROXY: "http://proxy",
  EXPORTED: "() { :; }",
  EMPTY: "",
  UNSET: undefined,
}
const linux = { platform: "linux", env }

describe("childEnvironment", () => {
  test("hands over what a program needs, and no secret", async () => {
    expect(await childEnvironment(undefined, {}, linux)).toEqual({
      HOME: "/home/ada",
      PATH: "/bin",
    })
  })

  test("adds what is named, and what is its own; its own wins", async () => {
    const out = await childEnvironment(["HTTP_PROXY", "EMPTY", "MISSING"], { HOME: "/x" }, linux)

    expect(out).toEqual({ HOME: "/x", PATH: "/bin", HTTP_PROXY: "http://proxy", EMPTY: "" })
  })

  test("hands over everything when asked, but no functions of a shell", async () => {
    const { TERM: _, EXPORTED: __, UNSET: ___, ...rest } = env

    expect(await childEnvironment(true, { OWN: "() is mine" }, linux)).toEqual({
      ...rest,
      OWN: "() is mine",
    })
  })

  test("takes names on Windows in any case, and gives each only once", async () => {
    const windows = {
      platform: "win32",
      env: { Path: "C:\\bin", SystemRoot: "C:\\Windows", Secret: "x", HOME: "no" },
    }

    expect(await childEnvironment(undefined, { PATH: "D:\\bin" }, windows)).toEqual({
      PATH: "D:\\bin",
      SystemRoot: "C:\\Windows",
    })
  })

  test("keeps odd names as they are", async () => {
    const own = JSON.parse('{ "__proto__": "a", "constructor": "b" }') as Record<string, string>

    const out = await childEnvironment(undefined, own, { platform: "linux", env: {} })

    expect(Object.entries(out)).toEqual([
      ["__proto__", "a"],
      ["constructor", "b"],
    ])
  })

  test("looks at the host by itself", async () => {
    vi.stubEnv("SECRET_OF_THE_HOST", "hunter2")

    const out = await childEnvironment(undefined, {})

    vi.unstubAllEnvs()
    expect(out["PATH"]).toBe(process.env["PATH"])
    expect(out).not.toHaveProperty("SECRET_OF_THE_HOST")
  })
})
