import { Type } from "typebox"
import { describe, expect, test } from "vitest"
import type { Identity } from "../../../src/core/types.ts"
import { createDocument } from "./create-document.ts"
import { toHTTP } from "../../../src/to-http.ts"
import { operation, quietRegistry } from "../../support/operations.ts"

const MANY = 600

function many(count: number) {
  return Array.from({ length: count }, (_, index) =>
    operation(`demo.number${index}`, {
      description: `Operation ${index} of many, described at some length: é`,
      inputSchema: Type.Object({ [`field${index}`]: Type.String(), count: Type.Integer() }),
      outputSchema: Type.Object({ [`found${index}`]: Type.Array(Type.String()) }),
      handler: () => ({}),
    }),
  )
}

function textOf(registry: ReturnType<typeof quietRegistry>): string {
  const about = { title: "Operations", version: "1.0.0", restPath: "/api" }
  return JSON.stringify(createDocument(registry, { ...about, identity: undefined }))
}

describe("GET /openapi.json", () => {
  test("is the text of the whole document, however long, and lets others have their turn", async () => {
    const registry = quietRegistry(many(MANY))
    const { fetch } = toHTTP(registry)
    let turns = 0
    let isOver = false
    const count = (): void => {
      turns++
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    const ask = async (): Promise<string> =>
      await (await fetch(new Request("http://localhost/openapi.json"))).text()
    const [text, same] = await Promise.all([ask(), ask()])
    isOver = true

    expect(JSON.parse(text).paths).toEqual(JSON.parse(textOf(registry)).paths)
    expect(same).toBe(text)
    expect(await ask()).toBe(text)
    expect(turns).toBeGreaterThan(2)
  })

  test("is the same text in pieces as in one", async () => {
    for (const count of [0, 1, 50]) {
      const registry = quietRegistry(many(count))
      const { fetch } = toHTTP(registry)
      const text = await (await fetch(new Request("http://localhost/openapi.json"))).text()
      expect(text).toBe(JSON.stringify(JSON.parse(text)))
      expect(Object.keys(JSON.parse(text).paths)).toHaveLength(count)
    }
  })

  test("shows callers what their scopes and resources allow, and changes with the registry", async () => {
    const open = operation("demo.open", { handler: () => null })
    const scoped = operation("demo.scoped", {
      accessControl: { requiredScopes: ["read"] },
      handler: () => null,
    })
    const owned = operation("demo.owned", {
      accessControl: { requiredScopes: [], resourceType: "project", resourceAction: "read" },
      handler: () => null,
    })
    const registry = quietRegistry([open, scoped])
    const { fetch } = toHTTP(registry, { authenticate: () => null })
    const seen = async (identity: Identity | null): Promise<string[]> => {
      const response = await fetch(new Request("http://localhost/openapi.json"), { identity })
      const { paths } = (await response.json()) as { paths: Record<string, unknown> }
      return Object.keys(paths).map((path) => path.split("/").at(-1) ?? "")
    }
    const reader = { id: "reader", scopes: ["other", "read"] }
    const owner = { id: "owner", scopes: [], resources: { "project:1": ["read"] } }

    expect(await seen(null)).toEqual(["open"])
    expect(await seen(reader)).toEqual(["open", "scoped"])
    expect(await seen({ id: "other", scopes: ["other"] })).toEqual(["open"])
    expect(await seen(owner)).toEqual(["open"])
    registry.registerAll([owned])
    expect(await seen(owner)).toEqual(["open", "owned"])
    expect(await seen(reader)).toEqual(["open", "scoped"])
  })
})
