import { describe, expect, test } from "vitest"
import { FromOpenAPI } from "../../../src/from-openapi.ts"
import { oneOperation, openapi, record, sent, sentTo } from "./recorder.ts"
import type { Raw } from "./recorder.ts"

const OK = { responses: { 200: { description: "" } } }

function get(path: string, parameters: readonly Raw[] = []): Raw {
  return oneOperation(path, "get", { parameters })
}

function text(name: string, place = "path"): Raw {
  return { name, in: place, required: place === "path", schema: { type: "string" } }
}

describe("a path", () => {
  test.each<[string, string, Raw[], Raw, string]>([
    [
      "with a variable as part of a segment",
      "/calls/{Sid}.json",
      [text("Sid")],
      { Sid: "C/1" },
      "/calls/C%2F1.json",
    ],
    [
      "with two variables in a segment",
      "/compare/{base}...{head}",
      [text("base"), text("head")],
      { base: "v1", head: "feature/x" },
      "/compare/v1...feature%2Fx",
    ],
    [
      "with a call in it",
      "/reports/get(period='{period}')",
      [text("period")],
      { period: "D7" },
      "/reports/get(period='D7')",
    ],
    ["with a verb", "/jobs/{id}:cancel", [text("id")], { id: "a:b" }, "/jobs/a%3Ab:cancel"],
    ["with a slash at its end", "/pets/", [], {}, "/pets/"],
    ["that is only a slash", "/", [], {}, "/"],
    ["with a fragment, which is dropped", "/oauth2/token#refresh", [], {}, "/oauth2/token"],
    ["with a query, which is kept", "/files?beta=true", [], {}, "/files?beta=true"],
    [
      "with a query and parameters after it",
      "/files?beta=true",
      [text("q", "query")],
      { q: "x" },
      "/files?beta=true&q=x",
    ],
    [
      "with a variable in its query",
      "/files?kind={kind}",
      [text("kind", "query")],
      { kind: "a b" },
      "/files?kind=a%20b",
    ],
    ["with letters of another script", "/żółw", [], {}, "/%C5%BC%C3%B3%C5%82w"],
    ["with characters that are encoded already", "/a%20b", [], {}, "/a%20b"],
    [
      "with a variable that nobody declares",
      "/v/{api-version}",
      [],
      { "api-version": "2" },
      "/v/2",
    ],
    [
      "with a variable that stands there twice",
      "/{id}/copies/{id}",
      [text("id")],
      { id: "7" },
      "/7/copies/7",
    ],
  ])("%s", async (_what, path, parameters, input, expected) => {
    expect((await sent(get(path, parameters), input)).line).toBe(`GET ${expected} HTTP/1.1`)
  })

  test("that differs from another only in its fragment, query or variables is another one", async () => {
    const spec = openapi({
      "/token": { post: { operationId: "get token", ...OK } },
      "/token#refresh": { post: { operationId: "get token", ...OK } },
      "/token?beta=true": { post: OK },
      "/token/{a}": { get: OK },
      "/token/{b}": { get: OK },
    })
    const operations = FromOpenAPI(spec, { namespace: "api" })

    expect(operations.map(({ name }) => name)).toEqual([
      "get_token",
      "get_token_2",
      "post_token_beta_true",
      "get_token_by_a",
      "get_token_by_b",
    ])
    expect((await sent(spec, {}, {}, "get_token_2")).line).toBe("POST /token HTTP/1.1")
    expect((await sent(spec, { b: "x" }, {}, "get_token_by_b")).line).toBe("GET /token/x HTTP/1.1")
  })

  test("is below the path of the server, with or without slashes", async () => {
    await using server = await record()
    for (const base of ["/v1", "/v1/", "/a%20b/c/"]) {
      const { line } = await sentTo(server, get("/pets"), {}, { baseUrl: server.url + base })
      expect(line).toBe(`GET ${base.replace(/\/$/, "")}/pets HTTP/1.1`)
    }
  })
})

describe("a method", () => {
  test.each([
    ["get", "query"],
    ["head", "query"],
    ["put", "mutation"],
    ["post", "mutation"],
    ["delete", "mutation"],
    ["options", "mutation"],
    ["patch", "mutation"],
    ["query", "query"],
  ])("%s is sent in capitals, and is a %s", async (method, type) => {
    const spec = oneOperation("/x", method, {}, { openapi: "3.2.0" })
    const [operation] = FromOpenAPI(spec, { namespace: "api" })

    expect((await sent(spec)).line).toBe(`${method.toUpperCase()} /x HTTP/1.1`)
    expect(operation?.type).toBe(type)
  })

  test("of the document's own making is sent as well", async () => {
    const spec = openapi(
      { "/x": { additionalOperations: { COPY: { operationId: "op", ...OK } } } },
      { openapi: "3.2.0" },
    )

    expect((await sent(spec)).line).toBe("COPY /x HTTP/1.1")
  })

  test("that no request can have is left out, and the report says so", () => {
    const spec = openapi(
      { "/x": { additionalOperations: { "A B": OK, CONNECT: OK, LOCK: OK } } },
      { openapi: "3.2.0" },
    )
    const operations = FromOpenAPI(spec, { namespace: "api" })

    expect(operations.map(({ name }) => name)).toEqual(["lock_x"])
    expect(operations.report.counts).toMatchObject({ kept: 1, skipped: 2 })
  })
})
