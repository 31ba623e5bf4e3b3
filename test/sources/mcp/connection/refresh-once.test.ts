import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { refreshForm, refreshOnce } from "../../../../src/sources/mcp/client/refresh-once.ts"
import { failure } from "./support.ts"

const TOKENS = new URL("https://login.example.org/token")
const form = (token: string): string => `grant_type=refresh_token&refresh_token=${token}`

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe("a request for new tokens", () => {
  test("is known by its form", () => {
    const body = form("a")

    expect(refreshForm({ method: "post", body })).toBe(body)
    expect(refreshForm({ method: "POST", body: new URLSearchParams(body) })).toBe(body)
    expect(refreshForm({ method: "POST", body: "grant_type=authorization_code" })).toBeUndefined()
    expect(refreshForm({ method: "POST", body: new Blob([body]) })).toBeUndefined()
    expect(refreshForm({ method: "PUT", body })).toBeUndefined()
    expect(refreshForm(undefined)).toBeUndefined()
  })

  test("is sent once, and its answer kept for a moment", async () => {
    const provider = {}
    const send = vi.fn(async () => Response.json({ access_token: "x" }))
    const ask = () => refreshOnce(provider, TOKENS, form("a"), send)

    const [one, two] = await Promise.all([ask(), ask()])
    expect(await one.json()).toEqual(await two.json())
    vi.advanceTimersByTime(5000)
    await ask()
    expect(send).toHaveBeenCalledOnce()
    vi.advanceTimersByTime(1)
    await ask()

    expect(send).toHaveBeenCalledTimes(2)
  })

  test("has the answer also for those who have read the new tokens already", async () => {
    const provider = {}
    const send = vi.fn(async () => Response.json({ refresh_token: "b" }))

    await refreshOnce(provider, TOKENS, form("a"), send)
    await refreshOnce(provider, TOKENS, form("b"), send)
    await refreshOnce(provider, TOKENS, form("c"), send)
    await refreshOnce({}, TOKENS, form("b"), send)

    expect(send).toHaveBeenCalledTimes(3)
  })

  test("may be sent again when it failed, or brought nothing that can be read", async () => {
    const provider = {}
    const answers = [
      () => new Response("busy", { status: 503 }),
      () => {
        throw new TypeError("fetch failed")
      },
      () => new Response("not JSON"),
    ]
    const send = async (): Promise<Response> => (answers.shift() ?? (() => new Response("")))()
    const ask = () => refreshOnce(provider, TOKENS, form("a"), send)

    expect((await ask()).status).toBe(503)
    expect((await failure(ask())).message).toBe("fetch failed")
    expect(await (await ask()).text()).toBe("not JSON")
    expect(await (await ask()).text()).toBe("not JSON")
  })
})
