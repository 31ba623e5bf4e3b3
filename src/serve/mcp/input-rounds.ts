import { canonicalJson } from "../../mcp/canonical.ts"
import { capabilityRequired } from "../../mcp/errors.ts"
import { ENVELOPE, type JsonObject } from "../../mcp/model.ts"
import { CallError } from "../../core/errors.ts"
import { defer } from "../../internal/defer.ts"
import type { CancelToken } from "../../internal/signals.ts"
import { isRecord } from "../../internal/guards.ts"
import { ProtocolError } from "../../tools/model.ts"
import { lacking, missingCapabilities, readAnswer, wireQuestion } from "./questions.ts"
import type { WireQuestion } from "./questions.ts"
import type { StateBinding, StateSeal } from "./request-state.ts"
import type { InputRequest, InputResponse } from "../../core/types.ts"

interface SealedState {
  /** Answers of earlier rounds: the digest of the question, and the answer. */
  readonly a: Readonly<Record<string, readonly [question: string, answer: InputResponse]>>
  /** Digests of the questions of the last round. */
  readonly q: Readonly<Record<string, string>>
}

/** A result that asks for input. */
export interface InputRequiredResult {
  readonly resultType: "input_required"
  readonly inputRequests: Readonly<Record<string, WireQuestion>>
  readonly requestState: string
}

/**
 * Questions of a handler to a caller that can only be reached by a response: the call ends with the
 * questions, the caller repeats it with the answers, and the handler runs again from the start.
 *
 * The caller carries the previous answers, sealed. Questions of one turn are sent
 * together. Once a question was sent, anything the handler returns or throws is ignored.
 */
export class InputRounds {
  readonly #token: CancelToken
  readonly #onAsked: () => void
  readonly #seal: StateSeal
  readonly #binding: StateBinding
  readonly #params: JsonObject
  readonly #answers = new Map<string, readonly [question: string, answer: InputResponse]>()
  readonly #earlier = new Map<string, string>()
  readonly #questions = new Map<string, { readonly wire: WireQuestion; readonly digest: string }>()
  readonly #keys = new Set<string>()
  /** Questions that wait for an answer, which this call does not get. */
  #waiting: ((reason: unknown) => void)[] = []
  #isSealed = false

  /** `token` aborts the handler. `onAsked` is called when questions were sent. */
  constructor(
    seal: StateSeal,
    binding: StateBinding,
    params: JsonObject,
    token: CancelToken,
    onAsked: () => void,
  ) {
    this.#token = token
    this.#onAsked = onAsked
    this.#seal = seal
    this.#binding = binding
    this.#params = params
  }

  get hasQuestions(): boolean {
    return this.#questions.size > 0
  }

  /** Aborts the handler when its call is over. */
  abort(reason: unknown): void {
    this.#token.cancel(reason)
    for (const reject of this.#waiting.splice(0)) reject(this.#token.reason)
  }

  /** Returns an answer from the request, or sends the question to the caller and aborts the handler. */
  readonly ask = async (request: InputRequest): Promise<InputResponse> => {
    const key = this.#keyOf(request)
    const wire = wireQuestion(request)
    const meta = this.#params["_meta"] as JsonObject | undefined
    const capabilities = meta?.[ENVELOPE.clientCapabilities]
    const missing = missingCapabilities(wire, isRecord(capabilities) ? capabilities : undefined)
    if (missing !== undefined) {
      throw capabilityRequired(missing, lacking(this.#binding.tool, wire, missing))
    }
    const question = shortHash(canonicalJson(wire))
    const earlier = this.#answers.get(key)
    if (earlier !== undefined && earlier[0] === question) return earlier[1]
    const answer = this.#brought(key, wire, question)
    if (answer !== undefined) {
      this.#answers.set(key, [question, answer])
      return answer
    }
    if (!this.#isSealed) {
      if (this.#questions.size === 0) defer(() => this.#end())
      this.#questions.set(key, { wire, digest: question })
    }
    return await new Promise<never>((_, reject) => {
      if (this.#token.aborted) reject(this.#token.reason)
      else this.#waiting.push(reject)
    })
  }

  /** The questions as a result. */
  async result(): Promise<InputRequiredResult> {
    this.#isSealed = true
    const questions = [...this.#questions]
    const state: SealedState = {
      a: Object.fromEntries(this.#answers),
      q: Object.fromEntries(questions.map(([key, question]) => [key, question.digest])),
    }
    return {
      resultType: "input_required",
      inputRequests: Object.fromEntries(questions.map(([key, { wire }]) => [key, wire])),
      requestState: await this.#seal.seal(state, this.#binding),
    }
  }

  #end(): void {
    this.#isSealed = true
    this.#onAsked()
    this.abort(
      new CallError(
        "ABORTED",
        `The caller of "${this.#binding.tool}" is being asked. The call is made again with the answers, and its handler runs from the start.`,
        { mayHaveExecuted: false, details: { reason: "INPUT_REQUIRED" } },
      ),
    )
  }

  /** Reads the answers of earlier rounds. Throws `ProtocolError` for a state that was not issued for this call. */
  async restore(): Promise<void> {
    const { requestState: state } = this.#params
    const opened =
      typeof state === "string" ? await this.#seal.open(state, this.#binding) : undefined
    if (!isRecord(opened)) {
      throw new ProtocolError(
        -32602,
        "Invalid or expired requestState. Make the call again without requestState and inputResponses.",
        { reason: "invalid_request_state" },
      )
    }
    const { a, q } = opened as unknown as SealedState
    for (const [key, answer] of Object.entries(a)) this.#answers.set(key, answer)
    for (const [key, question] of Object.entries(q)) this.#earlier.set(key, question)
  }

  /** An answer in this request, unless the question has changed since. */
  #brought(key: string, wire: WireQuestion, question: string): InputResponse | undefined {
    const { inputResponses } = this.#params
    if (!isRecord(inputResponses) || !Object.hasOwn(inputResponses, key)) return undefined
    const earlier = this.#earlier.get(key)
    if (earlier !== undefined && earlier !== question) return undefined
    return readAnswer(wire, inputResponses[key])
  }

  #keyOf({ key = "input" }: InputRequest): string {
    let free = key
    for (let use = 2; this.#keys.has(free); use++) free = `${key}-${use}`
    this.#keys.add(free)
    return free
  }
}

/**
 * A synchronous 53-bit hash: waiting for a digest would separate questions of one turn.
 *
 * It does not have to be secure: only the caller who answers could forge a question.
 */
function shortHash(text: string): string {
  let a = 0xdeadbeef
  let b = 0x41c6ce57
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    a = Math.imul(a ^ code, 2654435761)
    b = Math.imul(b ^ code, 1597334677)
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909)
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909)
  return (4294967296 * (2097151 & b) + (a >>> 0)).toString(36)
}
