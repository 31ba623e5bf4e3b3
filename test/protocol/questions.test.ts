import { describe, expect, onTestFinished, test, vi } from "vitest"
import {
  CallError,
  createClient,
  fromCall,
  isCallError,
  OperationRegistry,
  PendingRequestMap,
  serveCalls,
} from "../../src/index.ts"
import { createMemoryTransports, silentLogger } from "../../src/testing.ts"
import type {
  AnyRegistry,
  CallEvent,
  InputRequest,
  InputResponse,
  OperationContext,
  Transport,
  TransportReceiver,
} from "../../src/index.ts"
import { callMapOver } from "../../src/protocol/pending/request-map.ts"
import { failure } from "../contract/link.ts"
import { VirtualClock } from "../support/virtual-clock.ts"
import { waitFor } from "../support/wait-for.ts"
import { operation } from "./support.ts"

const NAME: InputRequest = {
  message: "Who are you?",
  schema: { type: "object", properties: { name: { type: "string" } } },
}
const ADA: InputResponse = { action: "accept", content: { name: "Ada" } }
const CANNOT = { code: "UNAVAILABLE", details: { reason: "INPUT_UNAVAILABLE" } }

/** What the handlers got instead of an answer. */
let refused: unknown[] = []

async function asking({ requestInput }: OperationContext, request = NAME): Promise<unknown> {
  try {
    return await requestInput(request)
  } catch (error) {
    refused.push(error)
    throw error
  }
}

function askingRegistry(clock?: VirtualClock): OperationRegistry {
  refused = []
  const registry = new OperationRegistry({ logger: silentLogger, clock })
  registry.registerAll([
    operation("ask", "mutation", (_input, context) => asking(context)),
    operation("forward", "mutation", async (_input, { call }) => (await call("demo.ask")).data),
    operation("both", "mutation", (_input, context) =>
      Promise.all([asking(context), asking(context, { ...NAME, key: "second" })]),
    ),
    operation("many", "mutation", (input, context) =>
      Promise.allSettled(Array.from({ length: Number(input) }, () => asking(context))),
    ),
    operation("wrong", "mutation", (input, context) => asking(context, input as InputRequest)),
    operation("stream", "subscription", async function* (_input, context) {
      yield await asking(context)
    }),
  ])
  onTestFinished(() => registry.close())
  return registry
}

/** A transport that the test plays the peer of. */
class HandDriven implements Transport {
  readonly sent: CallEvent[] = []
  readonly carriesQuestions: boolean | undefined
  receiver!: TransportReceiver
  /** Called before an event is sent; may throw. */
  check: (event: CallEvent) => void = () => undefined

  constructor(carriesQuestions: boolean | undefined = true) {
    this.carriesQuestions = carriesQuestions
  }

  open(receiver: TransportReceiver): void {
    this.receiver = receiver
  }

  send(event: CallEvent): void {
    this.check(event)
    this.sent.push(event)
  }

  async close(): Promise<void> {}

  of<TType extends CallEvent["type"]>(type: TType): Extract<CallEvent, { type: TType }>[] {
    return this.sent.filter((event) => event.type === type) as Extract<CallEvent, { type: TType }>[]
  }
}

/** A served registry, of which the test is the caller. */
function servedByHand(clock?: VirtualClock, carriesQuestions?: boolean) {
  const link = new HandDriven(carriesQuestions)
  const options = { logger: silentLogger, ...(clock !== undefined && { clock }) }
  const server = serveCalls(askingRegistry(clock), { transport: link, ...options })
  const request = (requestId: string, more: object = {}): void =>
    link.receiver.event({
      type: "call.requested",
      requestId,
      operationId: "demo.ask",
      canAnswer: true,
      ...more,
    })
  const answer = (requestId: string, more: object): void =>
    link.receiver.event({ type: "call.answered", requestId, question: 1, ...more })
  onTestFinished(() => server.close())
  return { link, server, request, answer }
}

/** A caller, of which the test is the peer. */
function calledByHand() {
  const link = new HandDriven()
  const logger = { ...silentLogger, error: vi.fn() }
  const map = new PendingRequestMap(link, { logger })
  const ask = (requestId: string, question: number, request: unknown = NAME): void =>
    link.receiver.event({ type: "call.asked", requestId, question, request })
  onTestFinished(() => map.close())
  return { link, map, ask, logger }
}

