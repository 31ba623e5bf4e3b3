// What the tools of an awkward server answer, each by its name in definitions.ts. Tools
// without an entry here say their name and what they were given.

import type { Call } from "./peer.ts"

/** A result of `tools/call`; `undefined` is no answer at all. */
type Answer = object | null | undefined
type Answerer = (call: Call) => Answer | Promise<Answer>

/** An answer that is a JSON-RPC error. */
export class RpcError extends Error {
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

/** Characters that are lost where a state is taken apart or put together again. */
const REQUEST_STATE = 'state "quoted" \\ /+== \u00e9\u0301 \u{1F642} \u0000 end '

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

function said(text: string): object {
  return { type: "text", text }
}

function say(text: string): object {
  return { content: [said(text)] }
}

function give(value: unknown): object {
  return { content: [said(JSON.stringify(value) ?? "undefined")], structuredContent: value }
}

const never = new Promise<undefined>(() => undefined)

/** Every kind of block, with every field that it can have. */
export const ALL_BLOCKS: readonly object[] = [
  {
    type: "text",
    text: "hello",
    annotations: { audience: ["user"], priority: 0.5, lastModified: "2026-01-01T00:00:00Z" },
    _meta: { "example.com/a": 1 },
  },
  { type: "image", data: PIXEL, mimeType: "image/png", annotations: { priority: 1 } },
  { type: "audio", data: "UklGRg==", mimeType: "audio/wav", _meta: { rate: 8000 } },
  {
    type: "resource_link",
    uri: "file:///notes.txt",
    name: "notes.txt",
    title: "Notes",
    description: "What was noted.",
    mimeType: "text/plain",
    size: 12,
    icons: [{ src: "https://example.com/icon.png", mimeType: "image/png", sizes: ["16x16"] }],
    annotations: { audience: ["assistant"] },
    _meta: { kept: true },
  },
  {
    type: "resource",
    resource: { uri: "file:///notes.txt", mimeType: "text/plain", text: "noted", _meta: { a: 1 } },
    annotations: { priority: 0 },
  },
  { type: "resource", resource: { uri: "file:///logo.png", mimeType: "image/png", blob: PIXEL } },
]

const ANSWERS: Readonly<Record<string, Answerer>> = {
  echo: ({ args }) => say(String(args["text"])),
  add: ({ args }) => give({ sum: Number(args["a"]) + Number(args["b"]) }),
  anything: ({ args, meta }) => give({ args, meta }),
  blocks: () => ({ content: ALL_BLOCKS, _meta: { "example.com/trace": "abc" } }),
  unknown_block: () => ({
    content: [said("before"), { type: "hologram", depth: 3, _meta: { a: 1 } }, said("after")],
  }),
  malformed_blocks: () => ({
    content: [null, 7, "text", [], {}, { type: "text" }, { type: "image", data: 7 }, said("good")],
  }),
  many_blocks: ({ args }) => ({
    content: Array.from({ length: Number(args["count"] ?? 10_000) }, (_, at) => said(`${at}`)),
  }),
  big: ({ args }) => say("x".repeat(Number(args["bytes"] ?? 12_000_000))),
  structured: ({ args }) => ({ content: [], structuredContent: args["value"] }),
  mismatch: () => give({ temp: "warm", list: "no", extra: true }),
  text_json: () => say('{"temp": 21.5, "list": ["a"]}'),
  text_misfit: () => say('{"temp": "warm"}'),
  text_prose: () => say("It is warm."),
  text_twice: () => ({ content: [said('{"temp": 1}'), said('{"temp": 2}')] }),
  error_result: () => ({ content: [said("It went wrong.")], isError: true }),
  error_mismatch: () => ({ ...give({ reason: "no sensor" }), isError: true }),
  rpc_error: ({ args }) => {
    const { code = -32603, message = "It went wrong." } = args
    throw new RpcError(Number(code), String(message), args["data"])
  },
  no_content: () => ({}),
  null_result: () => null,
  bad_result_type: () => ({ resultType: "hologram", content: [] }),
  array_output: () => give([1, 2, 3]),
  string_output: () => give("text"),
  null_output: () => give(null),
  union_output: () => give(null),
  tuple_output: () => give(["a"]),
  slow: async ({ args, pause }) => {
    await pause(Number(args["ms"] ?? 100))
    return say("done")
  },
  hang: () => never,
  crash: ({ args, peer }) => {
    const { signal } = args
    peer.host.crash(Number(args["code"] ?? 3), typeof signal === "string" ? signal : undefined)
    return never
  },
  progress: ({ args, progress }) => {
    const count = Number(args["count"] ?? 20)
    for (let at = 1; at <= count; at++) progress(at, count, `step ${at}`)
    return say(`${count} steps`)
  },
  slow_progress: async ({ args, progress, pause }) => {
    const count = Number(args["count"] ?? 5)
    for (let at = 1; at <= count; at++) {
      await pause(Number(args["ms"] ?? 20))
      progress(at, count)
    }
    return say(`${count} steps`)
  },
  odd_progress: ({ link, progress }) => {
    const notice = (params: object): void =>
      link.send({ jsonrpc: "2.0", method: "notifications/progress", params })
    notice({ progressToken: "nobody's", progress: 1 })
    notice({ progress: 1 })
    progress(2)
    progress(1)
    progress(3, undefined, "three")
    return say("odd")
  },
  ask: async (call) => {
    const request = question(call.args["kind"])
    if (!call.isModern) return give(await call.ask(request.method, request.params))
    const { inputResponses, requestState } = call.params
    if (inputResponses === undefined) return inputRequired({ answer: request })
    if (requestState !== REQUEST_STATE) throw new RpcError(-32602, "The state is another.")
    return give((inputResponses as Record<string, unknown>)["answer"])
  },
  ask_rounds: async (call) => {
    const rounds = Number(call.args["rounds"] ?? 3)
    const request = question("form")
    if (!call.isModern) {
      const answers = []
      for (let round = 0; round < rounds; round++) {
        answers.push(await call.ask(request.method, request.params))
      }
      return give(answers)
    }
    const done = Number(call.params["requestState"] ?? 0)
    if (done >= rounds) return give({ rounds: done })
    return inputRequired({ [`answer${done}`]: request }, `${done + 1}`)
  },
  ask_forever: async (call) => {
    const request = question("form")
    if (call.isModern) return inputRequired({ answer: request }, `${Date.now()}`)
    while (!call.signal.aborted) await call.ask(request.method, request.params)
    return never
  },
  ask_state_only: ({ isModern, params }) => {
    if (!isModern || params["requestState"] === REQUEST_STATE) return say("done")
    return { resultType: "input_required", requestState: REQUEST_STATE }
  },
  ask_together: async (call) => {
    const [form, roots] = [question("form"), question("roots")]
    if (!call.isModern) {
      const both = [form, roots].map(async ({ method, params }) => await call.ask(method, params))
      return give(await Promise.all(both))
    }
    const { inputResponses } = call.params
    return inputResponses === undefined ? inputRequired({ form, roots }) : give(inputResponses)
  },
  cancelled: ({ peer }) => give({ cancelled: peer.cancelled }),
  journal: ({ peer }) => give({ journal: peer.journal }),
  process: ({ peer }) => give(peer.host.describe()),
  environment: () => give(process.env),
  bad_frames: ({ link, id }) => {
    for (const frame of badFrames(id)) link.raw(frame)
    return say("still here")
  },
  twice: ({ link, id }) => {
    link.send({ jsonrpc: "2.0", id, result: { resultType: "complete", ...say("first") } })
    return say("second")
  },
  log: async ({ args, isModern, link, meta, pause }) => {
    const level = meta["io.modelcontextprotocol/logLevel"]
    if (isModern && level === undefined) return say("nobody reads it")
    const { params = { level: "info", logger: "awkward", data: { said: "hello" } } } = args
    for (let time = 0; time < Number(args["times"] ?? 1); time++) {
      link.send({ jsonrpc: "2.0", method: "notifications/message", params })
    }
    await pause(Number(args["ms"] ?? 0))
    return say("logged")
  },
  change: ({ args, peer }) => {
    peer.change(args["add"], args["remove"])
    return say("changed")
  },
  rug_pull: ({ peer }) => {
    peer.pullRug()
    return say("pulled")
  },
}

/** What a tool answers; throws an `RpcError` where it is an error of the protocol. */
export async function answer(name: string, call: Call): Promise<Answer> {
  const answerer = Object.hasOwn(ANSWERS, name) ? ANSWERS[name] : undefined
  return answerer === undefined ? give({ tool: name, args: call.args }) : await answerer(call)
}

function inputRequired(inputRequests: object, requestState = REQUEST_STATE): object {
  return { resultType: "input_required", inputRequests, requestState }
}

interface Question {
  readonly method: string
  readonly params: object
}

function question(kind: unknown): Question {
  if (kind === "url") {
    const params = { mode: "url", message: "Sign in.", url: "https://example.com/sign-in" }
    return { method: "elicitation/create", params: { ...params, elicitationId: "sign-in-1" } }
  }
  if (kind === "sampling") {
    const messages = [{ role: "user", content: { type: "text", text: "How are you?" } }]
    return { method: "sampling/createMessage", params: { messages, maxTokens: 100 } }
  }
  if (kind === "roots") return { method: "roots/list", params: {} }
  const requestedSchema = {
    type: "object",
    properties: { name: { type: "string" }, age: { type: "integer", default: 7 } },
    required: ["name"],
  }
  const params = { mode: "form", message: "Who are you?", requestedSchema }
  return { method: "elicitation/create", params }
}

/** Lines that are no answers to anything, or no messages at all. */
function badFrames(id: unknown): string[] {
  return [
    "this is not JSON",
    "",
    "null",
    "42",
    '"text"',
    "{}",
    '{"jsonrpc":"1.0","id":1,"result":{}}',
    '{"jsonrpc":"2.0","id":null,"result":{}}',
    '{"jsonrpc":"2.0","id":987654,"result":{"content":[]}}',
    '{"jsonrpc":"2.0","id":{"a":1},"result":{}}',
    '{"jsonrpc":"2.0","method":"notifications/nobody_knows","params":[]}',
    '[{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}]',
    `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"resu`,
    '{"jsonrpc":"2.0","id":"who-knows","method":"nobody/knows","params":{}}',
  ]
}
