import { gunzipSync } from "node:zlib"
import { describe, expect, test } from "vitest"
import { CHANNELS, metaOf, textOf, usingEverything } from "./support.ts"

// Every tool that is there for a client that cannot be asked anything.
const PLAIN_TOOLS = [
  "echo",
  "get-annotated-message",
  "get-env",
  "get-resource-links",
  "get-resource-reference",
  "get-structured-content",
  "get-sum",
  "get-tiny-image",
  "gzip-file-as-resource",
  "simulate-research-query",
  "toggle-simulated-logging",
  "toggle-subscriber-updates",
  "trigger-long-running-operation",
]

describe.each(CHANNELS)("everything over %s", (channel) => {
  const every = usingEverything(channel)

  test("is told apart, and lists what it has for such a client", () => {
    expect(every.server.wrapper.client.peer).toMatchObject({
      era: "legacy",
      protocolVersion: "2025-11-25",
      serverInfo: { name: "mcp-servers/everything", version: "2.0.0" },
    })
    expect(every.server.wrapper.tools.map(({ name }) => name).toSorted()).toEqual(PLAIN_TOOLS)
    expect(every.server.wrapper.instructions).toContain("Everything")
  })

  test("texts come as blocks, with who said them", async () => {
    const envelope = await every.server.call("echo", { message: "grüße 世界 \u0000" })

    expect(envelope.data).toEqual([{ type: "text", text: "Echo: grüße 世界 \u0000" }])
    expect(metaOf(envelope)).toMatchObject({
      source: "mcp",
      isError: false,
      server: "every",
      tool: "echo",
      era: "legacy",
      serverInfo: { name: "mcp-servers/everything" },
    })
    expect(textOf(await every.server.call("get-sum", { a: 1, b: 2 }))).toBe(
      "The sum of 1 and 2 is 3.",
    )
  })

  test.each([
    ["error", 1, ["user", "assistant"]],
    ["success", 0.7, ["user"]],
    ["debug", 0.3, ["assistant"]],
  ])("annotations of %s blocks are kept", async (messageType, priority, audience) => {
    const { data } = await every.server.call("get-annotated-message", {
      messageType,
      includeImage: true,
    })

    expect(data).toMatchObject([
      { type: "text", annotations: { priority, audience } },
      { type: "image", mimeType: "image/png", annotations: { priority: 0.5, audience: ["user"] } },
    ])
  })

  test("images are bytes of an image", async () => {
    const { data } = await every.server.call("get-tiny-image")
    const [before, image, after] = data as { type: string; data: string; mimeType: string }[]

    expect([before?.type, image?.mimeType, after?.type]).toEqual(["text", "image/png", "text"])
    expect(
      Buffer.from(image?.data ?? "", "base64")
        .subarray(1, 4)
        .toString(),
    ).toBe("PNG")
  })

  test("links to resources keep all that they say", async () => {
    const { data } = await every.server.call("get-resource-links", { count: 2 })

    expect(data).toEqual([
      { type: "text", text: expect.stringContaining("2 resource links") },
      {
        type: "resource_link",
        uri: "demo://resource/dynamic/blob/1",
        name: "Blob Resource 1",
        description: "Resource 1: plaintext resource",
        mimeType: "text/plain",
      },
      expect.objectContaining({ uri: "demo://resource/dynamic/text/2", name: "Text Resource 2" }),
    ])
  })

  test.each([
    ["Text", "text"],
    ["Blob", "blob"],
  ])("a resource that is embedded as %s has its %s", async (resourceType, key) => {
    const { data } = await every.server.call("get-resource-reference", {
      resourceType,
      resourceId: 3,
    })

    expect(data).toMatchObject([
      { type: "text" },
      { type: "resource", resource: { mimeType: "text/plain", [key]: expect.any(String) } },
      { type: "text" },
    ])
  })

  test("structured results are the data, and fit their schema", async () => {
    const envelope = await every.server.call("get-structured-content", { location: "Chicago" })

    const weather = { temperature: 36, conditions: "Light rain / drizzle", humidity: 82 }
    expect(envelope.data).toEqual(weather)
    expect(metaOf(envelope).structuredContent).toEqual(weather)
    expect(textOf(envelope)).toBe(JSON.stringify(weather))
  })

  test("a file is zipped, as a resource that is embedded", async () => {
    const { data } = await every.server.call("gzip-file-as-resource", {
      name: "hi.gz",
      data: "data:text/plain;base64,aGk=",
      outputType: "resource",
    })

    const [{ resource }] = data as [{ resource: { blob: string; mimeType: string } }]
    expect(resource.mimeType).toBe("application/gzip")
    expect(gunzipSync(Buffer.from(resource.blob, "base64")).toString()).toBe("hi")
  })

  test("what is toggled starts and stops", async () => {
    for (const tool of ["toggle-simulated-logging", "toggle-subscriber-updates"]) {
      expect(textOf(await every.server.call(tool))).toMatch(/^Started/)
      expect(textOf(await every.server.call(tool))).toMatch(/^Stopped/)
    }
  })
})
