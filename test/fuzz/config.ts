import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inspect } from "node:util"
import { ConfigError, resolveConfig } from "../../src/config.ts"
import type { ResolvedConfig } from "../../src/config.ts"
import { isCallError } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import { createHub, loadConfig, serveHub } from "../../src/node.ts"
import { alien, junk } from "../sources/openapi/fuzz/junk.ts"
import { mutateData } from "../sources/openapi/fuzz/mutate.ts"
import { Random } from "../sources/openapi/fuzz/random.ts"
import { FUNCTIONS } from "../support/option-functions.ts"
import { expectThat, garble } from "./laws.ts"
import type { Fuzzer } from "./laws.ts"

const CANARY = "canary-9c31f-secret"

/** Configurations in which every name has a value. Nothing that they name exists. */
export const BASES: readonly (() => Record<string, unknown>)[] = [
  () => ({
    sources: {
      tools: {
        scan: "./none",
        namespace: "t",
        include: ["a.*"],
        exclude: "b.*",
        rename: { "a.b": "c.d" },
        visibility: "internal",
        access: [{ match: "a.*", requiredScopes: ["x"] }],
        disabled: true,
      },
      api: {
        openapi: "./none.yaml",
        baseUrl: "http://127.0.0.1:1",
        auth: { type: "bearer", token: CANARY },
        credentials: { key: CANARY },
        headers: { "x-key": CANARY },
        documentHeaders: { authorization: CANARY },
        timeout: 10,
      },
      server: {
        mcp: { command: "operations-no-such-program", args: ["a"], env: { KEY: CANARY } },
      },
      far: { remote: "http://127.0.0.1:1", token: CANARY, insecure: true },
      bus: { remote: "nats://127.0.0.1:1", prefix: "ops", user: "hub" },
    },
    registry: { timeout: 10, output: "strict", normalize: "strip" },
  }),
  () => ({
    sources: [{ scan: "./none" }, { mcp: "operations-no-such-program x" }],
    mcpServers: {
      files: { command: "operations-no-such-program", args: [1, true], env: { KEY: CANARY } },
      web: { url: "http://127.0.0.1:1/mcp", headers: { authorization: `Bearer ${CANARY}` } },
    },
    server: {
      port: 0,
      host: "127.0.0.1",
      title: "t",
      description: "d",
      basePath: "/x",
      apiKeys: [{ hash: "0".repeat(64), identity: { id: "a", scopes: ["s"] } }],
      jwt: { jwksUrl: "http://127.0.0.1:1/", issuer: "i", audience: "a", algorithms: ["ES256"] },
      allowedHosts: ["a"],
      allowedOrigins: ["https://a.test"],
      trustedProxies: ["127.0.0.1"],
      cors: { origins: ["https://a.test"] },
      rateLimit: { requests: 5, windowMs: 1000 },
      mcp: true,
      websocket: true,
      errors: "hide",
      console: false,
    },
  }),
]

/** Ways in which a configuration reaches the library. */
const WAYS = [
  "value",
  "value",
  "alien",
  "json",
  "yaml",
  "mcp.json",
  "text",
  "options",
  "hub",
] as const

interface Case {
  readonly way: (typeof WAYS)[number]
  readonly value: unknown
}

/** Wrong configurations and options: each is refused by a `ConfigError` or a `TypeError` that shows no secret, or works. */
export async function createConfigFuzzer(): Promise<Fuzzer> {
  const folder = await mkdtemp(join(tmpdir(), "operations-fuzz-"))
  return {
    show: caseOf,
    async run(seed) {
      const { way, value } = caseOf(seed)
      const random = new Random(seed ^ 0x5bd1e995)
      try {
        if (way === "options") await callWithOptions(value, random)
        else {
          const config = await configOf(way, value, folder, random)
          if (way === "hub") await open(config)
        }
        return `${way} accepted`
      } catch (error) {
        expectRefusal(error, way)
        return `${way} refused`
      }
    },
    async [Symbol.asyncDispose]() {
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function caseOf(seed: number): Case {
  const random = new Random(seed)
  const way = random.pick(WAYS)
  if (way === "options") return { way, value: random.once(4) ? alien(random) : junk(random) }
  const value = random.pick(BASES)()
  mutateData(value, random)
  if (way !== "alien") return { way, value: random.once(30) ? junk(random) : value }
  const holders = [value, ...Object.values(value).filter((part) => isObject(part))]
  const holder = random.pick(holders) as Record<string, unknown>
  const key = random.pick([...Object.keys(holder), "sources"])
  Object.defineProperty(holder, key, { value: alien(random), enumerable: true })
  return { way, value }
}

async function configOf(
  way: Case["way"],
  value: unknown,
  folder: string,
  random: Random,
): Promise<ResolvedConfig> {
  if (["value", "alien", "hub"].includes(way)) return resolveConfig(value, { baseDir: folder })
  const text = textOf(value)
  const name = random.pick(["operations.config.json", "operations.config.yaml", ".mcp.json"])
  const file = join(folder, way === "text" ? name : FILES[way as keyof typeof FILES])
  await writeFile(file, way === "text" && text !== "" ? garble(text, random) : text)
  return await loadConfig(file)
}

/** JSON of a value; of one that nests too deeply for that, a text that nests more deeply still. */
function textOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? ""
  } catch {
    return `{"sources":${"[".repeat(100_000)}${"]".repeat(100_000)}}`
  }
}

const FILES = {
  json: "operations.config.json",
  yaml: "operations.config.yaml",
  "mcp.json": ".mcp.json",
} as const

/** Opens what was accepted: sources fail one by one, and the hub does not. */
async function open(config: ResolvedConfig): Promise<void> {
  const sources = config.sources.filter((source) => isHarmless(inspect(source, { depth: 9 })))
  const hub = createHub({ ...config, sources }, { logger: silentLogger, retry: false })
  try {
    await hub.ready()
    for (const { name, state, reason = "" } of hub.sources) {
      expectThat(state !== "loading", `the source "${name.slice(0, 50)}" is loading for ever`)
      expectThat(!reason.includes(CANARY), "the reason of a source holds a secret")
    }
    const served = await serveHub(hub, { port: 0, host: "127.0.0.1" })
    await served.close()
  } finally {
    await hub.close()
  }
}

/** It starts no program that exists, and asks no other machine. */
function isHarmless(text: string): boolean {
  return !/evil|169\.254|command: '(?!operations-no-such-program)|mcp: '(?!operations-no)/.test(
    text,
  )
}

async function callWithOptions(options: unknown, random: Random): Promise<void> {
  const { construct } = random.pick(FUNCTIONS.filter(({ isPassive = true }) => isPassive))
  const made = await construct(options as never)
  const { close } = (made ?? {}) as { close?: () => unknown }
  if (typeof close === "function") await close.call(made)
}

function expectRefusal(error: unknown, way: Case["way"]): void {
  const isRefusal =
    error instanceof ConfigError ||
    (["options", "hub"].includes(way) && (isOwnTypeError(error) || isCallError(error)))
  if (!isRefusal) throw error
  const shown = `${inspect(error, { depth: 9 })}${JSON.stringify(error)}`
  expectThat(!shown.includes(CANARY), "the error holds a secret")
  expectThat((error as Error).message.length < 20_000, "the message is very long")
}

/** A `TypeError` that was written for a programmer, and none of the engine. */
function isOwnTypeError(error: unknown): boolean {
  return (
    error instanceof TypeError &&
    !/is not a function|of undefined|of null|is not iterable|not an object|convert/.test(
      error.message,
    )
  )
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null
}
