import { Type } from "typebox"
import { describe, expect, test } from "vitest"
import { defineOperation } from "../../src/core/define.ts"
import type { AccessControl, Identity } from "../../src/core/types.ts"
import { toHTTP } from "../../src/serve/http/to-http.ts"
import { ToolSurface } from "../../src/tools/surface.ts"
import { quietRegistry } from "../support/operations.ts"

const ACCESS: Readonly<Record<string, AccessControl>> = {
  open: { requiredScopes: [] },
  scoped: { requiredScopes: ["read"] },
  // A permission on any project is enough to see it: which one counts is known with the input.
  project: { requiredScopes: [], resourceType: "project", resourceIdPath: "/id" },
}

const registry = quietRegistry(
  Object.entries(ACCESS).map(([name, accessControl]) =>
    defineOperation({
      namespace: name,
      name: "get",
      version: "1.0.0",
      type: "query",
      description: "Gets it.",
      inputSchema: Type.Object({ id: Type.Optional(Type.String()) }),
      outputSchema: Type.Unknown(),
      accessControl,
      handler: () => null,
    }),
  ),
)

async function seenOverHTTP(identity: Identity | undefined): Promise<readonly string[][]> {
  await using api = toHTTP(registry)
  const get = async (path: string): Promise<Record<string, unknown>> => {
    const request = new Request(`http://localhost${path}`)
    const response = await api.fetch(request, { identity: identity ?? null })
    return (await response.json()) as Record<string, unknown>
  }
  const { operations } = (await get("/operations")) as { operations: { namespace: string }[] }
  const found = (await get("/operations?query=gets")) as { operations: { namespace: string }[] }
  const { paths } = (await get("/openapi.json")) as { paths: Record<string, unknown> }
  return [
    operations.map(({ namespace }) => namespace),
    found.operations.map(({ namespace }) => namespace).toSorted(),
    Object.keys(paths).map((path) => path.split("/")[2] ?? ""),
  ]
}

function seenOverMCP(identity: Identity | undefined): readonly string[][] {
  const surface = new ToolSurface(registry)
  const { tools } = surface.list({ identity, era: "modern" }, undefined)
  return [
    tools.map(({ name }) => name.replace(/_get$/, "")),
    [...(surface.namespaces(identity) ?? "").matchAll(/(\w+) \(1\)/g)].map(([, name = ""]) => name),
  ]
}

describe("who sees an operation is the same over HTTP and MCP", () => {
  test.each<[string, Identity | undefined, readonly string[]]>([
    ["an anonymous caller", undefined, ["open"]],
    ["a caller with a scope", { id: "a", scopes: ["read"] }, ["open", "scoped"]],
    [
      "a caller with a resource",
      { id: "b", scopes: [], resources: { "project:7": ["read"] } },
      ["open", "project"],
    ],
  ])("%s", async (_, identity, expected) => {
    const seen = [...(await seenOverHTTP(identity)), ...seenOverMCP(identity)]
    for (const names of seen) expect(names).toEqual(expected)
  })

  test("instructions for models name no namespace that is not exposed", () => {
    const surface = new ToolSurface(registry, { expose: { namespaces: ["scoped"] } })
    expect(surface.namespaces({ id: "a", scopes: ["read"] })).toBe(
      "Operations by namespace: scoped (1).",
    )
  })
})
