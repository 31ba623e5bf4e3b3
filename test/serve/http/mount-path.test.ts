import { describe, expect, test } from "vitest"
import { MountPaths } from "../../../src/serve/http/mount-path.ts"

const ROUTES = ["/operations", "/batch", "/api/task/list"]

function paths(basePath = "", mounts: readonly string[] = []): MountPaths {
  return new MountPaths({
    basePath,
    isRoute: (path) => ROUTES.some((route) => path === `${basePath}${route}`),
    isMount: (path) => mounts.includes(path),
  })
}

describe("MountPaths.ofNode", () => {
  test.each([
    ["/operations", "/api/v1/operations", "/api/v1"],
    ["/operations", "/api/v1/operations?a=/operations", "/api/v1"],
    ["/", "/api/v1", "/api/v1"],
    ["/", "/api/v1/", "/api/v1"],
    ["/", "/api/v1?a=b", "/api/v1"],
    ["/a%20b", "/caf%C3%A9/a%20b", "/caf%C3%A9"],
    ["/operations", "/operations", ""],
    // Rewritten, so that nothing is known.
    ["/operations", "/other", ""],
    ["/", "/", ""],
    ["/operations", "", ""],
    // Other forms than a path never become a part of a document.
    ["/operations", "//evil.example/operations", ""],
    ["/operations", "http://evil.example/operations", ""],
    ["/", "//evil.example", ""],
    ["*", "*", ""],
  ])("knows what was removed in front of %s: %s", (path, originalUrl, mountPath) => {
    expect(paths().ofNode(path, originalUrl)).toEqual({ path, mountPath })
  })

  test.each([
    ["all of it", "/api/v1", "/operations", "/api/v1/operations", "/api/v1/operations", ""],
    ["a part of it", "/api/v1", "/v1/operations", "/api/v1/operations", "/api/v1/operations", ""],
    ["what is in front", "/v1", "/v1/operations", "/api/v1/operations", "/v1/operations", "/api"],
    ["another path", "/v1", "/operations", "/other/operations", "/operations", "/other"],
    ["a path that begins alike", "/api", "/batch", "/api2/batch", "/batch", "/api2"],
  ])("places a path of which was removed: %s", (_, basePath, url, originalUrl, path, mountPath) => {
    expect(paths(basePath).ofNode(url, originalUrl)).toEqual({ path, mountPath })
  })

  test("leaves a path of a mount as it is", () => {
    const placed = paths("/api", ["/mcp"]).ofNode("/mcp", "/api/mcp")
    expect(placed).toEqual({ path: "/mcp", mountPath: "/api" })
  })
})

describe("MountPaths.ofWeb", () => {
  test.each([
    ["", "/operations", "/operations"],
    ["/v1", "/v1/operations", "/v1/operations"],
    ["/v1", "/operations", "/v1/operations"],
    ["/v1", "/v1", "/v1"],
    ["/v1", "/v10/operations", "/v1/v10/operations"],
    ["/api", "/api/task/list", "/api/api/task/list"],
    ["/api", "/api/api/task/list", "/api/api/task/list"],
    ["/api", "/api/operations", "/api/operations"],
    ["/v1", "/mcp", "/mcp"],
  ])('with the base path "%s" %s is %s', (basePath, path, placed) => {
    expect(paths(basePath, ["/mcp"]).ofWeb(path)).toBe(placed)
  })
})

describe("MountPaths.nothingAt", () => {
  test("gives advice where the end of a path would be served", () => {
    expect(paths().nothingAt("/api/v1/operations")).toContain('basePath: "/api/v1"')
    expect(paths("/v1").nothingAt("/operations")).toContain('everything is below "/v1"')
    const plain = "Nothing is served under this path."
    expect(paths().nothingAt("/nothing")).toBe(plain)
    expect(paths("/v1").nothingAt("/v1/x/operations")).toBe(plain)
    expect(paths().nothingAt(`${"/a".repeat(100_000)}/operations`)).toBe(plain)
  })
})
