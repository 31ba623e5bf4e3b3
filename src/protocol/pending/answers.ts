import { isInputRequest, isInputResponse } from "../../core/is-input.ts"
import { isCallError } from "../../core/errors.ts"
import type { CallAnsweredEvent, CallAskedEvent } from "../../core/events.ts"
import type { CallOptions } from "../../core/types.ts"
import type { Endpoint } from "../endpoint.ts"
import type { Pending } from "./table.ts"

/** More open questions of one call are a mistake, or an attack, of the peer. */
const MAX_OPEN = 100

/** Answers the questions of a pending request. */
export class Answers {
  readonly #request: Pending & { readonly isOver: boolean }
  readonly #endpoint: Endpoint
  readonly #requestInput: CallOptions["requestInput"]
  /** The number of the last question. */
  #last = 0
  #open = 0

  constructor(
    request: Pending & { readonly isOver: boolean },
    endpoint: Endpoint,
    requestInput: CallOptions["requestInput"],
  ) {
    this.#request = request
    this.#endpoint = endpoint
    this.#requestInput = requestInput
  }

  /** Answers a question, or says that nobody can. Never rejects. */
  async asked({ question, request }: CallAskedEvent): Promise<void> {
    // A duplicate.
    if (question <= this.#last) return
    this.#last = question
    const about = { type: "call.answered", requestId: this.#request.requestId, question } as const
    this.#open++
    const answer = await this.#answer(request).catch((error: unknown) => ({ error }))
    this.#open--
    if (this.#request.isOver) return
    try {
      this.#send({ ...about, ...("error" in answer ? this.#failed(answer.error) : answer) })
    } catch (error) {
      this.#endpoint.trySend({ ...about, ...this.#failed(error) })
    }
  }

  async #answer(request: unknown): Promise<Pick<CallAnsweredEvent, "response" | "reason">> {
    if (!isInputRequest(request)) return { reason: "it does not know this kind of question." }
    if (this.#open > MAX_OPEN) return { reason: `it has ${MAX_OPEN} open questions already.` }
    if (this.#requestInput === undefined) return {}
    const response = await this.#requestInput(request)
    return isInputResponse(response) ? { response } : { reason: "its answer is invalid." }
  }

  #send(answer: CallAnsweredEvent): void {
    const { served } = this.#request
    if (served === undefined) this.#endpoint.link.send(answer)
    else served.answered(answer)
  }

  /** Why there is no answer, for the peer. Errors that were not written for others stay here. */
  #failed(error: unknown): Pick<CallAnsweredEvent, "reason"> {
    if (isCallError(error)) return { reason: error.toJSON().message }
    const { operationId } = this.#request
    const { logger } = this.#endpoint.settings
    logger.error("A question could not be answered", { operationId, error })
    return { reason: "answering failed." }
  }
}
