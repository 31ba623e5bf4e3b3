import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { FromOpenAPI } from "../../../src/from-openapi.ts"
import { createRegistry } from "../../../src/engine/registry.ts"
import { openapi, oneOperation, swagger } from "./recorder.ts"
import type { Raw } from "./recorder.ts"

const OK = { responses: { 200: { description: "" } } }

function namesOf(paths: Raw): string[] {
  return FromOpenAPI(openapi(paths), { namespace: "api" }).map(({ name }) => name)
}

describe("the name of an operation", () => {
  test.each([
    ["getPet", "getPet"],
    ["issues/create", "issues_create"],
    ["find pet by id", "find_pet_by_id"],
    ["session.prompt", "session.prompt"],
    ["users-list_all", "users-list_all"],
    ["  spaced  ", "spaced"],
    ["a//b", "a_b"],
    ["a.b.c", "a.b.c"],
    ["Ünïcode", "n_code"],
    ["(x)", "x"],
  ])("is made of the id %j: %s", (operationId, name) => {
    expect(namesOf({ "/p": { get: { operationId, ...OK } } })).toEqual([name])
  })

  test.each([
    ["get", "/users/{id}", "get_users_by_id"],
    ["post", "/", "post_root"],
    ["delete", "/a/{b}/c/{d}.json", "delete_a_by_b_c_by_d_json"],
    ["get", "/reports/get(period='{period}')", "get_reports_get_period_by_period"],
    ["patch", "/żółw", "patch_w"],
  ])("is made of method and path without one: %s %s", (method, path, name) => {
    expect(namesOf({ [path]: { [method]: OK } })).toEqual([name])
  })

  test("is made of method and path where nothing of the id can be used", () => {
    expect(namesOf({ "/p": { get: { operationId: "💥", ...OK } } })).toEqual(["get_p"])
    expect(namesOf({ "/p": { get: { operationId: 5, ...OK } } })).toEqual(["get_p"])
  })

  test("is cut where it is too long, and still its own", () => {
    const long = "x".repeat(200)
    const [one = "", other = ""] = namesOf({
      "/a": { get: { operationId: `${long}a`, ...OK } },
      "/b": { get: { operationId: `${long}b`, ...OK } },
    })

    expect(one).toHaveLength(128)
    expect(other).toHaveLength(128)
    expect(one).not.toBe(other)
  })

  test("is numbered where it is taken, by path and method and not by order", () => {
    const paths: Raw = {
      "/b": { post: { operationId: "same", ...OK }, get: { operationId: "same", ...OK } },
      "/a": { get: { operationId: "same", ...OK } },
      "/c": { get: { operationId: "same_2", ...OK } },
    }
    const byPath = (order: readonly string[]): Record<string, string> =>
      Object.fromEntries(
        FromOpenAPI(openapi(Object.fromEntries(order.map((path) => [path, paths[path]]))), {
          namespace: "api",
        }).map(({ name, _meta }) => {
          const { method, path } = (_meta?.["openapi"] ?? {}) as Record<string, string>
          return [`${method} ${path}`, name]
        }),
      )
    const expected = {
      "GET /a": "same",
      "GET /b": "same_3",
      "POST /b": "same_4",
      "GET /c": "same_2",
    }

    expect(byPath(["/b", "/a", "/c"])).toEqual(expected)
    expect(byPath(["/c", "/a", "/b"])).toEqual(expected)
  })

  test("of any document is unique and safe", () => {
    const id = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.constantFrom("a", "a_2", "a_stream", "__proto__", "a b"),
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(id, fc.boolean()), { maxLength: 12 }), (ids) => {
        const stream = {
          responses: { 200: { content: { "application/json": {}, "text/event-stream": {} } } },
        }
        const paths = ids.map(
          ([operationId, isStream], index) =>
            [`/${index}`, { get: { operationId, ...(isStream ? stream : OK) } }] as const,
        )
        const names = namesOf(Object.fromEntries(paths))

        expect(new Set(names).size).toBe(names.length)
        expect(names).toHaveLength(ids.length + ids.filter(([, isStream]) => isStream).length)
        for (const name of names) {
          expect(name).toMatch(/^[A-Za-z0-9_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*$/)
        }
      }),
      { numRuns: 300 },
    )
  })
})