interface Link {
  readonly map: PendingRequestMap
  readonly server: ReturnType<typeof serveCalls>
}

const LINKS: readonly (readonly [string, (registry: AnyRegistry) => Link])[] = [
  [
    "within one map",
    (registry) => {
      const map = new PendingRequestMap(undefined, { logger: silentLogger })
      return { map, server: serveCalls(registry, { callMap: map }) }
    },
  ],
  [
    "over memory",
    (registry) => {
      const [here, there] = createMemoryTransports()
      const server = serveCalls(registry, { transport: there, logger: silentLogger })
      return { map: new PendingRequestMap(here, { logger: silentLogger }), server }
    },
  ],
  [
    "over an EventTarget",
    (registry) => {
      const target = new EventTarget()
      const server = serveCalls(registry, { transport: target, logger: silentLogger })
      return { map: new PendingRequestMap(target, { logger: silentLogger }), server }
    },
  ],
]

describe.each(LINKS)("questions %s", (_name, open) => {
  function opened(): PendingRequestMap {
    const { map, server } = open(askingRegistry())
    onTestFinished(async () => {
      await server.close()
      await map.close()
    })
    return map
  }

  test("reach the caller, and the answer the handler, nested calls included", async () => {
    const map = opened()
    const requestInput = vi.fn(async () => ADA)
    for (const id of ["demo.ask", "demo.forward"]) {
      expect((await map.call(id, null, { requestInput })).data).toEqual(ADA)
    }
    expect(requestInput.mock.calls).toEqual([[NAME], [NAME]])
  })

  test("of a stream are answered before its items", async () => {
    const stream = opened().subscribe("demo.stream", null, { requestInput: async () => ADA })
    expect((await stream.next()).value?.data).toEqual(ADA)
    await stream.return()
  })

  test("at the same time are answered apart, in any order", async () => {
    const waiting: ((response: InputResponse) => void)[] = []
    const call = opened().call("demo.both", null, {
      requestInput: () => new Promise((resolve) => waiting.push(resolve)),
    })
    await waitFor(() => expect(waiting).toHaveLength(2))
    waiting[1]?.({ action: "decline" })
    waiting[0]?.(ADA)
    expect((await call).data).toEqual([ADA, { action: "decline" }])
  })

  test("to a caller that cannot be asked fail immediately", async () => {
    expect(await failure(opened().call("demo.ask"))).toMatchObject({
      ...CANNOT,
      message: expect.stringContaining("this caller cannot be asked") as string,
    })
  })

  test.each([
    ["throws what was not written for others", () => Promise.reject(new Error("canary-1"))],
    ["says why", () => Promise.reject(new CallError("UNAVAILABLE", "Nobody is at home."))],
    ["gives something else", () => Promise.resolve({ action: "perhaps" } as never)],
    ["gives nothing", () => Promise.resolve(undefined as never)],
  ])("have no answer when the caller %s", async (what, requestInput) => {
    const error = await failure(opened().call("demo.ask", null, { requestInput }))
    expect(error).toMatchObject(CANNOT)
    expect(error.message).not.toContain("canary")
    expect(error.message.includes("Nobody is at home.")).toBe(what === "says why")
  })

  test("that are none are a mistake of the handler", async () => {
    const requestInput = vi.fn(async () => ADA)
    const map = opened()
    for (const input of [{}, { type: "quiz", message: "?" }, { message: 1, schema: {} }]) {
      expect(await failure(map.call("demo.wrong", input, { requestInput }))).toMatchObject(CANNOT)
    }
    await failure(map.call("demo.wrong", null, { requestInput }))
    expect(refused.at(-1)).toBeInstanceOf(TypeError)
    expect(requestInput).not.toHaveBeenCalled()
  })

  test.each<InputRequest>([
    { type: "form", message: "?", schema: {}, key: "k" },
    { type: "url", message: "Pay.", url: "https://example.com/pay" },
    { type: "sampling", params: { messages: [] } },
    { type: "roots" },
  ])("of the type $type are carried as they are", async (request) => {
    const requestInput = vi.fn(async () => ADA)
    expect((await opened().call("demo.wrong", request, { requestInput })).data).toEqual(ADA)
    expect(requestInput).toHaveBeenCalledWith(request)
  })

  test("end with their call, and the handler continues", async () => {
    const leaving = new AbortController()
    const map = opened()
    const asked = vi.fn(() => new Promise<InputResponse>(() => undefined))
    const call = map.call("demo.ask", null, { requestInput: asked, signal: leaving.signal })
    await waitFor(() => expect(asked).toHaveBeenCalled())
    leaving.abort()
    expect((await failure(call)).code).toBe("ABORTED")
    await waitFor(() => expect(refused).toMatchObject([{ code: "ABORTED" }]))
  })
})

