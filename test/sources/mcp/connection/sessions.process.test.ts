// Sessions of callers with servers that keep state, as servers of browsers do.
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { describe, expect, onTestFinished, test, vi } from "vitest"
import type { Identity, InputRequest, InputResponse } from "../../../../src/index.ts"
import type { MCPClientConfig } from "../../../../src/from-mcp.ts"
import { VirtualClock } from "../../../support/virtual-clock.ts"
import { waitFor } from "../../../support/wait-for.ts"
import { failure, isAlive, open, textOf, type TestConnection } from "./support.ts"

const SERVER = resolve(import.meta.dirname, "../support/browser-server.mjs")

interface Browser {
  readonly config: MCPClientConfig
  /** Of all processes that were started. */
  readonly pids: () => number[]
}

function browser(): Browser {
  const folder = mkdtempSync(join(tmpdir(), "sessions-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, "pids")
  return {
    config: {
      command: [process.execPath, SERVER, `--pids=${file}`],
      sessions: "caller",
      era: "legacy",
      forwardInput: true,
    },
    pids: () => readFileSync(file, "utf8").trim().split("\n").map(Number),
  }
}

function caller(id: string): { readonly caller: { readonly identity: Identity } } {
  return { caller: { identity: { id, scopes: [] } } }
}

async function visit(used: TestConnection, id: string, url: string): Promise<void> {
  await used.call("navigate", { url }, caller(id))
}

async function pageOf(used: TestConnection, id: string): Promise<unknown> {
  return textOf(await used.call("snapshot", {}, caller(id)))
}

function accept(name: string): (request: InputRequest) => Promise<InputResponse> {
  return async () => ({ action: "accept", content: { name } })
}

describe("callers of a process that keeps state", () => {
  test("do not see each other's, with a process each", async () => {
    const { config, pids } = browser()
    await using used = open(config)
    await visit(used, "ada", "https://bank.example/ada")

    expect(await pageOf(used, "bob")).toBe("about:blank")
    expect(await pageOf(used, "ada")).toBe("https://bank.example/ada")
    // Keys of objects must not be mistaken for identities.
    expect(await pageOf(used, "__proto__")).toBe("about:blank")
    expect(textOf(await used.call("snapshot"))).toBe("about:blank")
    expect(new Set(pids()).size).toBe(4)
  })

  test("share it with sessions: shared", async () => {
    const { config, pids } = browser()
    await using used = open({ ...config, sessions: "shared" })
    await visit(used, "ada", "https://bank.example/ada")

    expect(await pageOf(used, "bob")).toBe("https://bank.example/ada")
    expect(pids()).toHaveLength(1)
  })

  test("are asked for once whether the program may run", async () => {
    const approve = vi.fn(() => true)
    await using used = open({ ...browser().config, approve })
    await used.connection.connect()
    await Promise.all(["ada", "bob"].map((id) => pageOf(used, id)))

    expect(approve).toHaveBeenCalledTimes(1)
  })

  test("get a new process when theirs has ended", async () => {
    const { config, pids } = browser()
    await using used = open(config)
    await visit(used, "ada", "https://a.example")
    await visit(used, "bob", "https://b.example")
    process.kill(pids()[0] ?? 0, "SIGKILL")
    await waitFor(() => expect(isAlive(pids()[0] ?? 0)).toBe(false))

    expect(await pageOf(used, "ada")).toBe("about:blank")
    expect(await pageOf(used, "bob")).toBe("https://b.example")
  })

  test("may be a hundred: processes are bounded, end when they are not used, and none is left", async () => {
    const { config, pids } = browser()
    const clock = new VirtualClock()
    const used = open({ ...config, maxTotalTimeout: 3_600_000 }, { clock })
    const ids = Array.from({ length: 100 }, (_, at) => `caller-${at}`)
    for (let at = 0; at < ids.length; at += 10) {
      await Promise.all(
        ids.slice(at, at + 10).map((id) => visit(used, id, `https://${id}.example`)),
      )
    }
    expect(pids()).toHaveLength(100)
    await waitFor(() => expect(pids().filter(isAlive)).toHaveLength(50))
    // The least recently used ones have ended.
    expect(await pageOf(used, "caller-99")).toBe("https://caller-99.example")

    const requestInput = vi.fn(() => new Promise<InputResponse>(() => {}))
    const ended = failure(used.call("confirm", {}, { ...caller("caller-99"), requestInput }))
    await waitFor(() => expect(requestInput).toHaveBeenCalled())
    await clock.runTo(clock.time + 599_000)
    expect(pids().filter(isAlive)).toHaveLength(50)
    await clock.runTo(clock.time + 2000)
    await waitFor(() => expect(pids().filter(isAlive)).toHaveLength(1))

    await used.connection.close()
    expect((await ended).code).toBe("UNAVAILABLE")
    expect(pids().filter(isAlive)).toEqual([])
  })
})

describe("a question of a process with several running calls", () => {
  test("is asked of the caller whose process it is", async () => {
    await using used = open(browser().config)
    await visit(used, "ada", "https://a.example")
    await visit(used, "bob", "https://b.example")
    const ask = (id: string): Promise<unknown> =>
      used.call("confirm", {}, { ...caller(id), requestInput: accept(id) }).then(textOf)

    expect(await Promise.all([ask("ada"), ask("bob")])).toEqual(["accept by ada", "accept by bob"])
  })

  test("is asked of their caller, also when the call that asks it has ended meanwhile", async () => {
    await using used = open(browser().config)
    const asked: string[] = []
    const requestInput = (name: string) => async (): Promise<InputResponse> => {
      asked.push(name)
      return { action: "accept", content: { name } }
    }
    const ada = caller("ada")
    const both = await Promise.all([
      used.call("confirm", {}, { ...ada, requestInput: requestInput("first") }).then(textOf),
      used.call("confirm", {}, { ...ada, requestInput: requestInput("second") }).then(textOf),
    ])
    expect(both.every((text) => /^accept by (?:first|second)$/.test(String(text)))).toBe(true)
    expect(asked).toHaveLength(2)

    const controller = new AbortController()
    const first = used.call("confirm", {}, { ...ada, requestInput: requestInput("first") })
    const last = failure(
      used.call(
        "wait",
        { ms: 60_000 },
        {
          ...ada,
          signal: controller.signal,
          requestInput: () => {
            controller.abort()
            return new Promise(() => {})
          },
        },
      ),
    )
    expect((await last).code).toBe("ABORTED")
    expect(textOf(await first)).toBe("accept by first")
  })
})
