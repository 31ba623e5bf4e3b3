import { setTimeout as sleep } from "node:timers/promises"
import { Type } from "typebox"
import { CallError, createRegistry, defineOperation, httpEnvelope } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import type { AnyRegistry, Identity, OperationContext } from "../../src/index.ts"
import { count, greet } from "../support/operations.ts"

/** Something that a handler did, for those who can only ask over the wire. */
export interface LogEntry {
  readonly what: string
  readonly at: number
}

/** How the serving side finds out who calls; a word, so that it can be sent to a worker thread. */
export type IdentityRule = "none" | "resolved"

/** The identity that `resolveIdentity` gives under the rule `resolved`, whatever a caller claims. */
const RESOLVED: Identity = { id: "resolved", scopes: ["demo:read"] }

/** `resolveIdentity` for a rule. */
export function identityRule(rule: IdentityRule): (() => Identity) | undefined {
  return rule === "resolved" ? () => RESOLVED : undefined
}

const open = { requiredScopes: [] } as const
const base = { version: "1.0.0", description: "Of the contract", accessControl: open } as const
const keyed = Type.Object({ key: Type.String() })

/** Resolves when a call has ended early; never otherwise. */
function ended(context: OperationContext): Promise<void> {
  return new Promise((resolve) => {
    if (context.signal.aborted) resolve()
    context.signal.addEventListener("abort", () => resolve(), { once: true })
  })
}

