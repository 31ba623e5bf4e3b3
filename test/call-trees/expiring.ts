// Ways into a registry with tokens that expire, for clients that renew them: HTTP, and MCP of both eras, in this process.
import { createMCPClient } from "../../src/from-mcp.ts"
import { createHTTPTransport } from "../../src/http.ts"
import { CallError, createClient, createRegistry } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import type { CallErrorJSON } from "../../src/index.ts"
import type { AnyRegistry } from "../../src/engine/registry.ts"
import { readBearerToken, toHTTP } from "../../src/to-http.ts"
import { toMCP } from "../../src/to-mcp.ts"
import type { NodeClock } from "../protocol/sim/clock.ts"
import type { OpenWay, WayIn } from "./play.ts"
import type { Place } from "./world.ts"

const URL_OF_HUB = "https://hub.test"

/** How a server is wrong on purpose. */
interface Mistake {
  /** It refuses a token that expires while the handler runs. */
  readonly isStrict: boolean
}

/** A server whose tokens are good for so many milliseconds, and a client's token for it. */
function serve({ registry, clock }: Place, lifetime: number, { isStrict }: Mistake) {
  const mcp = toMCP(registry, { logger: silentLogger })
  const api = toHTTP(registry, {
    clock,
    logger: silentLogger,
    authenticate: (request) => {
      const expiresAt = Number(readBearerToken(request))
      return expiresAt > clock.wallTime() ? { id: "ada", scopes: [], expiresAt } : undefined
    },
    mounts: { "/mcp": mcp },
  })
  const fetch: typeof globalThis.fetch = (input, init) => {
    const request = new Request(input, init)
    const answer = api.fetch(request)
    if (!isStrict) return answer
    const expiresAt = Number(request.headers.get("authorization")?.replace("Bearer ", ""))
    const left = expiresAt - clock.wallTime()
    const refusal = clock.sleep(left).then(() => new Response(undefined, { status: 401 }))
    return Promise.race([answer, refusal])
  }
  const close = async (): Promise<void> => {
    await mcp.close()
    await api.close()
  }
  return { fetch, close, wallet: new Wallet(clock, lifetime) }
}

class Wallet {
  readonly #clock: NodeClock
  readonly #lifetime: number
  #expiresAt = 0

  constructor(clock: NodeClock, lifetime: number) {
    this.#clock = clock
    this.#lifetime = lifetime
    this.renew()
  }

  renew(): void {
    this.#expiresAt = this.#clock.wallTime() + this.#lifetime
  }

  get token(): string {
    return String(this.#expiresAt)
  }
}

/** The MCP client of this package, with a provider that renews its token after a 401. */
export function overMCP(
  era: "legacy" | "modern",
  lifetime: number,
  mistake: Mistake = { isStrict: false },
): OpenWay {
  return async (place): Promise<WayIn> => {
    const { fetch, close, wallet } = serve(place, lifetime, mistake)
    const wrapper = await createMCPClient("up", {
      url: `${URL_OF_HUB}/mcp`,
      fetch,
      era,
      logger: silentLogger,
      authProvider: {
        token: () => Promise.resolve(wallet.token),
        onUnauthorized: () => Promise.resolve(wallet.renew()),
      },
    })
    const { clock } = place
    const here: AnyRegistry = createRegistry([], { logger: silentLogger })
    wrapper.registerAll(here)
    const call: WayIn["call"] = async (id, input, options) => {
      const { metadata, timeout = 0, signal } = options ?? {}
      // The client's clock is real, and stands still.
      const leaving = new AbortController()
      const leave = (): void => leaving.abort()
      signal?.addEventListener("abort", leave)
      const timer = clock.setTimeout(leave, timeout)
      const name = `up.${id.replace(".", "_")}`
      const whole = { ...(input as object), ...metadata }
      const given = { signal: leaving.signal }
      const { data, meta } = await here
        .execute(name, whole, given)
        .finally(() => clock.clearTimeout(timer))
      const [{ text }] = data as readonly [{ readonly text: string }]
      if (meta.source === "mcp" && meta.isError) throw errorOf(text, meta._meta ?? {})
      return { data: JSON.parse(text) as unknown, meta }
    }
    return {
      call,
      close: async () => {
        await wrapper.close()
        await here.close()
        await close()
      },
    }
  }
}

/** The HTTP client of this package, which renews its token after an error that asks for it. */
export function overHTTP(lifetime: number): OpenWay {
  return async (place): Promise<WayIn> => {
    const { fetch, close, wallet } = serve(place, lifetime, { isStrict: false })
    const { clock } = place
    const headers = (): Record<string, string> => ({ authorization: `Bearer ${wallet.token}` })
    const transport = createHTTPTransport(URL_OF_HUB, { fetch, headers, clock })
    const client = createClient(transport, { clock })
    const call: WayIn["call"] = async (id, input, options) => {
      const { metadata, identity: _, ...rest } = options ?? {}
      const send = () => client.call(id, { ...(input as object), ...metadata }, rest)
      return await send().catch((error: CallError) => {
        if (error.code !== "UNAUTHENTICATED" || error.mayHaveExecuted) throw error
        wallet.renew()
        return send()
      })
    }
    return {
      call,
      close: async () => {
        await client.close()
        await close()
      },
    }
  }
}

/** The error that a tool's result stands for, with the flags that it brings. */
function errorOf(text: string, meta: Readonly<Record<string, unknown>>): CallError {
  const { code, ...flags } = meta["alkdev.operations/error"] as CallErrorJSON
  return new CallError(code, text, flags)
}
