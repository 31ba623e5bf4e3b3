// @isolated: it counts the timers, listeners or processes that are left, also those of other files.
import { describe, expect, test, vi } from "vitest"
import { resolveServer } from "../../../../src/sources/mcp/config-resolve.ts"
import type { MCPClientConfig } from "../../../../src/sources/mcp/config.ts"
import { memoryPins } from "../../../../src/sources/mcp/pins.ts"
import type { PinStore } from "../../../../src/sources/mcp/pins.ts"
import { openWrapper, Wrapper } from "../../../../src/sources/mcp/client/wrapper.ts"
import { CallError } from "../../../../src/index.ts"
import { silentLogger } from "../../../../src/testing.ts"
import type { RegistryChange } from "../../../../src/index.ts"
import { operation, quietRegistry, rejection, thrown } from "../../../support/operations.ts"
import { StandIn } from "./stand-in.ts"
import { waitFor } from "../../../support/wait-for.ts"

function tool(name: string, parts: Readonly<Record<string, unknown>> = {}): object {
  return { name, description: `Does ${name}`, inputSchema: { type: "object" }, ...parts }
}

async function open(
  connection: StandIn,
  config: MCPClientConfig = {},
  pins: PinStore = memoryPins(),
): Promise<Wrapper> {
  const server = resolveServer(connection.name, {
    command: "unused",
    logger: silentLogger,
    ...config,
  })
  const opened = await openWrapper(server, connection, pins)
  if (opened instanceof Wrapper) return opened
  throw opened.error
}

function ids(wrapper: Wrapper): string[] {
  return wrapper.operations.map(({ namespace, name }) => `${namespace}.${name}`)
}

/** Settles with the next change. */
function nextChange(wrapper: Wrapper): Promise<unknown> {
  return new Promise((resolve) => wrapper.onToolsChanged(resolve))
}

describe("openWrapper", () => {
  test("connects, lists, and gives one operation per tool", async () => {
    const connection = new StandIn("files", [tool("read"), tool("write.all")])
    await using wrapper = await open(connection)

    expect(ids(wrapper)).toEqual(["files.read", "files.write.all"])
    expect(wrapper.status()).toMatchObject({
      name: "files",
      status: "ready",
      era: "legacy",
      serverInfo: { name: "stand-in" },
      tools: 2,
      quarantined: [],
    })
  })

  test("closes what it opened when the list cannot be had", async () => {
    const connection = new StandIn("files")
    connection.lists.tools = new Error("fetch failed")

    const error = await rejection(open(connection))

    expect(error).toMatchObject({ message: "fetch failed" })
    expect(connection.closes).toBe(1)
    expect(connection.listeners).toBe(0)
  })

  test("closes what it opened when it is aborted on the way", async () => {
    const connection = new StandIn("files", [tool("read")])
    const controller = new AbortController()
    connection.gate = new Promise((resolve) => {
      controller.signal.addEventListener("abort", () => resolve())
    })
    const server = resolveServer("files", { command: "unused", logger: silentLogger })
    const opening = openWrapper(server, connection, memoryPins(), controller.signal)
    await waitFor(() => expect(connection.listed).toEqual(["tools"]))

    controller.abort()

    expect(await opening).toMatchObject({ error: { code: "ABORTED" } })
    expect(connection.state).toBe("closed")
  })

  test("one odd tool hides nobody, and is reported", async () => {
    const items = [tool("a"), null, { name: "" }, tool("b"), { ...tool("a"), title: "Other" }, 7]
    await using wrapper = await open(new StandIn("files", items))

    expect(ids(wrapper)).toEqual(["files.a", "files.b"])
    expect(wrapper.operations[0]?.title).toBeUndefined()
    expect(wrapper.warnings).toHaveLength(4)
    expect(wrapper.warnings.join("\n")).toContain('Tool "a" is listed twice')
  })

  test("leaves out what is disabled, what the filter refuses and what it fails on", async () => {
    const items = ["a", "b", "c", "d", "__proto__"].map((name) => tool(name))
    await using wrapper = await open(new StandIn("files", items), {
      tools: { a: { disabled: true } },
      filter: ({ name }) => {
        if (name === "c") throw new Error("odd")
        return name !== "b"
      },
    })

    expect(ids(wrapper)).toEqual(["files.d", "files.__proto__"])
    expect(wrapper.warnings).toEqual(['Tool "c" was left out: the filter threw: odd'])
  })

  test("shows no secret of a child's last words", async () => {
    await using wrapper = await open(new StandIn("files"))

    expect(wrapper.status().stderrTail).toBe("token=*** last words")
  })
})