describe("what an operation says of itself", () => {
  test("is what the document says", () => {
    const spec = oneOperation(
      "/pets/{id}",
      "delete",
      {
        operationId: "pets/delete",
        summary: "Delete a pet",
        description: "For good.",
        tags: ["pets", "admin"],
        deprecated: true,
        "x-ms-pageable": null,
        requestBody: {
          content: {
            "application/json": {
              example: { a: 1 },
              examples: { more: { value: { a: 2 } }, elsewhere: { externalValue: "x" } },
            },
          },
        },
      },
      { info: { title: "T", version: "2.1.0" } },
    )
    const [operation] = FromOpenAPI(spec, { namespace: "shop" })

    expect(operation).toMatchObject({
      namespace: "shop",
      name: "pets_delete",
      version: "2.1.0",
      type: "mutation",
      title: "Delete a pet",
      description: "For good.",
      tags: ["pets", "admin"],
      deprecated: true,
      annotations: { readOnly: false, destructive: true, idempotent: true, openWorld: true },
      examples: [
        { id: "id", body: { a: 1 } },
        { id: "id", body: { a: 2 } },
      ],
      accessControl: { requiredScopes: [] },
      _meta: {
        openapi: {
          method: "DELETE",
          path: "/pets/{id}",
          operationId: "pets/delete",
          inputs: [
            { key: "id", in: "path", name: "id" },
            { key: "body", in: "body", name: "body" },
          ],
        },
      },
    })
  })

  test.each<[string, Raw, object | undefined]>([
    ["x-sunset", { "x-sunset": "2026-09-01" }, { sunset: "2026-09-01" }],
    [
      "x-ms-deprecation",
      { "x-ms-deprecation": { date: "2026-03-01T10:00:00Z", removalDate: "2026-09-01" } },
      { since: "2026-03-01T10:00:00Z", sunset: "2026-09-01" },
    ],
    [
      "x-operation-deprecation",
      {
        "x-sunset": "2027-01-01",
        "x-operation-deprecation": {
          since: "2026-03-01",
          sunset: "2026-09-01",
          replacedBy: "shop.find",
          link: "https://example.com/a",
          more: 1,
        },
      },
      {
        since: "2026-03-01",
        sunset: "2026-09-01",
        replacedBy: "shop.find",
        link: "https://example.com/a",
      },
    ],
    [
      "nothing that is no date, no link, or in another namespace",
      {
        "x-operation-deprecation": {
          since: "2026-02-31",
          sunset: "soon",
          link: "javascript:alert(1)",
          replacedBy: "other.find",
        },
      },
      undefined,
    ],
    [
      "no sunset before the deprecation",
      { "x-sunset": "2025-01-01", "x-ms-deprecation": { date: "2026-01-01" } },
      { since: "2026-01-01" },
    ],
    ["nothing of other types", { "x-sunset": 7, "x-ms-deprecation": [] }, undefined],
    ["no long texts", { "x-sunset": `2026-09-01${" ".repeat(99)}` }, undefined],
  ])("has the dates of its deprecation: %s", (_, parts, deprecation) => {
    const document = oneOperation("/x", "get", { deprecated: true, ...parts })
    const [operation] = FromOpenAPI(document, { namespace: "shop" })
    expect(operation?.deprecation).toEqual(deprecation)
    const registered = createRegistry([operation as never]).getAllSpecs()
    expect(registered.map((spec) => spec.deprecation)).toEqual([deprecation])
    const current = oneOperation("/x", "get", parts)
    expect(FromOpenAPI(current, { namespace: "shop" })[0]?.deprecation).toBeUndefined()
  })

  test("is as much as there is", () => {
    const [operation] = FromOpenAPI(
      { openapi: "3.0.0", paths: { "/x": { get: { summary: "", tags: "no", deprecated: "no" } } } },
      { namespace: "api" },
    )

    expect(operation).toMatchObject({
      name: "get_x",
      version: "1.0.0",
      description: "GET /x",
      _meta: { openapi: { method: "GET", path: "/x", inputs: [] } },
    })
    expect(operation?.title).toBeUndefined()
    expect(operation?.tags).toBeUndefined()
    expect(operation?.deprecated).toBeUndefined()
  })

  test.each([
    ["GET", { readOnly: true, idempotent: true, destructive: false }],
    ["HEAD", { readOnly: true, idempotent: true, destructive: false }],
    ["POST", { readOnly: false, idempotent: false, destructive: false }],
    ["PUT", { readOnly: false, idempotent: true, destructive: false }],
    ["PATCH", { readOnly: false, idempotent: false, destructive: false }],
    ["DELETE", { readOnly: false, idempotent: true, destructive: true }],
  ])("%s is annotated as HTTP has it", (method, annotations) => {
    const [operation] = FromOpenAPI(oneOperation("/x", method.toLowerCase(), {}), {
      namespace: "api",
    })

    expect(operation?.annotations).toMatchObject(annotations)
  })

  test("webhooks and callbacks are no operations", () => {
    const spec = openapi(
      { "/x": { post: { ...OK, callbacks: { done: { "{$url}": { post: OK } } } } } },
      { webhooks: { created: { post: OK } } },
    )

    expect(FromOpenAPI(spec, { namespace: "api" }).map(({ name }) => name)).toEqual(["post_x"])
  })
})

describe("which operations there are", () => {
  const spec = openapi({
    "/a": { get: { operationId: "one", tags: ["x"], ...OK }, summary: "no method", "x-get": OK },
    "/b": { post: { operationId: "two", deprecated: true, ...OK } },
    "x-internal": { get: OK },
    "/empty": null,
  })

  test("all of them, in their order", () => {
    expect(FromOpenAPI(spec, { namespace: "api" }).map(({ name }) => name)).toEqual(["one", "two"])
  })

  test("those that a filter takes, which sees what the document says", () => {
    const seen: unknown[] = []
    const operations = FromOpenAPI(spec, {
      namespace: "api",
      filter: (operation) => {
        seen.push(operation)
        return !operation.deprecated
      },
    })

    expect(seen).toEqual([
      { method: "GET", path: "/a", operationId: "one", tags: ["x"], deprecated: false },
      { method: "POST", path: "/b", operationId: "two", tags: [], deprecated: true },
    ])
    expect(operations.map(({ name }) => name)).toEqual(["one"])
    expect(operations.report.counts).toMatchObject({ kept: 1, filtered: 1 })
  })

  test("none, in a document without paths", () => {
    for (const document of [
      { openapi: "3.1.0" },
      { openapi: "3.1.0", paths: null },
      { openapi: "3.2.0", components: {} },
      swagger({}),
    ]) {
      const operations = FromOpenAPI(document, { namespace: "api" })
      expect(operations).toHaveLength(0)
      expect(operations.report.counts).toMatchObject({ kept: 0, widened: 0, skipped: 0 })
    }
  })
})
