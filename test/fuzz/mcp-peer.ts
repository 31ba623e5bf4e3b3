// What a hostile MCP server says. No SDK: no well-behaved server would say most of it.

import { deep, junk, PATTERNS } from "../sources/openapi/fuzz/junk.ts"
import { mutateData } from "../sources/openapi/fuzz/mutate.ts"
import { Random } from "../sources/openapi/fuzz/random.ts"
import { garble } from "./laws.ts"

interface Message {
  readonly id?: unknown
  readonly method?: unknown
  readonly params?: unknown
}

/** Text to send, in order; `"cut"` ends the connection. */
export type Utterance = { readonly text: string } | "cut"

const INFO = { name: "hostile", version: "1.0.0" }

/** Made anew for each answer: answers are changed in place. */
function capabilities(): object {
  return {
    tools: { listChanged: true },
    resources: { subscribe: true, listChanged: true },
    prompts: { listChanged: true },
  }
}

function tool(name: string, random: Random): object {
  return {
    name,
    title: name,
    description: "Does something",
    inputSchema: {
      type: "object",
      properties: {
        text: { type: "string", pattern: random.pick(PATTERNS) },
        n: { type: "number" },
      },
    },
    outputSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
    annotations: { readOnlyHint: true },
  }
}

/** A right result of each method. */
const RESULTS: Readonly<Record<string, (random: Random) => Record<string, unknown>>> = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: capabilities(),
    serverInfo: { ...INFO },
    instructions: "Be kind",
  }),
  "server/discover": () => ({
    supportedVersions: ["2026-07-28"],
    capabilities: capabilities(),
    resultType: "complete",
    ttlMs: 0,
    cacheScope: "private",
  }),
  "tools/list": (random) => ({ tools: [tool("echo", random), tool("other", random)] }),
  "tools/call": () => ({
    content: [
      { type: "text", text: "x" },
      { type: "image", data: "AAAA", mimeType: "image/png" },
    ],
    structuredContent: { n: 1 },
  }),
  "resources/list": () => ({
    resources: [{ uri: "file:///a", name: "a", mimeType: "text/plain" }],
  }),
  "resources/templates/list": () => ({
    resourceTemplates: [{ uriTemplate: "file:///{+path}{?q*}", name: "t" }],
  }),
  "resources/read": () => ({ contents: [{ uri: "file:///a", text: "x" }] }),
  "prompts/list": () => ({ prompts: [{ name: "p", arguments: [{ name: "a", required: true }] }] }),
  "prompts/get": () => ({ messages: [{ role: "user", content: { type: "text", text: "x" } }] }),
  ping: () => ({}),
}

/** One server, whose behaviour follows from its seed and from what it is asked. */
export class HostilePeer {
  readonly #random: Random
  /** It is right about once in so many answers it is wrong. */
  readonly #tameness: number
  #page = 0
  #last: unknown = 0

  constructor(seed: number) {
    this.#random = new Random(seed)
    this.#tameness = 2 + this.#random.below(8)
  }

  get random(): Random {
    return this.#random
  }

  /** What it says to a message of the client. */
  answer(message: Message): Utterance[] {
    const random = this.#random
    const said: Utterance[] = random.once(6) ? this.#unasked() : []
    if (message.id === undefined || typeof message.method !== "string") return said
    const { id, method } = message
    const make = Object.hasOwn(RESULTS, method) ? RESULTS[method] : undefined
    const right =
      make === undefined
        ? { jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } }
        : { jsonrpc: "2.0", id, result: make(random) }
    if (random.once(this.#tameness)) said.push(...this.#wrong(right, id))
    else said.push({ text: JSON.stringify(right) })
    this.#last = id
    return said
  }

  #wrong(right: Record<string, unknown>, id: unknown): Utterance[] {
    const random = this.#random
    const text = JSON.stringify(right)
    const result = (right["result"] ?? {}) as Record<string, unknown>
    const say = (fields: object): Utterance[] => [{ text: textOf({ ...right, ...fields }) }]
    switch (random.below(16)) {
      case 0:
        return []
      case 1:
        return ["cut"]
      case 2:
        return [{ text: garble(text, random) }]
      case 3:
        return Array.from({ length: 3 }, () => ({ text }))
      case 4:
        return say({ id: random.pick([String(id), null, this.#last, -1, 1e300, {}, "__proto__"]) })
      case 5:
        return say({ error: { code: 1, message: "both" } })
      case 6:
        return say({ result: undefined, error: junk(random) })
      case 7:
        return say({
          result: undefined,
          error: { code: junk(random), message: junk(random), data: junk(random) },
        })
      case 8:
        return say({ result: junk(random) })
      case 9:
        return say({ result: { ...result, nextCursor: `page-${this.#page++}` } })
      case 10:
        return say({ result: { ...result, nextCursor: "again" } })
      case 11:
        return say({ result: this.#many(result) })
      case 12:
        return say({ result: { ...result, extra: deep(random), _meta: junk(random) } })
      case 13:
        return [{ text: `[${text},${text}]` }]
      case 14:
        return [
          {
            text: random.pick(["", " ", "null", "[]", "1", '"x"', "{}", "\u0000", "x".repeat(2e6)]),
          },
        ]
      default:
        mutateData(right, random)
        return [{ text: textOf(right) }]
    }
  }

  /** Lists of which each item is there very often, under one name or under names of its own. */
  #many(result: Record<string, unknown>): Record<string, unknown> {
    const isSame = this.#random.once(2)
    return Object.fromEntries(
      Object.entries(result).map(([key, value]) => {
        if (!Array.isArray(value)) return [key, value]
        const [item] = value as Record<string, unknown>[]
        const list = Array.from({ length: 3000 }, (_, at) =>
          isSame ? item : { ...item, name: `n${at}`, uri: `file:///${at}` },
        )
        return [key, list]
      }),
    )
  }

  /** Notifications and requests that nobody asked for. */
  #unasked(): Utterance[] {
    const random = this.#random
    const method = random.pick([
      ...["notifications/progress", "notifications/message", "notifications/cancelled"],
      ...["notifications/tools/list_changed", "notifications/resources/updated", "ping"],
      ...["sampling/createMessage", "elicitation/create", "roots/list", "__proto__", "tools/call"],
    ])
    const params = random.pick<() => unknown>([
      () => ({ progressToken: this.#last, progress: junk(random), total: "x" }),
      () => ({ requestId: this.#last, reason: junk(random) }),
      () => ({ message: "x", requestedSchema: junk(random) }),
      () => junk(random),
    ])()
    const isRequest = random.once(2)
    const message = { jsonrpc: "2.0", method, params, ...(isRequest && { id: junk(random) }) }
    const text = textOf(message)
    return Array.from({ length: random.once(4) ? 50 : 1 }, () => ({ text }))
  }
}

/** JSON; what nests too deeply to be written is written by hand. */
function textOf(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch {
    return `{"jsonrpc":"2.0","id":1,"result":${"[".repeat(50_000)}${"]".repeat(50_000)}}`
  }
}
