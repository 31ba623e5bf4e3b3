import { describe, expect, test } from "vitest"
import { rejection } from "../../../support/operations.ts"
import { CHANNELS, usingEverything } from "./support.ts"
import { waitFor } from "../../../support/wait-for.ts"

describe.each(CHANNELS)("everything has resources and prompts over %s", (channel) => {
  const every = usingEverything(channel, { resources: true, prompts: true })

  test("each is a query in a namespace of its own", () => {
    const ids = every.server.registry
      .list()
      .filter(({ namespace }) => namespace !== "every")
      .map(({ namespace, name, type }) => `${type} ${namespace}.${name}`)

    expect(ids).toEqual(expect.arrayContaining(["query every-resources.features.md"]))
    for (const prompt of ["simple", "args", "completable", "resource"]) {
      expect(ids).toContain(`query every-prompts.${prompt}-prompt`)
    }
    expect(ids.filter((id) => id.includes("Dynamic"))).toHaveLength(2)
  })

  test("a resource is read", async () => {
    const { data } = await every.server.registry.execute("every-resources.features.md")

    expect(data).toMatchObject({
      contents: [{ mimeType: "text/markdown", text: expect.stringContaining("echo") }],
    })
  })

  test.each([
    ["Dynamic_Text", { text: expect.stringContaining("Resource 7") }],
    ["Dynamic_Blob", { blob: expect.any(String) }],
  ])("a template %s takes its variables", async (start, contents) => {
    const { registry, wrapper } = every.server
    const name = wrapper.operations.find((operation) => operation.name.startsWith(start))?.name
    const id = `every-resources.${name}`

    expect((await registry.execute(id, { resourceId: "7" })).data).toMatchObject({
      contents: [contents],
    })
    expect(await rejection(registry.execute(id, {}))).toMatchObject({ code: "VALIDATION_ERROR" })
    expect(await rejection(registry.execute(id, { resourceId: "none" }))).toMatchObject({
      code: "EXECUTION_ERROR",
      message: expect.stringContaining("Unknown resource"),
    })
  })

  test.each([
    ["simple-prompt", {}, "without arguments"],
    ["args-prompt", { city: "Oslo" }, "What's weather in Oslo?"],
    ["args-prompt", { city: "Oslo", state: "NO" }, "What's weather in Oslo, NO?"],
    ["completable-prompt", { department: "Sales", name: "Eve" }, "promote Eve"],
  ])("%s is filled in with %o", async (prompt, input, text) => {
    const { data } = await every.server.registry.execute(`every-prompts.${prompt}`, input)

    expect(data).toMatchObject({
      messages: [{ role: "user", content: { type: "text", text: expect.stringContaining(text) } }],
    })
  })

  test("a prompt brings its resource along, and names what is missing", async () => {
    const id = "every-prompts.resource-prompt"
    const { data } = await every.server.registry.execute(id, {
      resourceType: "Text",
      resourceId: "2",
    })

    expect(data).toMatchObject({
      messages: [{}, { content: { type: "resource", resource: { mimeType: "text/plain" } } }],
    })
    expect(await rejection(every.server.registry.execute(id, {}))).toMatchObject({
      code: "VALIDATION_ERROR",
      message: expect.stringContaining("resourceType"),
    })
  })

  test("a resource that a tool makes is there as soon as the server tells of it", async () => {
    const name = `made-${channel}.gz`
    const { data } = await every.server.call("gzip-file-as-resource", {
      name,
      data: "data:text/plain,hello",
    })

    expect(data).toMatchObject([{ type: "resource_link", uri: `demo://resource/session/${name}` }])
    const id = `every-resources.${name}`
    await waitFor(() => expect(every.server.registry.has(id)).toBe(true))
    expect((await every.server.registry.execute(id)).data).toMatchObject({
      contents: [{ mimeType: "application/gzip", blob: expect.any(String) }],
    })
  })
})
