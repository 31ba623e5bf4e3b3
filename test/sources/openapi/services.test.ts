import { describe, expect, test } from "vitest"
import { OpenAPIServiceRegistry } from "../../../src/index.ts"
import { serve } from "../../http-client/server.ts"
import { quietRegistry, rejection, thrown } from "../../support/operations.ts"
import { oneOperation, record } from "./recorder.ts"

const SPEC = oneOperation("/x", "get", {})
const FS = { readFile: async () => JSON.stringify(SPEC) }

describe("OpenAPIServiceRegistry", () => {
  test("holds several APIs by their namespaces, and registers them all", async () => {
    await using server = await record()
    await using documents = await serve((_request, response) => {
      response.end(JSON.stringify(SPEC))
    })
    const services = new OpenAPIServiceRegistry()
    const baseUrl = server.url
    const one = services.add(SPEC, { namespace: "one", baseUrl })
    await services.addFromFile("/two.json", { namespace: "two", baseUrl }, FS)
    await services.addFromUrl(documents.url, { namespace: "three", baseUrl })
    const registry = quietRegistry()
    services.registerAll(registry)
    for (const id of ["one.op", "two.op", "three.op"]) await registry.execute(id, {})

    expect(services.size).toBe(3)
    expect(services.get("one")).toBe(one)
    expect(services.get("four")).toBeUndefined()
    expect(services.getAll().map(({ namespace }) => namespace)).toEqual(["one", "two", "three"])
    expect(server.requests).toHaveLength(3)
  })

  test("refuses a namespace that is taken, also while another one is loading", async () => {
    const services = new OpenAPIServiceRegistry()
    services.add(SPEC, { namespace: "one" })
    const loading = [1, 2].map(() => services.addFromFile("/a.json", { namespace: "two" }, FS))
    const outcomes = await Promise.allSettled(loading)

    expect(thrown(() => services.add(SPEC, { namespace: "one" }))).toMatchObject({
      code: "CONFLICT",
    })
    expect(
      await rejection(services.addFromUrl("https://a.test", { namespace: "one" })),
    ).toMatchObject({ code: "CONFLICT" })
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"])
    expect(services.size).toBe(2)
  })

  test("forgets one, and keeps what a failed import left alone", async () => {
    const services = new OpenAPIServiceRegistry()
    services.add(SPEC, { namespace: "one" })

    expect(services.remove("one")).toBe(true)
    expect(services.remove("one")).toBe(false)
    expect(thrown(() => services.add({}, { namespace: "one" }))).toMatchObject({
      code: "VALIDATION_ERROR",
    })
    expect(services.size).toBe(0)
    services.add(SPEC, { namespace: "one" })
    expect(services.getAll()).toHaveLength(1)
  })
})