describe("a call", () => {
  test("passes signal, deadline, progress, trace and the tool's own timeout on", async () => {
    const connection = new StandIn("files", [tool("read")])
    connection.answer = ({ options }) => {
      options.progress?.({ progress: 1, total: 2 })
      return { content: [], structuredContent: { ok: true } }
    }
    await using wrapper = await open(connection, { tools: { read: { timeout: 77 } } })
    const registry = quietRegistry()
    wrapper.registerAll(registry)
    const progress = vi.fn<(value: unknown) => void>()
    const deadline = Date.now() + 60_000

    const envelope = await registry.execute(
      "files.read",
      { path: "/x", extra: undefined },
      {
        deadline,
        progress,
        metadata: {
          traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
          baggage: "k=v",
          user: "secret",
        },
      },
    )

    const [call] = connection.calls
    expect(call?.input).toStrictEqual({ path: "/x" })
    expect(call?.options).toMatchObject({
      // Converted to the clock of the registry and back, each in whole milliseconds.
      deadline: expect.closeTo(deadline, -1) as number,
      timeout: 77,
      isRepeatable: false,
      meta: {
        traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        baggage: "k=v",
      },
    })
    expect(call?.options.meta).not.toHaveProperty("user")
    expect(call?.options.signal?.aborted).toBe(false)
    expect(progress).toHaveBeenCalledWith({ progress: 1, total: 2 })
    expect(envelope).toMatchObject({
      data: { ok: true },
      meta: { source: "mcp", isError: false, server: "files", tool: "read", era: "legacy" },
    })
  })

  test("refuses what cannot be sent before anything is", async () => {
    const connection = new StandIn("files", [tool("read", { inputSchema: undefined })])
    await using wrapper = await open(connection)

    const error = await rejection(wrapper.client.callTool("read", { at: 1n }))

    expect(error).toMatchObject({
      code: "VALIDATION_ERROR",
      details: { errors: [{ path: "/at" }] },
    })
    expect(connection.calls).toEqual([])
  })

  test("of a tool that runs only as a task fails with the reason", async () => {
    const connection = new StandIn("files", [
      tool("long", { execution: { taskSupport: "required" } }),
      tool("short", { execution: { taskSupport: "optional" } }),
    ])
    await using wrapper = await open(connection)

    expect(await rejection(wrapper.client.callTool("long"))).toMatchObject({
      code: "EXECUTION_ERROR",
      mayHaveExecuted: false,
      details: { reason: "UNSUPPORTED" },
    })
    expect(await wrapper.client.callTool("short")).toMatchObject({ meta: { isError: false } })
  })

  test("of a tool that there is not says what there is", async () => {
    await using wrapper = await open(new StandIn("files", [tool("read")]))

    expect(await rejection(wrapper.client.callTool("raed"))).toMatchObject({
      code: "OPERATION_NOT_FOUND",
      message: 'MCP server "files" has no tool "raed". It has "read".',
    })
  })

  test.each([
    [{ readOnlyHint: true }, false, undefined, false],
    [{ readOnlyHint: true }, true, undefined, true],
    [{ idempotentHint: true }, true, undefined, true],
    [{ idempotentHint: true }, false, undefined, false],
    [{ readOnlyHint: true }, true, "mutation", false],
    [undefined, false, "query", true],
  ] as const)(
    "may be repeated only where that is safe, case %#",
    async (hints, trust, type, is) => {
      const connection = new StandIn("files", [tool("read", { annotations: hints })])
      await using wrapper = await open(connection, { trust, tools: { read: { type } } })

      await wrapper.client.callTool("read")

      expect(connection.calls[0]?.options.isRepeatable).toBe(is)
    },
  )

  test("finishes on the definition it began with", async () => {
    const connection = new StandIn("files", [tool("read")])
    let finish: (() => void) | undefined
    connection.answer = () =>
      new Promise((resolve) => {
        finish = () => resolve({ content: [], structuredContent: "late" })
      })
    await using wrapper = await open(connection)
    const registry = quietRegistry()
    wrapper.registerAll(registry)
    const call = registry.execute("files.read", {})
    await waitFor(() => expect(connection.calls).toHaveLength(1))

    connection.lists.tools = []
    await wrapper.refresh()
    finish?.()

    expect(registry.has("files.read")).toBe(false)
    expect((await call).data).toBe("late")
  })
})

