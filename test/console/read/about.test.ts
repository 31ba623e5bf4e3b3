import { Type } from "typebox"
import { describe, expect, test } from "vitest"
import { accessRules } from "../../../console/src/read/access.ts"
import { hintsOf } from "../../../console/src/read/hints.ts"
import { provenanceOf, sourceFor } from "../../../console/src/read/provenance.ts"
import { FromOpenAPI } from "../../../src/from-openapi.ts"
import type { SourceStatus } from "../../../src/hub/model.ts"
import { defineOperation } from "../../../src/index.ts"
import type { AccessControl } from "../../../src/core/types.ts"

const source = (name: string, namespace: string, kind: SourceStatus["kind"]): SourceStatus => ({
  name,
  namespace,
  kind,
  origin: `./${name}`,
  state: "ready",
  operations: 1,
  attempts: 0,
})

describe("the access rules of an operation", () => {
  const rules = (accessControl: AccessControl) =>
    accessRules({ accessControl }).map(({ text, names }) => `${text} ${names.join(", ")}`)

  test("are listed one by one", () => {
    expect(rules({ requiredScopes: [] })).toEqual([])
    expect(rules({ requiredScopes: ["a"] })).toEqual(["The scope a"])
    expect(rules({ requiredScopes: ["a", "b"], requiredScopesAny: ["c", "d"] })).toEqual([
      "Every one of the scopes a, b",
      "At least one of the scopes c, d",
    ])
    expect(
      rules({
        requiredScopes: [],
        resourceType: "project",
        resourceAction: "write",
        resourceIdPath: "/projectId",
      }),
    ).toEqual([
      "Permission to “write” on a resource of the type project",
      "That resource is the one that the input names at /projectId",
    ])
    expect(rules({ requiredScopes: [], resourceType: "project" })).toEqual([
      "A permission on a resource of the type project",
    ])
  })
})

describe("the origin of an operation", () => {
  test("of a document: the file, the request and the name there", () => {
    const [operation] = FromOpenAPI(
      {
        openapi: "3.1.0",
        info: { title: "Pets", version: "1" },
        paths: { "/pets/{id}": { get: { operationId: "pets/get", responses: {} } } },
      },
      { namespace: "pets", baseUrl: "https://pets.example" },
    )
    expect(provenanceOf(operation!, source("pets.yaml", "pets", "openapi"))).toEqual([
      { label: "Source", value: "pets.yaml" },
      { label: "OpenAPI document", value: "./pets.yaml" },
      { label: "Request", value: "GET /pets/{id}" },
      { label: "operationId", value: "pets/get" },
    ])
  })

  test("of an MCP server: the tool, and what is wrong with it", () => {
    const mcp = {
      server: "files",
      kind: "tool",
      tool: { name: "read_file" },
      fingerprint: "abc",
      hiddenText: [{ path: "/description", characters: ["U+200B", "U+202E"] }],
      diagnostics: ["outputSchema is not checked"],
    }
    expect(provenanceOf({ _meta: { mcp } }, source("files", "files", "mcp")).slice(0, 3)).toEqual([
      { label: "Source", value: "files" },
      { label: "MCP server", value: "./files" },
      { label: "Tool", value: "read_file" },
    ])
    expect(provenanceOf({ _meta: { mcp } })).toEqual([
      { label: "MCP server", value: "files" },
      { label: "Tool", value: "read_file" },
      { label: "Fingerprint", value: "abc" },
      { label: "Hidden characters", value: "U+200B, U+202E at /description", isWarning: true },
      { label: "Not taken over", value: "outputSchema is not checked", isWarning: true },
    ])
    expect(
      provenanceOf({ _meta: { mcp: { server: "s", kind: "resource", uri: "file:///x" } } }),
    ).toEqual([
      { label: "MCP server", value: "s" },
      { label: "Resource", value: "file:///x" },
    ])
  })

  test("of anything else: nothing, and nonsense does no harm", () => {
    expect(provenanceOf({})).toEqual([])
    for (const value of [null, 5, "x", [], {}, { tool: 1, hiddenText: [1], diagnostics: "x" }]) {
      expect(provenanceOf({ _meta: { mcp: value, openapi: value } })).toEqual([])
    }
  })

  test("the source is found by name, else by the longest namespace", () => {
    const sources = [
      source("a", "x", "scan"),
      source("b", "x.y", "remote"),
      source("c", "", "scan"),
    ]
    expect(sourceFor("x.y.z", undefined, sources)?.name).toBe("b")
    expect(sourceFor("x.z", undefined, sources)?.name).toBe("a")
    expect(sourceFor("x.y.z", "c", sources)?.name).toBe("c")
    expect(sourceFor("x.y.z", "gone", sources)).toBeUndefined()
    expect(sourceFor("other.z", undefined, sources)).toBeUndefined()
  })
})

describe("the hints of an operation", () => {
  const spec = (type: "query" | "mutation", annotations: object) =>
    hintsOf(
      defineOperation({
        namespace: "a",
        name: "b",
        type,
        description: "x",
        inputSchema: Type.Object({}),
        outputSchema: Type.Unknown(),
        accessControl: { requiredScopes: [] },
        annotations,
        handler: () => 1,
      }),
    ).map(({ text }) => text)

  test("are shown unless the type implies them", () => {
    expect(spec("query", { readOnly: true, idempotent: true })).toEqual([])
    expect(spec("mutation", { readOnly: true, idempotent: true })).toEqual([
      "declared read-only",
      "idempotent",
    ])
    expect(spec("mutation", { destructive: true, openWorld: true })).toEqual([
      "destructive",
      "external",
    ])
    expect(spec("mutation", {})).toEqual([])
  })
})
