import { describe, expect, test } from "vitest"
import { awkward } from "../support/awkward.ts"
import { failure, open } from "./support.ts"

describe.each(["legacy", "modern"] as const)("lists of a %s server", (era) => {
  const server = (faults: Parameters<typeof awkward>[0], config = {}): ReturnType<typeof open> =>
    open({ ...awkward({ era, ...faults }), era, ...config })

  test("are read to the end, also through an empty cursor", async () => {
    await using whole = server({})
    await using paged = server({ pages: 4 })
    await using empty = server({ pages: 4, emptyCursor: true })

    const all = await whole.connection.list("tools")

    expect(all.items.length).toBeGreaterThan(30)
    expect((await paged.connection.list("tools")).items).toEqual(all.items)
    expect(await empty.connection.list("tools")).toMatchObject({ items: all.items, warnings: [] })
  })

  test("that lead back to their beginning end, with a warning", async () => {
    await using whole = server({})
    await using looping = server({ pages: 3, loop: true })

    const { items } = await whole.connection.list("tools")
    const list = await looping.connection.list("tools")

    expect(list.items.length).toBeGreaterThanOrEqual(items.length)
    expect(list.warnings).toHaveLength(1)
    expect(list.warnings[0]).toContain("does not end")
  })

  test("without an end are cut off, with a warning", async () => {
    await using pages = server({ endless: true }, { maxPages: 5 })
    await using tools = server({ fillers: 500 }, { maxTools: 100 })

    expect((await pages.connection.list("tools")).warnings[0]).toContain("maxPages")
    const list = await tools.connection.list("tools")
    expect(list.items).toHaveLength(100)
    expect(list.warnings[0]).toContain("maxTools")
  })

  test("are given with whatever is odd in them", async () => {
    await using odd = server({ groups: "names,nameless,duplicates,schemas,inputs" })
    await using nothing = server({ listIs: '"none"' })

    const { items } = await odd.connection.list("tools")

    expect(items.some((item) => (item as { name?: unknown }).name === "__proto__")).toBe(true)
    expect(await nothing.connection.list("tools")).toMatchObject({
      items: [],
      warnings: [expect.stringContaining("no list") as unknown],
    })
  })

  test("that are not declared are not asked for", async () => {
    await using none = server({ noTools: true })
    await using some = server({})

    expect(await none.connection.list("tools")).toEqual({
      items: [],
      ttlMs: undefined,
      warnings: [],
    })
    expect((await some.connection.list("resources")).items).toEqual([])
    const { journal } = (await some.ask("journal")) as { journal: { method?: string }[] }
    expect(journal.some(({ method }) => method === "resources/list")).toBe(false)
  })

  test("that are declared and not there are empty, with a warning", async () => {
    await using promising = server({ emptyPromises: true })

    for (const kind of ["resources", "prompts", "resourceTemplates"] as const) {
      const list = await promising.connection.list(kind)
      expect(list.items).toEqual([])
      expect(list.warnings[0]).toContain("does not support")
    }
  })

  test("that fail say why, and that do not come end in time", async () => {
    await using failing = server({ listFails: true })
    await using hanging = server({ hangOnList: true }, { timeout: 300 })

    const error = await failure(failing.connection.list("tools"))

    expect(error).toMatchObject({ code: "EXECUTION_ERROR", mayHaveExecuted: false })
    expect(error.message).toContain('"srv"')
    expect(await failure(hanging.connection.list("tools"))).toMatchObject({ code: "TIMEOUT" })
  })

  test("of resources and prompts work, and so does reading them", async () => {
    await using more = server({ more: true })
    const { connection } = more

    const resources = (await connection.list("resources")).items as { uri: string }[]
    const prompts = (await connection.list("prompts")).items as { name: string }[]
    expect((await connection.list("resourceTemplates")).items.length).toBeGreaterThan(0)

    const read = await connection.readResource(resources[0]?.uri ?? "", {})
    const prompt = await connection.getPrompt(prompts[0]?.name ?? "", {}, {})

    expect(read["contents"]).toBeInstanceOf(Array)
    expect(prompt["messages"]).toBeInstanceOf(Array)
    expect(await failure(connection.readResource("file:///nowhere", {}))).toMatchObject({
      code: "EXECUTION_ERROR",
      mayHaveExecuted: false,
    })
  })

  test("that change are reported once, however often it is said", async () => {
    await using changing = server({})
    await changing.connection.connect()
    const changed = new Promise<void>((resolve) => {
      changing.connection.onEvent(({ type }) => {
        if (type === "changed") resolve()
      })
    })

    for (let at = 0; at < 3; at++) await changing.call("change", { add: `more_${at}` })
    await changed

    expect(changing.events.filter(({ type }) => type === "changed").length).toBeLessThanOrEqual(2)
    expect(changing.events).toContainEqual({ type: "changed", kind: "tools" })
  })
})

test("how long a list is good for is what the server says", async () => {
  await using server = open({ ...awkward({ era: "modern", ttl: 90_000 }), era: "modern" })

  expect((await server.connection.list("tools")).ttlMs).toBe(90_000)
})
