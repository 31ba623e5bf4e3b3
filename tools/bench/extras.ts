/** Rows beside the comparison: what particular features cost. */
import Type from "typebox"
import { badQuoteInputs, Quote, quote, QuoteInput, quoteInputs, quoteNow } from "./cases.ts"
import { nestedQuoteByHand, quoteByHand } from "./contenders/floor.ts"
import type { Library } from "./library.ts"
import { callLoop, streamLoop } from "./measure.ts"
import type { Workload } from "./measure.ts"

/** The rows, each with what it is compared with, and what closes them. */
export interface Extras {
  readonly workloads: readonly Workload[]
  close(): Promise<void>
}

/** The row with a target. */
export const REJECTED = "execute, rejected with three issues"
const SUBSCRIBED = "subscribe, per item"
const PUSHED = "subscribe to a push source, per item"
const LISTENED = "execute, with a listener of onCall"
const ERROR = "an Error with its stack, rejected"
const BARE_PUSH = "bare push source, per item"

const shop = { namespace: "shop", description: "", accessControl: { requiredScopes: [] } } as const
const schemas = { inputSchema: QuoteInput, outputSchema: Quote } as const
const stream = {
  type: "subscription",
  inputSchema: Type.Object({ count: Type.Integer() }),
  outputSchema: Quote,
} as const

/** Rows of calls, streams and registrations. */
export function extras(library: Library): Extras {
  const { createRegistry, defineOperation } = library
  const registry = createRegistry([
    defineOperation({ ...shop, ...schemas, name: "quote", type: "query", handler: quote }),
    defineOperation({ ...shop, ...schemas, name: "quoteNow", type: "query", handler: quoteNow }),
    defineOperation({
      ...shop,
      ...schemas,
      name: "nested",
      type: "query",
      handler: async (input, context) =>
        (await (context.call as UntypedCall)("shop.quote", input)).data as Quote,
    }),
    defineOperation({ ...shop, ...stream, name: "quotes", handler: ({ count }) => quotes(count) }),
    defineOperation({ ...shop, ...stream, name: "pushed", handler: ({ count }) => pushed(count) }),
  ])
  const watched = createRegistry([
    defineOperation({ ...shop, ...schemas, name: "quote", type: "query", handler: quote }),
  ])
  let ends = 0
  watched.onCall(({ phase }) => {
    if (phase === "end") ends++
  })
  const { signal } = new AbortController()
  const deadline = Date.now() + 3_600_000

  return {
    workloads: [
      calls("floor", quoteByHand),
      calls("execute", (input) => registry.execute("shop.quote", input)),
      calls("execute, synchronous handler", (input) => registry.execute("shop.quoteNow", input)),
      calls("execute, deadline given", (input) =>
        registry.execute("shop.quote", input, { deadline }),
      ),
      calls("execute, deadline and signal given", (input) =>
        registry.execute("shop.quote", input, { deadline, signal }),
      ),
      calls(LISTENED, (input) => watched.execute("shop.quote", input)),
      { name: ERROR, run: callLoop("error", rejectByHand, quoteInputs) },
      {
        name: REJECTED,
        against: ERROR,
        run: callLoop(
          "rejected",
          (input) => registry.execute("shop.quote", input as QuoteInput).catch(expectFaults),
          badQuoteInputs,
        ),
      },
      calls("two floors, nested", nestedQuoteByHand),
      calls(
        "execute, nested with context.call",
        (input) => registry.execute("shop.nested", input),
        "two floors, nested",
      ),
      { name: "bare async generator, per item", run: streamLoop("generator", quotes) },
      {
        name: SUBSCRIBED,
        against: "bare async generator, per item",
        run: streamLoop("subscribe", (count) => registry.subscribe("shop.quotes", { count })),
      },
      { name: BARE_PUSH, run: streamLoop("push", pushed) },
      {
        name: PUSHED,
        against: BARE_PUSH,
        run: streamLoop("pushed", (count) => registry.subscribe("shop.pushed", { count })),
      },
      ...registrations(library),
    ],
    close: async () => {
      if (ends === 0) throw new Error("The listener of onCall was never called.")
      await Promise.all([registry.close(), watched.close()])
    },
  }
}

function registrations({ OperationRegistry, defineOperation }: Library): Workload[] {
  const define = (index: number) =>
    defineOperation({
      ...shop,
      ...freshSchemas(),
      name: `quote${index}`,
      type: "query",
      handler: quoteNow,
    })
  return [
    {
      name: "building two schemas",
      run: async (count) => {
        for (let index = 0; index < count; index++) freshSchemas()
      },
    },
    {
      name: "register, cold",
      against: "building two schemas",
      run: async (count) => {
        const registry = new OperationRegistry()
        for (let index = 0; index < count; index++) registry.register(define(index))
      },
    },
    {
      name: "register and call once, cold",
      against: "building two schemas",
      run: async (count) => {
        const registry = new OperationRegistry()
        for (let index = 0; index < count; index++) {
          registry.register(define(index))
          await (registry as { execute: UntypedCall }).execute(`shop.quote${index}`, quoteInputs[0])
        }
      },
    },
  ]
}

// Handlers come before the registry that knows the types of what they call.
type UntypedCall = (id: string, input: unknown) => Promise<{ readonly data: unknown }>

function calls(
  name: string,
  call: (input: QuoteInput) => Promise<unknown>,
  against?: string,
): Workload {
  return { name, against, run: callLoop(name, call, quoteInputs) }
}

async function* quotes(count: number): AsyncGenerator<Quote, void, undefined> {
  for (let index = 0; index < count; index++) yield quoteNow(quoteInputs[index & 7] as QuoteInput)
}

/** A source whose items are available before they are requested, as with a socket or a queue. */
function pushed(count: number): AsyncIterableIterator<Quote> {
  let index = 0
  return {
    [Symbol.asyncIterator]() {
      return this
    },
    next: async () => {
      if (index >= count) return { done: true, value: undefined }
      return { done: false, value: quoteNow(quoteInputs[index++ & 7] as QuoteInput) }
    },
    return: async () => {
      index = count
      return { done: true, value: undefined }
    },
  }
}

async function rejectByHand(): Promise<void> {
  await Promise.reject(new TypeError("The input is invalid.")).catch(() => undefined)
}

function expectFaults(error: unknown): void {
  const { details } = error as { details?: { errors?: readonly unknown[] } }
  if (details?.errors?.length !== 3) throw error
}

let built = 0

/** Always different: engines cache compiled code by its text, which would hide the cost of compiling. */
function freshSchemas(): { inputSchema: typeof QuoteInput; outputSchema: typeof Quote } {
  const maximum = 1_000_000 + ++built
  return {
    inputSchema: Type.Object({
      sku: Type.String({ minLength: 1 }),
      quantity: Type.Integer({ minimum: 1, maximum }),
      express: Type.Boolean(),
    }),
    outputSchema: Type.Object({
      sku: Type.String({ minLength: 1 }),
      total: Type.Integer({ minimum: 0, maximum }),
      express: Type.Boolean(),
    }),
  }
}
