import type { DryRun } from "../../../src/core/dry-run.ts"
import { createServer } from "node:http"
import type { IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { readArgs } from "../../../src/cli/args.ts"
import { sourceOptions } from "../../../src/cli/shared-options.ts"
import { openTarget } from "../../../src/cli/target/index.ts"
import type { Target } from "../../../src/cli/model.ts"
import { root } from "../../support/manifest.ts"
import { testIO } from "../support/run.ts"
import type { RunOptions } from "../support/run.ts"

const petstore = resolve(root, "node_modules/@readme/oas-examples/3.0/json/petstore.json")
const CANARY = "canary-0123456789"
const signal = new AbortController().signal
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "operations-cli-"))
  await mkdir(join(folder, "ops"))
  await writeFile(join(folder, "ops", "dice.mjs"), MODULE)
  const sources = {
    dice: { scan: "./ops" },
    pets: { openapi: petstore, headers: { "x-plain": "${env:SECRET}" }, auth: "${env:SECRET}" },
    gone: { openapi: "./missing.json" },
    off: { openapi: "./missing.json", disabled: true },
  }
  await writeFile(join(folder, "operations.config.json"), JSON.stringify({ sources }))
})

afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})

const MODULE = `
const base = { version: "1.0.0", accessControl: { requiredScopes: ["play"] }, outputSchema: {} }
const inputSchema = { type: "object", properties: { sides: { type: "integer" } } }
const roll = {
  ...base, namespace: "dice", name: "roll", type: "mutation", description: "Rolls a die.", inputSchema,
  handler: ({ sides = 6 }) => sides,
}
const rolls = {
  ...base, namespace: "dice", name: "rolls", type: "subscription", description: "Rolls.", inputSchema,
  async *handler({ sides = 6 }) { yield sides; yield sides + 1 },
}
const hidden = {
  ...base, namespace: "dice", name: "hidden", type: "query", description: "Hidden.", inputSchema,
  visibility: "internal", handler: () => 1,
}
export default [roll, rolls, hidden]
`

function open(argv: readonly string[] = [], options: RunOptions = {}): Promise<Target> {
  const env = { SECRET: CANARY }
  return openTarget(readArgs(argv, sourceOptions), testIO({ cwd: folder, env, ...options }))
}

