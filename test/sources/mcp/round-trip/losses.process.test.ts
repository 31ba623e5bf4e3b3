import { describe, expect, test } from "vitest"
import { serveAwkward } from "../awkward/http.ts"
import { awkward } from "../support/awkward.ts"
import { rejection } from "../../../support/operations.ts"
import { connect, gateway } from "./support.ts"
import type { Answer } from "./support.ts"
import { waitFor } from "../../../support/wait-for.ts"

const ERAS = ["legacy", "modern"] as const

/** A failure that a model can read. */
function wordsOf({ result }: Answer): string {
  expect(result).toMatchObject({ isError: true })
  const [block] = (result?.["content"] ?? []) as { text?: string }[]
  return block?.text ?? ""
}

describe.each(ERAS)("a server that is lost, for a %s client", (era) => {
  test.each(ERAS)("a %s process that ends is an answer, and it is started again", async (up) => {
    await using gate = await gateway({ ...awkward({ stderr: "out of cheese" }), era: up })
    await using client = await connect(gate.way, era)
    const waiting = client.call("hang")
    await client.call("echo", { text: "begun" })

    const crash = wordsOf(await client.call("crash", { code: 7 }))

    expect(crash).toMatch(/^UNAVAILABLE: .*"crash".*code 7/)
    // What its process wrote is for the application, not for callers.
    expect(crash).not.toContain("out of cheese")
    expect(wordsOf(await waiting)).toContain("UNAVAILABLE")
    const { result } = await client.call("echo", { text: "again" })
    expect(result).toMatchObject({ content: [{ text: "again" }] })
    expect(gate.wrapper.status().pid).toBeDefined()
  })

  test("a process that ends with each call never takes the gateway along", async () => {
    await using gate = await gateway(awkward({ crashOnCall: true }))
    await using client = await connect(gate.way, era)

    const words = []
    for (let call = 0; call < 2; call++)
      words.push(wordsOf(await client.call("echo", { text: "" })))

    expect(words.every((text) => text.startsWith("UNAVAILABLE"))).toBe(true)
    expect((await client.tools()).map(({ name }) => name)).toContain("echo")
  })

  test.each(ERAS)("a %s server over HTTP that is cut off is an answer", async (up) => {
    const server = await serveAwkward({ era: up })
    await using gate = await gateway({ url: server.url, era: up })
    await using client = await connect(gate.way, era)
    const waiting = client.call("hang")
    await waitFor(() => expect(server.peer.calls).toBe(1))
    server.cut()

    expect(wordsOf(await waiting)).toContain("UNAVAILABLE")
    expect((await client.call("echo", { text: "again" })).result).toMatchObject({
      content: [{ text: "again" }],
    })
    await server[Symbol.asyncDispose]()
    expect(wordsOf(await client.call("echo", { text: "gone" }))).toContain("UNAVAILABLE")
    expect((await client.tools()).length).toBeGreaterThan(30)
  })

  test("one that asks who is calling is an answer without its secrets", async () => {
    await using server = await serveAwkward({ era: "dual", token: "right" })
    await using gate = await gateway({
      url: server.url,
      headers: { authorization: "Bearer right" },
    })
    await using client = await connect(gate.way, era)
    server.faults.token = "changed"

    const words = wordsOf(await client.call("echo", { text: "hi" }))

    expect(words).toContain("UNAUTHENTICATED")
    expect(words.replace("Bearer ${env:TOKEN}", "")).not.toContain("Bearer")
    expect(words).not.toContain("right")
  })
})

describe.each(ERAS)("a %s client that leaves", (era) => {
  test("takes back what it has begun, and nothing of others", async () => {
    await using server = await serveAwkward({ era: "modern" })
    await using gate = await gateway({ url: server.url })
    await using other = await connect(gate.way, era)
    const client = await connect(gate.way, era)
    const slow = other.call("slow", { ms: 1500 })
    const hang = rejection(client.call("hang"))
    await waitFor(() => expect(server.peer.calls).toBe(2))

    if (era === "legacy") await terminate(client.client.transport)
    await client[Symbol.asyncDispose]()
    await hang

    await waitFor(() => expect(server.peer.cancelled).toMatchObject([{ tool: "hang" }]))
    expect((await slow).result).toMatchObject({ content: [{ text: "done" }] })
  })
})

/** Ends a session: until then a client of that era may come back for its answer. */
async function terminate(transport: unknown): Promise<void> {
  await (transport as { terminateSession(): Promise<void> }).terminateSession()
}

test("a definition too deep for clients is left out: the list with it is lost to them", async () => {
  await using gate = await gateway(awkward({ groups: "schemas" }))
  await using client = await connect(gate.way, "legacy")

  const { tools } = await client.client.listTools()

  expect(tools.map(({ name }) => name)).toContain("recursive")
  expect(tools.map(({ name }) => name)).not.toContain("deep")
  expect(gate.wrapper.warnings.join()).toContain("nested deeper")
})