describe("a refresh", () => {
  test("changes a registry in one turn, and touches only what has changed", async () => {
    const connection = new StandIn("files", [tool("same"), tool("other"), tool("gone")])
    await using wrapper = await open(connection)
    const registry = quietRegistry()
    wrapper.registerAll(registry)
    const same = registry.getSpec("files.same")
    const seen: string[] = []
    registry.onChange(({ type, id }: RegistryChange) => seen.push(`${type} ${id}`))
    connection.lists.tools = [tool("new"), tool("other", { title: "Otherwise" }), tool("same")]

    const changed = nextChange(wrapper)
    const change = await wrapper.refresh()

    expect(seen.toSorted()).toEqual([
      "added files.new",
      "removed files.gone",
      "replaced files.other",
    ])
    expect(await changed).toBe(change)
    expect(change.added.map(({ name }) => name)).toEqual(["new"])
    expect(change.replaced.map(({ title }) => title)).toEqual(["Otherwise"])
    expect(change.removed.map(({ name }) => name)).toEqual(["gone"])
    expect(registry.getSpec("files.same")).toBe(same)
  })

  test("follows when the server says that its tools changed", async () => {
    const connection = new StandIn("files", [tool("a")])
    await using wrapper = await open(connection)
    connection.lists.tools = [tool("b")]
    const changed = nextChange(wrapper)

    connection.tell({ type: "changed", kind: "tools" })
    await changed

    expect(ids(wrapper)).toEqual(["files.b"])
  })

  test("follows when the server was connected again", async () => {
    const connection = new StandIn("files", [tool("a")])
    await using wrapper = await open(connection)
    connection.lists.tools = [tool("a"), tool("b")]
    const changed = nextChange(wrapper)

    connection.tell({ type: "connected", isAgain: true })
    await changed

    expect(ids(wrapper)).toEqual(["files.a", "files.b"])
  })

  test("a storm of notices costs a list or two", async () => {
    vi.useFakeTimers()
    try {
      const connection = new StandIn("files", [tool("a")])
      await using wrapper = await open(connection)
      connection.lists.tools = [tool("b")]
      for (let index = 0; index < 1000; index++) {
        connection.tell({ type: "changed", kind: "tools" })
        if (index % 100 === 0) await vi.advanceTimersByTimeAsync(1)
      }
      await vi.advanceTimersByTimeAsync(1000)

      expect(ids(wrapper)).toEqual(["files.b"])
      expect(connection.listed.length).toBeLessThanOrEqual(3)
    } finally {
      vi.useRealTimers()
    }
  })

  test("does not ask for lists that nobody wants", async () => {
    vi.useFakeTimers()
    try {
      const connection = new StandIn("files", [tool("a")])
      await using wrapper = await open(connection)

      connection.tell({ type: "changed", kind: "resources" })
      await vi.advanceTimersByTimeAsync(10_000)

      expect(connection.listed).toEqual(["tools"])
      expect(wrapper.status().status).toBe("ready")
    } finally {
      vi.useRealTimers()
    }
  })

  test.each([
    [1, 5000],
    [60_000, 60_000],
    [1e12, 86_400_000],
  ])("comes when a list of %d ms is too old, after %d ms", async (ttlMs, after) => {
    vi.useFakeTimers()
    try {
      const connection = new StandIn("files", [tool("a")])
      connection.ttlMs = ttlMs
      await using wrapper = await open(connection)

      await vi.advanceTimersByTimeAsync(after - 1)
      expect(connection.listed).toHaveLength(1)
      await vi.advanceTimersByTimeAsync(300)

      expect(connection.listed).toHaveLength(2)
      await wrapper.close()
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  test.each([undefined, 0, Number.NaN, -1])("a lifetime of %s is no promise", async (ttlMs) => {
    vi.useFakeTimers()
    try {
      const connection = new StandIn("files", [tool("a")])
      connection.ttlMs = ttlMs
      await using _wrapper = await open(connection)

      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  test("starts no server just to look whether its list is too old", async () => {
    vi.useFakeTimers()
    try {
      const connection = new StandIn("files", [tool("a")])
      connection.ttlMs = 5000
      await using _wrapper = await open(connection)
      connection.state = "lost"

      await vi.advanceTimersByTimeAsync(60_000)

      expect(connection.listed).toHaveLength(1)
    } finally {
      vi.useRealTimers()
    }
  })

  test("those who ask at the same time share one, and those who come later the next", async () => {
    const connection = new StandIn("files", [tool("a")])
    await using wrapper = await open(connection)
    let release: (() => void) | undefined
    connection.gate = new Promise((resolve) => {
      release = resolve
    })

    const first = wrapper.refresh()
    const second = wrapper.refresh()
    const third = wrapper.refresh()
    connection.lists.tools = [tool("b")]
    release?.()

    expect((await first).added).toEqual([])
    expect((await second).added).toHaveLength(1)
    expect(await third).toBe(await second)
    expect(connection.listed).toHaveLength(3)
  })

  test("that fails leaves everything as it was, and is tried again", async () => {
    vi.useFakeTimers()
    try {
      const connection = new StandIn("files", [tool("a")])
      await using wrapper = await open(connection)
      const registry = quietRegistry()
      wrapper.registerAll(registry)
      connection.lists.tools = new CallError("EXECUTION_ERROR", "not now")

      connection.tell({ type: "changed", kind: "tools" })
      await vi.advanceTimersByTimeAsync(300)
      expect(registry.has("files.a")).toBe(true)
      expect(await rejection(wrapper.refresh())).toMatchObject({ message: "not now" })

      connection.lists.tools = [tool("b")]
      await vi.advanceTimersByTimeAsync(60_000)
      expect(registry.list().map(({ name }) => name)).toEqual(["b"])
    } finally {
      vi.useRealTimers()
    }
  })

  test("a listener that throws harms nobody else", async () => {
    const connection = new StandIn("files", [tool("a")])
    await using wrapper = await open(connection)
    wrapper.onToolsChanged(() => {
      throw new Error("mine")
    })
    const changed = nextChange(wrapper)
    connection.lists.tools = []

    await wrapper.refresh()

    await expect(changed).resolves.toMatchObject({ removed: [{ name: "a" }] })
  })
})

describe("registerAll", () => {
  test("registers all or none, and says which id is taken", async () => {
    const registry = quietRegistry([operation("files.b", { handler: () => "mine" })])
    await using wrapper = await open(new StandIn("files", [tool("a"), tool("b")]))

    expect(thrown(() => wrapper.registerAll(registry))).toMatchObject({
      code: "CONFLICT",
    })
    expect(registry.has("files.a")).toBe(false)
    expect((await registry.execute("files.b")).data).toBe("mine")
  })

  test("never takes the place of what somebody else registered, nor takes it out", async () => {
    const connection = new StandIn("files", [tool("a"), tool("c")])
    await using wrapper = await open(connection)
    const registry = quietRegistry()
    const stop = wrapper.registerAll(registry)
    registry.register(operation("files.b", { handler: () => "mine" }) as never)
    registry.register(operation("files.c", { handler: () => "mine too" }) as never, {
      replace: true,
    })

    connection.lists.tools = [tool("a"), tool("b"), tool("c", { title: "C" })]
    await wrapper.refresh()

    expect((await registry.execute("files.b")).data).toBe("mine")
    expect((await registry.execute("files.c")).data).toBe("mine too")
    stop()
    expect(registry.list().map(({ name }) => name)).toEqual(["c", "b"])
  })

  test("keeps several registries in step, each until it is stopped", async () => {
    const connection = new StandIn("files", [tool("a")])
    await using wrapper = await open(connection)
    const [one, two] = [quietRegistry(), quietRegistry()]
    const stop = wrapper.registerAll(one)
    wrapper.registerAll(two)

    stop()
    stop()
    connection.lists.tools = [tool("b")]
    await wrapper.refresh()

    expect(one.list()).toEqual([])
    expect(two.list().map(({ name }) => name)).toEqual(["b"])
  })

  test("survives a registry that was closed", async () => {
    const connection = new StandIn("files", [tool("a")])
    await using wrapper = await open(connection)
    const registry = quietRegistry()
    wrapper.registerAll(registry)
    await registry.close()
    connection.lists.tools = [tool("b")]

    await wrapper.refresh()

    expect(ids(wrapper)).toEqual(["files.b"])
  })
})

describe("close", () => {
  test("takes out what is registered, lets go of everything, and is fine twice", async () => {
    const connection = new StandIn("files", [tool("a")])
    const wrapper = await open(connection)
    const registry = quietRegistry()
    wrapper.registerAll(registry)

    await Promise.all([wrapper.close(), wrapper.close(), wrapper.client.close()])

    expect(connection.closes).toBe(1)
    expect(connection.listeners).toBe(0)
    expect(registry.list()).toEqual([])
    expect(await rejection(wrapper.refresh())).toMatchObject({
      code: "UNAVAILABLE",
      retryable: false,
    })
    expect(thrown(() => wrapper.registerAll(registry))).toMatchObject({
      code: "UNAVAILABLE",
    })
  })
})
