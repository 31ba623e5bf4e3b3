import { inputUnavailable } from "../../core/input-requests.ts"
import { isRecord } from "../../internal/guards.ts"
import type { CallAnsweredEvent, CallAskedEvent, CallRequestedEvent } from "../../core/events.ts"
import type { InputRequest, InputResponse } from "../../core/types.ts"

/** The questions of a served request to its caller. */
export class Questions {
  readonly #request: CallRequestedEvent
  readonly #send: (event: CallAskedEvent) => void
  /** Questions that wait for their answers. */
  readonly #open = new Map<
    number,
    { resolve(response: InputResponse): void; reject(error: Error): void }
  >()
  #asked = 0

  /** `send` throws if an event cannot be sent. */
  constructor(request: CallRequestedEvent, send: (event: CallAskedEvent) => void) {
    this.#request = request
    this.#send = send
  }

  /** Asks the caller. The registry ends the question with its call. */
  ask(request: InputRequest): Promise<InputResponse> {
    return new Promise((resolve, reject) => {
      // The caller refuses kinds of questions that it does not know.
      if (!isRecord(request)) {
        throw new TypeError(
          "context.requestInput(request): request must be a question such as { message, schema }.",
        )
      }
      const question = ++this.#asked
      // First, because on a link within this process the answer may arrive synchronously.
      this.#open.set(question, { resolve, reject })
      try {
        this.#send({ type: "call.asked", requestId: this.#request.requestId, question, request })
      } catch (error) {
        this.#open.delete(question)
        throw error
      }
    })
  }

  /** Handles an answer. The first one counts; answers to unknown questions are ignored. */
  answered({ question, response, reason }: CallAnsweredEvent): void {
    const open = this.#open.get(question)
    if (!this.#open.delete(question)) return
    if (isInputResponse(response)) open?.resolve(response)
    else {
      const why = response === undefined ? reason : "its answer is invalid."
      open?.reject(inputUnavailable(this.#request.operationId, why))
    }
  }
}

/** Whether a value is an answer to a question. Its content may be anything. */
function isInputResponse(value: unknown): value is InputResponse {
  if (!isRecord(value)) return false
  const { action } = value as Partial<InputResponse>
  return action === "accept" || action === "decline" || action === "cancel"
}
