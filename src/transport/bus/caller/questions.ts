import type { CallAnsweredEvent, CallAskedEvent } from "../../../core/events.ts"
import { messageText } from "../wire/messages.ts"

/** A worker, as far as questions need it. */
interface Asker {
  sendText(text: string): void
}

/** Maximum number of questions of one call; more are a mistake of its handler. */
const MAX_QUESTIONS = 1000

interface Asked {
  readonly worker: Asker
  /** Its number at the worker. */
  readonly question: number
  /** The answer as a message, once there is one. */
  answer: string | undefined
}

/**
 * The questions of one call. A worker repeats a question until it has the answer, and a repeated call may be asked by
 * several workers: each question gets its own number here, and the answer goes to the worker that asked.
 */
export class CallQuestions {
  readonly #asked: Asked[] = []

  /** Notes a question, and returns it with its number here; one that was asked before is answered again. */
  asked(worker: Asker, event: CallAskedEvent): CallAskedEvent | undefined {
    const { question, requestId } = event
    const earlier = this.#asked.find((one) => one.worker === worker && one.question === question)
    if (earlier !== undefined) {
      if (earlier.answer !== undefined) worker.sendText(earlier.answer)
      return undefined
    }
    if (this.#asked.length >= MAX_QUESTIONS) {
      const reason = `it was asked ${MAX_QUESTIONS} questions already.`
      const answer = { type: "call.answered", requestId, question, reason } as const
      worker.sendText(messageText({ type: "event", event: answer }))
      return undefined
    }
    return { ...event, question: this.#asked.push({ worker, question, answer: undefined }) }
  }

  /** Sends an answer to the worker that asked. `check` throws for a message that cannot be sent. */
  answered(event: CallAnsweredEvent, check: (text: string) => void): void {
    const asked = this.#asked[event.question - 1]
    if (asked === undefined) return
    const { question, worker } = asked
    const answer = messageText({ type: "event", event: { ...event, question } })
    check(answer)
    asked.answer = answer
    worker.sendText(answer)
  }
}