describe("a served request that asks", () => {
  test("sends nothing to callers that do not know questions", async () => {
    for (const more of [{ canAnswer: undefined }, { canAnswer: false }]) {
      const { link, request } = servedByHand()
      request("r", more)
      await waitFor(() => expect(link.of("call.error")).toMatchObject([CANNOT]))
      expect(link.of("call.asked")).toEqual([])
    }
  })

  test("sends nothing over a link that carries no questions", async () => {
    const { link, request } = servedByHand(undefined, false)
    request("r")
    await waitFor(() => expect(link.of("call.error")).toMatchObject([CANNOT]))
    expect(link.of("call.asked")).toEqual([])
  })

  test("takes the first answer, and ignores others and those to other questions", async () => {
    const { link, request, answer } = servedByHand()
    request("r")
    await waitFor(() => expect(link.of("call.asked")).toHaveLength(1))
    expect(link.sent).toEqual([{ type: "call.asked", requestId: "r", question: 1, request: NAME }])
    answer("other", { response: ADA })
    answer("r", { question: 2, response: ADA })
    answer("r", { response: ADA })
    answer("r", { response: { action: "decline" } })
    await waitFor(() => expect(link.of("call.responded")).toHaveLength(1))
    expect(link.of("call.responded")[0]?.output.data).toEqual(ADA)
    answer("r", { response: ADA })
    expect(link.sent).toHaveLength(2)
  })

  test("rejects an answer whose content does not match the schema, for the handler", async () => {
    const { link, request, answer } = servedByHand()
    request("r")
    await waitFor(() => expect(link.of("call.asked")).toHaveLength(1))
    const content = JSON.parse('{"name":7,"__proto__":{"polluted":true}}') as unknown
    answer("r", { response: { action: "accept", content } })
    const error = { code: "VALIDATION_ERROR", mayHaveExecuted: true }
    await waitFor(() => expect(link.of("call.error")).toMatchObject([error]))
    expect(Reflect.get({}, "polluted")).toBeUndefined()
  })

  test.each([{ response: {} }, { response: { action: 1 } }, { reason: "Because." }, {}])(
    "has no answer in %j",
    async (more) => {
      const { link, request, answer } = servedByHand()
      request("r")
      await waitFor(() => expect(link.of("call.asked")).toHaveLength(1))
      answer("r", more)
      await waitFor(() => expect(link.of("call.error")).toMatchObject([CANNOT]))
    },
  )

  test.each([{ response: "yes" }, { response: ADA, question: 0 }, { response: ADA, reason: 1 }])(
    "drops %j, which is no event, and waits for one",
    async (more) => {
      const { link, server, request, answer } = servedByHand()
      request("r")
      await waitFor(() => expect(link.of("call.asked")).toHaveLength(1))
      answer("r", more)
      expect(server.callMap.droppedCount).toBe(1)
      answer("r", { response: ADA })
      await waitFor(() => expect(link.of("call.responded")).toHaveLength(1))
    },
  )

  test("stops its clock while it waits, and ends five minutes later if there is no answer", async () => {
    const clock = new VirtualClock()
    const { link, request } = servedByHand(clock)
    request("r", { timeout: 1000 })
    await waitFor(() => expect(link.of("call.asked")).toHaveLength(1))
    await clock.advance(299_999)
    expect(link.of("call.error")).toEqual([])
    await clock.advance(1)
    const late = { code: "TIMEOUT", details: { reason: "INPUT_TIMEOUT" } }
    await waitFor(() => expect(link.of("call.error")).toMatchObject([late]))
    expect(refused).toMatchObject([late])
  })

  test("ends when its caller is lost while it waits", async () => {
    const { link, server, request } = servedByHand()
    request("r")
    await waitFor(() => expect(link.of("call.asked")).toHaveLength(1))
    link.receiver.lost(new CallError("UNAVAILABLE", "gone"))
    await waitFor(() => expect(refused).toMatchObject([{ code: "ABORTED" }]))
    expect(server.inFlight).toBe(0)
  })

  test("fails at once if the question cannot be sent, and can ask another", async () => {
    const { link, request } = servedByHand()
    link.check = ({ type }) => {
      if (type === "call.asked") throw new CallError("PAYLOAD_TOO_LARGE", "Too large.")
    }
    request("r")
    await waitFor(() => expect(link.of("call.error")).toHaveLength(1))
    expect(link.of("call.error")[0]).toMatchObject({ code: "PAYLOAD_TOO_LARGE" })
  })

  test("cannot ask after it has ended", async () => {
    const { link, request } = servedByHand()
    request("r", { operationId: "demo.ask" })
    await waitFor(() => expect(link.of("call.asked")).toHaveLength(1))
    link.receiver.event({ type: "call.aborted", requestId: "r" })
    await waitFor(() => expect(refused).toHaveLength(1))
  })
})