describe("sources opened in this process", () => {
  test("are listed together; a failing source is reported, the others are listed", async () => {
    await using target = await open()
    const { operations, total } = await target.list({})

    expect(operations.map(({ id }) => id)).toEqual(operations.map(({ id }) => id).toSorted())
    expect(operations.map(({ id }) => id)).toContain("dice.roll")
    expect(operations.map(({ id }) => id)).toContain("pets.addPet")
    expect(operations.map(({ id }) => id)).not.toContain("dice.hidden")
    expect(total).toBe(operations.length)
    expect(target.failures).toMatchObject([{ name: "gone", reason: expect.any(String) as string }])
  })

  test("are narrowed and searched", async () => {
    await using target = await open()

    expect(await target.list({ namespace: "dice", type: "subscription" })).toMatchObject({
      operations: [{ id: "dice.rolls" }],
      total: 1,
    })
    expect(await target.list({ namespace: "dice", limit: 1 })).toMatchObject({
      operations: [{ id: "dice.roll" }],
      total: 2,
    })
    expect((await target.list({ query: "roll a die" })).operations[0]?.id).toBe("dice.roll")
    expect((await target.list({ query: "zzzzzz" })).total).toBe(0)
  })

  test("only what an id needs is opened", async () => {
    await using target = await open()

    expect(await target.find("pets.addPet")).toMatchObject({ namespace: "pets", name: "addPet" })
    expect(target.failures).toEqual([])
  })

  test("operations of a folder are opened with everything: they may call the rest", async () => {
    await using target = await open()
    await target.find("dice.roll")

    expect(target.failures).toMatchObject([{ name: "gone" }])
  })

  test("names are found by their end; internal ones are not there", async () => {
    await using target = await open()

    expect(await target.find("addPet")).toMatchObject({ namespace: "pets" })
    expect(await target.find("roll")).toMatchObject({ name: "roll" })
    await expect(target.find("dice.hidden")).rejects.toMatchObject({ code: "OPERATION_NOT_FOUND" })
    await expect(target.find("gone.thing")).rejects.toThrow(
      '"gone.thing" is not available: its source "gone" could not be opened. ',
    )
    expect((await target.specs?.())?.map(({ name }) => name)).toContain("hidden")
  })

  test("are called with the rights of the owner of the configuration", async () => {
    await using target = await open()

    expect(await target.execute("dice.roll", { sides: 4 }, { signal })).toMatchObject({ data: 4 })
    const items: unknown[] = []
    for await (const { data } of target.subscribe("dice.rolls", {}, { signal })) items.push(data)
    expect(items).toEqual([6, 7])
    await expect(target.execute("dice.roll", { sides: "x" }, { signal })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
    })
  })

  test("show a request without anything secret, and send nothing", async () => {
    await using target = await open()
    const show = async (id: string, input: object) =>
      (await target.execute(id, input, { signal, dryRun: true })).data as DryRun
    const { request } = await show("pets.getPetById", { petId: 7 })

    expect(request).toMatchObject({
      method: "GET",
      url: expect.stringMatching(/\/pet\/7$/) as string,
    })
    expect(request?.headers).toMatchObject({ "x-plain": "***" })
    expect(JSON.stringify(request)).not.toContain("canary")
    expect(await show("dice.roll", {})).toEqual({ dryRun: true, decision: "allow" })
  })

  test("a document on the command line is called for real", async () => {
    const seen: IncomingMessage[] = []
    const server = createServer((request, response) => {
      seen.push(request)
      response.setHeader("content-type", "application/json")
      response.end('{"id":7,"name":"Rex","photoUrls":[]}')
    })
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
    const { port } = server.address() as AddressInfo
    try {
      await using target = await open([
        ...["--openapi", petstore, "--base-url", `http://127.0.0.1:${port}`],
        ...["--header", "x-own: ${env:SECRET}", "--header", "authorization: Bearer abc"],
      ])
      const { data } = await target.execute("petstore.getPetById", { petId: 7 }, { signal })

      expect(data).toMatchObject({ name: "Rex" })
      expect(seen[0]).toMatchObject({ url: "/pet/7", headers: { "x-own": CANARY } })
    } finally {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    }
  })

  test("a missing variable is named, its value never", async () => {
    await using target = await open([], { env: {} })
    await target.list({})

    expect(target.failures).toContainEqual({
      name: "pets",
      namespace: "pets",
      reason: expect.stringContaining("SECRET") as string,
    })
  })

  test("stopping ends the opening; closing twice is fine", async () => {
    const stop = new AbortController()
    const target = await open([], { signal: stop.signal })
    const listing = target.list({})
    stop.abort("SIGINT")

    await expect(listing).rejects.toMatchObject({ code: "ABORTED" })
    await target[Symbol.asyncDispose]()
    await target[Symbol.asyncDispose]()
    await expect(target.list({})).rejects.toMatchObject({ code: "ABORTED" })
  })

  test("--config reads another file, and its mistakes are reported with their place", async () => {
    await writeFile(join(folder, "bad.json"), '{\n  "sources": {\n    "a": { "sacn": "x" }\n  }\n}')

    await expect(open(["--config", "bad.json"])).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      message: expect.stringMatching(/bad\.json:3.*scan/s) as string,
    })
    await expect(open(["--config", "nowhere.json"])).rejects.toThrow("nowhere.json")
  })

  test("ad hoc sources stand beside those of --config", async () => {
    await using target = await open(["--config", "operations.config.json", "--openapi", petstore])
    const ids = (await target.list({})).operations.map(({ id }) => id)

    expect(ids).toContain("pets.addPet")
    expect(ids).toContain("petstore.addPet")
    expect(ids).toContain("dice.roll")
  })
})