/** What is served in every test of the contract, and what the handlers did. */
export function contractOperations() {
  const log = new Map<string, LogEntry[]>()
  const note = (key: string, what: string): void => {
    const entries = log.get(key) ?? []
    entries.push({ what, at: Date.now() })
    log.set(key, entries)
  }
  const define = { namespace: "demo", ...base } as const
  // Typed apart from the operations, two of which change it.
  const own: { registry?: AnyRegistry } = {}
  const operations = [
    greet,
    count,
    defineOperation({
      ...define,
      name: "echo",
      type: "mutation",
      inputSchema: Type.Unknown(),
      outputSchema: Type.Unknown(),
      handler: (input) => input,
    }),
    defineOperation({
      ...define,
      name: "nothing",
      type: "mutation",
      inputSchema: Type.Unknown(),
      outputSchema: Type.Unknown(),
      handler: () => undefined,
    }),
    defineOperation({
      ...define,
      name: "order",
      type: "mutation",
      inputSchema: Type.Object({
        lines: Type.Array(Type.Object({ sku: Type.String(), amount: Type.Integer() })),
      }),
      outputSchema: Type.Unknown(),
      handler: () => "taken",
    }),
    defineOperation({
      ...define,
      name: "fail",
      type: "mutation",
      inputSchema: Type.Unknown(),
      outputSchema: Type.Unknown(),
      errorSchemas: [
        {
          code: "SOLD_OUT",
          description: "There is none left",
          schema: Type.Object({ sku: Type.String() }),
        },
      ],
      handler: (): never => {
        throw new CallError("SOLD_OUT", "There is no tea left.", {
          details: { sku: "tea" },
          retryable: true,
          mayHaveExecuted: false,
          retryAfterMs: 1500,
        })
      },
    }),
    defineOperation({
      ...define,
      name: "zqxwvy",
      type: "query",
      visibility: "internal",
      inputSchema: Type.Unknown(),
      outputSchema: Type.Unknown(),
      handler: () => "secret",
    }),
    defineOperation({
      ...define,
      name: "guarded",
      type: "query",
      accessControl: { requiredScopes: ["demo:read"] },
      inputSchema: Type.Unknown(),
      outputSchema: Type.Unknown(),
      handler: (_input, context) => context.identity?.id,
    }),
    defineOperation({
      ...define,
      name: "context",
      type: "query",
      inputSchema: Type.Unknown(),
      outputSchema: Type.Unknown(),
      handler: (_input, { requestId, parentRequestId, metadata, identity, deadline }) => ({
        requestId,
        parentRequestId: parentRequestId ?? null,
        metadata: metadata ?? null,
        identity: identity?.id ?? null,
        left: deadline === undefined ? null : deadline - Date.now(),
      }),
    }),
    defineOperation({
      ...define,
      name: "progress",
      type: "mutation",
      inputSchema: Type.Unknown(),
      outputSchema: Type.Unknown(),
      handler: async (_input, context) => {
        for (let step = 1; step <= 3; step++) {
          context.progress({ progress: step, total: 3, message: `step ${step}` })
          await sleep(1)
        }
        return "done"
      },
    }),
    defineOperation({
      ...define,
      name: "ask",
      type: "mutation",
      inputSchema: keyed,
      outputSchema: Type.Unknown(),
      handler: async ({ key }, { requestInput }) => {
        const ask = async (name: string): Promise<unknown> =>
          await requestInput({ message: "Who?", schema: { type: "object" }, key: name })
        try {
          return await Promise.all([ask("a"), ask("b")])
        } catch (error) {
          note(key, `unanswered ${(error as CallError).code}`)
          throw error
        }
      },
    }),
    defineOperation({
      ...define,
      name: "fetched",
      type: "query",
      inputSchema: Type.Unknown(),
      outputSchema: Type.Unknown(),
      handler: () =>
        httpEnvelope({ pets: 3 }, { statusCode: 203, headers: { etag: "x" }, contentType: "a/b" }),
    }),
    defineOperation({
      ...define,
      name: "slow",
      type: "mutation",
      inputSchema: Type.Object({ value: Type.Unknown(), delay: Type.Number() }),
      outputSchema: Type.Unknown(),
      handler: async ({ value, delay }) => {
        await sleep(delay)
        return value
      },
    }),
    defineOperation({
      ...define,
      name: "wait",
      type: "mutation",
      inputSchema: Type.Object({ key: Type.String(), depth: Type.Number() }),
      outputSchema: Type.Unknown(),
      handler: async ({ key, depth }, context) => {
        note(key, `started ${depth}`)
        context.signal.addEventListener("abort", () => note(key, `aborted ${depth}`), {
          once: true,
        })
        if (depth > 1) return (await context.call("demo.wait", { key, depth: depth - 1 })).data
        await ended(context)
        return undefined
      },
    }),
    defineOperation({
      ...define,
      name: "ticks",
      type: "subscription",
      inputSchema: Type.Object({
        key: Type.String(),
        to: Type.Number(),
        failAt: Type.Optional(Type.Number()),
        waitAt: Type.Optional(Type.Number()),
      }),
      outputSchema: Type.Object({ at: Type.Number() }),
      async *handler({ key, to, failAt, waitAt }, context) {
        note(key, "started")
        context.signal.addEventListener("abort", () => note(key, "aborted"), { once: true })
        let at = 0
        try {
          while (at < to) {
            at++
            if (at === failAt) throw new CallError("SOLD_OUT", `Nothing after ${at - 1}.`)
            if (at === waitAt) {
              note(key, "waiting")
              await ended(context)
            }
            yield { at }
          }
        } finally {
          note(key, `finally ${at}`)
        }
      },
    }),
    /** A stream whose position can be read while it runs. */
    defineOperation({
      ...define,
      name: "flood",
      type: "subscription",
      inputSchema: Type.Object({ key: Type.String(), to: Type.Number() }),
      outputSchema: Type.Object({ at: Type.Number() }),
      async *handler({ key, to }) {
        for (let at = 1; at <= to; at++) {
          log.set(key, [{ what: String(at), at: Date.now() }])
          yield { at }
        }
      },
    }),
    defineOperation({
      ...base,
      namespace: "probe",
      name: "log",
      type: "query",
      inputSchema: keyed,
      outputSchema: Type.Array(Type.Object({ what: Type.String(), at: Type.Number() })),
      handler: ({ key }) => log.get(key) ?? [],
    }),
    defineOperation({
      ...base,
      namespace: "probe",
      name: "add",
      type: "mutation",
      inputSchema: Type.Object({ name: Type.String() }),
      outputSchema: Type.Unknown(),
      handler: ({ name }) => {
        own.registry?.registerAll([{ ...greet, name, handler: () => ({ text: `I am ${name}` }) }])
      },
    }),
    defineOperation({
      ...base,
      namespace: "probe",
      name: "remove",
      type: "mutation",
      inputSchema: Type.Object({ name: Type.String() }),
      outputSchema: Type.Unknown(),
      handler: ({ name }) => own.registry?.unregister(`demo.${name}`),
    }),
  ] as const
  const registry = createRegistry(operations, { logger: silentLogger })
  own.registry = registry
  return { registry, log }
}

/** The registry that tests of the contract call. */
export type ContractRegistry = ReturnType<typeof contractOperations>["registry"]