describe("a caller that is asked", () => {
  test("says so only where it answers", () => {
    const { link, map } = calledByHand()
    map.call("demo.ask", null, { requestInput: async () => ADA }).catch(() => undefined)
    map.call("demo.ask").catch(() => undefined)
    expect(link.of("call.requested").map(({ canAnswer }) => canAnswer)).toEqual([true, undefined])
  })

  test("answers each question once, and those of unknown kinds that it cannot", async () => {
    const { link, map, ask } = calledByHand()
    const requestInput = vi.fn(async () => ADA)
    const call = map.call("demo.ask", null, { requestInput })
    ask(call.requestId, 1)
    ask(call.requestId, 1)
    ask(call.requestId, 2, { type: "hologram", message: "?" })
    ask("unknown", 1)
    await waitFor(() => expect(link.of("call.answered")).toHaveLength(2))
    expect(link.of("call.answered").toSorted((a, b) => a.question - b.question)).toEqual([
      { type: "call.answered", requestId: call.requestId, question: 1, response: ADA },
      {
        type: "call.answered",
        requestId: call.requestId,
        question: 2,
        reason: "it does not know this kind of question.",
      },
    ])
    expect(requestInput).toHaveBeenCalledTimes(1)
    call.catch(() => undefined)
  })

  test("that did not say that it answers says that it cannot", async () => {
    const { link, map, ask } = calledByHand()
    const call = map.call("demo.ask")
    ask(call.requestId, 1)
    await waitFor(() => expect(link.of("call.answered")).toHaveLength(1))
    expect(link.of("call.answered")[0]?.response).toBeUndefined()
    call.catch(() => undefined)
  })

  test("keeps at most a hundred questions open", async () => {
    const { link, map, ask } = calledByHand()
    const requestInput = vi.fn(() => new Promise<InputResponse>(() => undefined))
    const call = map.call("demo.ask", null, { requestInput })
    for (let question = 1; question <= 150; question++) ask(call.requestId, question)
    await waitFor(() => expect(link.of("call.answered")).toHaveLength(50))
    expect(requestInput).toHaveBeenCalledTimes(100)
    expect(link.of("call.answered")[0]?.reason).toBe("it has 100 open questions already.")
    call.catch(() => undefined)
  })

  test("says that it cannot when its answer cannot be sent", async () => {
    const { link, map, ask } = calledByHand()
    link.check = (event) => {
      if (event.type === "call.answered" && event.response !== undefined) {
        throw new CallError("PAYLOAD_TOO_LARGE", "The answer is too large.")
      }
    }
    const call = map.call("demo.ask", null, { requestInput: async () => ADA })
    ask(call.requestId, 1)
    await waitFor(() => expect(link.of("call.answered")).toHaveLength(1))
    expect(link.of("call.answered")[0]?.reason).toBe("The answer is too large.")
    call.catch(() => undefined)
  })

  test("logs what its function throws, and does not send it", async () => {
    const { link, map, ask, logger } = calledByHand()
    const fail = async (): Promise<never> => {
      throw new Error("canary-2")
    }
    const call = map.call("demo.ask", null, { requestInput: fail })
    ask(call.requestId, 1)
    await waitFor(() => expect(link.of("call.answered")).toHaveLength(1))
    expect(JSON.stringify(link.sent)).not.toContain("canary")
    expect(logger.error).toHaveBeenCalledWith("A question could not be answered", {
      operationId: "demo.ask",
      error: expect.any(Error) as Error,
    })
    call.catch(() => undefined)
  })

  test.each(["resolves", "rejects"])(
    "sends nothing after its call has ended, if it %s",
    async (how) => {
      const { link, map, ask, logger } = calledByHand()
      let settle: () => void = () => undefined
      const call = map.call("demo.ask", null, {
        requestInput: () =>
          new Promise((resolve, reject) => {
            settle = () => (how === "resolves" ? resolve(ADA) : reject(new Error("late")))
          }),
      })
      ask(call.requestId, 1)
      call.abort()
      await failure(call)
      settle()
      await new Promise((resolve) => setImmediate(resolve))
      expect(link.of("call.answered")).toEqual([])
      expect(logger.error).not.toHaveBeenCalled()
    },
  )
})

