import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { openHub } from "../../../src/cli/target/open-hub.ts"
import { isDryRun, type DryRun } from "../../../src/core/dry-run.ts"
import type { ResolvedConfig } from "../../../src/config/model.ts"
import { resolveConfig } from "../../../src/config/resolve.ts"
import type { Hub } from "../../../src/hub/model.ts"
import { DOCUMENT, folderWith, moduleText } from "../support/folder.ts"
import type { TestFolder } from "../support/folder.ts"
import { testIO } from "../support/run.ts"

const text = (name: string, place: string): object => ({
  name,
  in: place,
  schema: { type: "string" },
})
const posted = (operationId: string, type: string, schema: object): object => ({
  post: {
    operationId,
    requestBody: { required: true, content: { [type]: { schema } } },
    responses: { 204: { description: "Done" } },
  },
})
const API = {
  openapi: "3.1.0",
  info: { title: "Api", version: "1.0.0" },
  servers: [{ url: "http://127.0.0.1:9" }],
  paths: {
    "/search": {
      get: {
        operationId: "search",
        parameters: [
          ...["q", "sig", "key", "auth_code"].map((name) => text(name, "query")),
          ...["X-Signature", "X-Plain", "X-My-Key"].map((name) => text(name, "header")),
        ],
        responses: { 204: { description: "Done" } },
      },
    },
    "/json": posted("json", "application/json", { type: "object" }),
    "/bytes": posted("bytes", "application/octet-stream", { type: "string", format: "binary" }),
    "/form": posted("form", "multipart/form-data", {
      type: "object",
      properties: { note: { type: "string" }, file: { type: "string", format: "binary" } },
    }),
  },
}

let folder: TestFolder
let hub: Hub

async function prepared(id: string, input: unknown): Promise<DryRun["request"]> {
  const envelope = await hub.registry.execute(id, input, { dryRun: true })
  expect(isDryRun(envelope)).toBe(true)
  return (envelope.data as DryRun).request
}

function config(): ResolvedConfig {
  const sources = {
    api: {
      openapi: "./api.json",
      baseUrl: "http://127.0.0.1:9",
      headers: { "x-own": "${env:OWN}" },
    },
    own: { scan: "./operations" },
    gone: { openapi: "./missing.json" },
    off: { openapi: "./missing.json", disabled: true },
    weather: { openapi: "./weather.yaml" },
  }
  return resolveConfig({ sources }, { baseDir: folder.path })
}

beforeAll(async () => {
  folder = await folderWith({
    "api.json": JSON.stringify(API),
    "weather.yaml": DOCUMENT,
    "operations/own.mjs": moduleText("own", "first"),
  })
  hub = await openHub(config(), testIO({ env: { OWN: "canary-0123" } }), ["api", "own"])
})

afterAll(async () => {
  await hub.close()
  await folder[Symbol.asyncDispose]()
})

describe("the request that a call would send", () => {
  test("is undefined for operations without HTTP, and an error for an unknown one", async () => {
    expect(await prepared("own.first", {})).toBeUndefined()
    await expect(prepared("own.nothing", {})).rejects.toMatchObject({
      code: "OPERATION_NOT_FOUND",
      message: expect.stringContaining(`Operation "own.nothing" is not registered.`),
    })
  })

  test("masks credentials in the query and the headers, and nothing else", async () => {
    const input = {
      ...{ q: "cats & dogs", sig: "hush1", key: "hush2", auth_code: "hush3" },
      ...{ "X-Signature": "hush4", "X-Plain": "seen", "X-My-Key": "hush5" },
    }
    const request = await prepared("api.search", input)
    expect(request).toMatchObject({ method: "GET" })
    expect(request?.url).toContain("sig=***&key=***")
    expect(request?.url).toMatch(/[?&]q=cats/)
    const headers = new Headers(request?.headers)
    expect(headers.get("x-plain")).toBe("seen")
    expect(headers.get("x-own")).toBe("***")
    expect(JSON.stringify(request)).not.toMatch(/hush|canary/)
  })

  test("shows a text as it is, without what a reference stood for", async () => {
    const input = { body: { said: "canary-0123" } }
    const request = await prepared("api.json", input)
    expect(request?.body).toContain("***")
    expect(request?.body).not.toContain("canary")
  })

  test("shows the size of binary bodies", async () => {
    const bodies = [
      [new Uint8Array(3), /^\(3 bytes/],
      [new Blob(["four"], { type: "image/png" }), /^\(4 bytes/],
      [new Blob(["four"]).stream(), /^\(a stream of bytes\)$/],
    ] as const
    for (const [body, expected] of bodies) {
      const request = await prepared("api.bytes", { body })
      expect(request?.body).toMatch(expected)
    }
  })

  test("lists the parts of a form", async () => {
    const file = new File(["12345"], 'a "b".txt')
    const input = { body: { note: "hello", file } }
    const request = await prepared("api.form", input)
    expect(request?.body).toContain("note=hello")
    expect(request?.body).toContain(String.raw`file=(file "a \"b\".txt", 5 bytes)`)
  })
})

describe("openHub of a command", () => {
  const states = ["ready", "ready", "failed", "disabled", "ready"]
  const env = { OWN: "canary-0123" }

  test("reports the status of sources with --verbose", async () => {
    const io = testIO({ env })
    await using opened = await openHub(config(), { ...io, verbose: true })
    expect(opened.sources.map(({ state }) => state)).toEqual(states)
    expect(io.stderr.text).toContain("own: loading\n")
    expect(io.stderr.text).toContain("own: ready, 1 operations\n")
    expect(io.stderr.text).toMatch(/gone: failed, .+missing\.json/)
    expect(io.stderr.text).not.toContain("canary")
  })

  test("reports no status without --verbose", async () => {
    const io = testIO({ env })
    await using opened = await openHub(config(), io)
    expect(opened.sources.map(({ state }) => state)).toEqual(states)
    expect(io.stderr.text).toBe("")
  })

  test("does not open sources after Ctrl-C, and closes them if it comes meanwhile", async () => {
    const before = testIO({ signal: AbortSignal.abort(new Error("Before.")) })
    await expect(openHub(config(), before)).rejects.toThrow("Before.")

    const stop = new AbortController()
    const io = testIO({ signal: stop.signal, env: { OWN: "x" } })
    const stderr = {
      write() {
        stop.abort()
      },
    }
    await expect(openHub(config(), { ...io, stderr, verbose: true })).rejects.toMatchObject({
      code: "ABORTED",
      message: "Stopped while sources were opened.",
    })

    const later = new AbortController()
    const opening = openHub(
      resolveConfig({ sources: { slow: { scan: "./slow" } } }, { baseDir: folder.path }),
      testIO({ signal: later.signal }),
    )
    later.abort()
    await expect(opening).rejects.toMatchObject({ code: "ABORTED" })
  })
})
