import { Type } from "typebox"
import { describe, expect, test } from "vitest"
import { createRegistry } from "../../../src/engine/registry.ts"
import { silentLogger } from "../../../src/testing.ts"
import { operation } from "../../support/operations.ts"
import { apiOf } from "./routes-support.ts"

let calls = 0
const registry = createRegistry(
  [
    operation("repo.issues", {
      type: "mutation",
      inputSchema: Type.Object({}),
      outputSchema: Type.Array(
        Type.Object({ number: Type.Integer(), owner: Type.Object({ name: Type.String() }) }),
      ),
      handler: () => {
        calls++
        return [{ number: 1, owner: { name: "Ada" } }]
      },
    }),
    operation("repo.feed", {
      type: "subscription",
      inputSchema: Type.Object({}),
      outputSchema: Type.Object({ number: Type.Integer(), title: Type.String() }),
      async *handler() {
        calls++
        yield { number: 1, title: "One" }
      },
    }),
  ],
  { logger: silentLogger },
)

/** Calls the operation in every way that takes a selection, and returns the status and the data, or the problem. */
const WAYS: Readonly<
  Record<string, (api: ReturnType<typeof apiOf>, paths: readonly string[]) => Promise<unknown>>
> = {
  gateway: async (api, paths) => {
    const response = await api.post(`/operations/repo.issues?select=${paths.join(",")}`, {})
    const body = (await response.json()) as { data?: unknown }
    return body.data ?? body
  },
  "gateway, bare": async (api, paths) => {
    const query = paths.map((path) => `select=${path}`).join("&")
    return await (await api.post(`/operations/repo.issues?unwrap=1&${query}`, {})).json()
  },
  batch: async (api, paths) => {
    const response = await api.post("/batch", [{ id: "repo.issues", input: {}, select: paths }])
    const { results } = (await response.json()) as {
      results: { envelope?: { data: unknown }; problem?: unknown }[]
    }
    return results[0]?.envelope?.data ?? results[0]?.problem
  },
}

describe.each(Object.entries(WAYS))("a selection over the %s", (_, use) => {
  test("returns these fields alone", async () => {
    await using api = apiOf(registry)
    expect(await use(api, ["owner.name"])).toEqual([{ owner: { name: "Ada" } }])
  })

  test("is checked before anything runs", async () => {
    await using api = apiOf(registry)
    const before = calls
    expect(await use(api, ["number", "ownr"])).toMatchObject({
      code: "VALIDATION_ERROR",
      details: { errors: [{ path: "/select/1", message: expect.stringContaining("owner") }] },
    })
    expect(calls).toBe(before)
  })
})

test("a selection is made of each item of a stream, and checked before it starts", async () => {
  await using api = apiOf(registry)
  const read = async (select: string): Promise<string> => {
    const headers = { accept: "text/event-stream" }
    return await (await api.post(`/operations/repo.feed?select=${select}`, {}, headers)).text()
  }
  const events = await read("number")
  expect(events).toContain('"data":{"number":1}')
  const before = calls
  expect(await read("titel")).toContain('Did you mean \\"title\\"?')
  expect(calls).toBe(before)
})