describe("questions through hops", () => {
  /** Client, two registries that import, and the one that asks. */
  async function hops(clock?: VirtualClock) {
    const links = [createMemoryTransports(), createMemoryTransports(), createMemoryTransports()]
    let registry: AnyRegistry = askingRegistry(clock)
    const options = { logger: silentLogger, clock }
    for (const [near, far] of links.toReversed()) {
      serveCalls(registry, { transport: far, ...options })
      if (near === links[0]?.[0]) break
      const next = new OperationRegistry(options)
      await fromCall(callMapOver(near, options), { registry: next, logger: silentLogger })
      registry = next
    }
    const client = createClient(links[0]?.[0] as Transport, options)
    onTestFinished(() => client.close())
    return client
  }

  test("are asked at the far end, and answered there", async () => {
    const client = await hops()
    const requestInput = vi.fn(async () => ADA)
    expect((await client.call("demo.ask", null, { requestInput })).data).toEqual(ADA)
    expect(requestInput.mock.calls).toEqual([[NAME]])
  })

  test("fail immediately if the first caller cannot be asked", async () => {
    const client = await hops()
    expect(await failure(client.call("demo.ask"))).toMatchObject(CANNOT)
  })

  test("bring the reason back if the far end cannot answer", async () => {
    const client = await hops()
    const requestInput = (): Promise<never> =>
      Promise.reject(new CallError("UNAVAILABLE", "Nobody is at home."))
    const error = await failure(client.call("demo.ask", null, { requestInput }))
    expect(error).toMatchObject(CANNOT)
    expect(error.message).toBe(
      '"demo.ask" asks its caller for input, and this caller could not answer: Nobody is at home.',
    )
  })

  test("stop the clocks of all registries and links in between", async () => {
    const clock = new VirtualClock()
    const client = await hops(clock)
    for (const options of [{}, { timeout: 1000 }]) {
      let answer: (response: InputResponse) => void = () => undefined
      const requestInput = vi.fn(() => new Promise<InputResponse>((resolve) => (answer = resolve)))
      const call = client.call("demo.forward", null, { ...options, requestInput })
      await waitFor(() => expect(requestInput).toHaveBeenCalled())
      await clock.advance(299_000)
      answer(ADA)
      await clock.advance(500)
      expect((await call).data).toEqual(ADA)
    }
  })

  test("end at a deadline that the caller set as a point in time", async () => {
    const clock = new VirtualClock()
    const client = await hops(clock)
    const asked = vi.fn(() => new Promise<InputResponse>(() => undefined))
    const call = client.call("demo.ask", null, { deadline: clock.time + 1000, requestInput: asked })
    await waitFor(() => expect(asked).toHaveBeenCalled())
    await clock.advance(1000)
    expect(isCallError(await failure(call), "TIMEOUT")).toBe(true)
    await waitFor(() => expect(refused).toMatchObject([{ code: "ABORTED" }]))
  })

  test("end everywhere when the caller leaves", async () => {
    const client = await hops()
    const asked = vi.fn(() => new Promise<InputResponse>(() => undefined))
    const call = client.call("demo.ask", null, { requestInput: asked })
    await waitFor(() => expect(asked).toHaveBeenCalled())
    call.abort()
    expect(isCallError(await failure(call), "ABORTED")).toBe(true)
    await waitFor(() => expect(refused).toMatchObject([{ code: "ABORTED" }]))
  })
})
