import { describe, expect, test } from "vitest"
import {
  installCommand,
  isInstalled,
  missingLines,
  missingPackages,
  packagesOfServer,
  packagesOfSources,
} from "../../src/cli/packages.ts"
import { unbroken } from "../../src/cli/wrap.ts"
import { resolveConfig, type ServerConfig, type SourceConfig } from "../../src/config.ts"
import { testIO } from "./support/run.ts"

function ofSource(source: SourceConfig): string[] {
  const { sources } = resolveConfig({ sources: { it: source } }, { baseDir: "/", file: undefined })
  return packagesOfSources(sources).map(({ name }) => name)
}

function ofServer(server: ServerConfig): string[] {
  return packagesOfServer({ server }).map(
    ({ name, isOptional }) => `${name}${isOptional ? "?" : ""}`,
  )
}

describe("packages that a configuration needs", () => {
  test.each<[SourceConfig, string[]]>([
    [{ mcp: "npx server" }, ["@modelcontextprotocol/client"]],
    [{ mcp: "npx server", disabled: true }, []],
    [{ scan: "./operations" }, []],
    [{ openapi: "./petstore.yaml" }, []],
    [{ remote: "nats://127.0.0.1" }, ["@nats-io/transport-node"]],
    [{ remote: "redis://127.0.0.1" }, ["ioredis"]],
    [{ remote: "https://hub.example", headers: { "x-key": "${env:KEY}" } }, ["ws"]],
  ])("source %j: %j", (source, names) => {
    expect(ofSource(source)).toEqual(names)
  })

  test("a server needs the packages of configured protocols, and others are optional", () => {
    const jwt = { jwksUrl: "https://a.example", issuer: "a", audience: "b" }
    expect(ofServer({})).toEqual(["ws?"])
    expect(ofServer({ mcp: true, websocket: true, jwt })).toEqual(["ws", "jose"])
    expect(ofServer({ mcp: false, websocket: false })).toEqual([])
  })
})

test("a package is looked for where this one would find it", () => {
  expect(isInstalled("typebox")).toBe(true)
  expect(isInstalled("@modelcontextprotocol/client")).toBe(true)
  expect(isInstalled("no-such-package-here")).toBe(false)
})

test("each missing package is named once, with all that needs it", () => {
  const missing = missingPackages([
    { name: "typebox", users: ["A"], isOptional: false },
    { name: "no-such-package-here", users: ["A"], isOptional: true },
    { name: "no-such-package-here", users: ["B"], isOptional: false },
  ])
  expect(missing).toEqual([{ name: "no-such-package-here", users: ["A", "B"], isOptional: false }])
  expect(missingLines(missing, testIO())).toEqual([
    'A, B need the package "no-such-package-here", which is not installed.',
    `Install it: ${unbroken("npm install no-such-package-here")}`,
  ])
  expect(missingLines([], testIO())).toEqual([])
})

test.each([
  ["/app/node_modules/@alkdev/operations", "/app/sub", "npm install ws"],
  ["/app/node_modules/@alkdev/operations", "/app", "npm install ws"],
  ["/clone", "/elsewhere", "npm install ws"],
  [
    "/home/ada/.npm/_npx/1f/node_modules/@alkdev/operations",
    "/app",
    "npm install @alkdev/operations ws",
  ],
  ["/usr/lib/node_modules/@alkdev/operations", "/app", "npm install --global ws"],
])("installed in %s and used in %s: %s", (folder, cwd, command) => {
  expect(installCommand(["ws"], { cwd }, folder)).toBe(command)
})
