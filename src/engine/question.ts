import { refusal, type CallError } from "../core/errors.ts"
import type { CallOptions, InputRequest, InputResponse } from "../core/types.ts"
import { DeadlineTimer } from "../internal/deadline-timer.ts"
import type { Call } from "./call.ts"

/**
 * Asks the caller of a call, or that of an outer one; `undefined` if no caller can be asked. `check` throws for a wrong
 * answer, unless the question is passed on for another registry.
 */
export function answererFor(
  call: Call,
  check?: (request: InputRequest, response: InputResponse) => InputResponse,
): CallOptions["requestInput"] {
  const waiting: Call[] = []
  for (let at: Call | undefined = call; at !== undefined; at = at.parent) {
    waiting.push(at)
    const answer = at.options?.requestInput
    if (answer === undefined) continue
    return (request) =>
      ask(call, waiting, async () => {
        const response = await answer(request)
        return check === undefined ? response : check(request, response)
      })
  }
  return undefined
}

/**
 * Asks a question that ends with its call, or at its own limit. The clocks of all calls that wait for the answer stop
 * meanwhile.
 */
function ask(
  call: Call,
  waiting: readonly Call[],
  answer: () => Promise<InputResponse>,
): Promise<InputResponse> {
  const { operationId, requestId, kernel } = call
  const outcome = new Promise<InputResponse>((resolve, reject) => {
    let isOpen = true
    const asked = kernel.clock.now()
    const close = (): void => {
      if (!isOpen) return
      isOpen = false
      for (const one of waiting) one.stopClock(-1)
      call.scope?.event?.("operations.question", { wait_ms: kernel.clock.now() - asked })
      limit.stop()
      call.abandon(question)
    }
    const fail = (error: CallError): void => {
      reject(error)
      close()
    }
    const end = (): void => {
      const message = `The call of "${operationId}" ended before its caller answered.`
      fail(refusal("ABORTED", message, { operationId, requestId }))
    }
    const limit = new DeadlineTimer(kernel.deadlines, () => {
      const message = `"${operationId}" asked its caller, who did not answer within ${kernel.inputTimeout} ms. The registry's option "inputTimeout" sets the limit.`
      const details = { reason: "INPUT_TIMEOUT" }
      fail(refusal("TIMEOUT", message, { operationId, requestId, retryable: false, details }))
    })
    const question = { endsWithParent: true, end }
    for (const one of waiting) one.stopClock(1)
    limit.start(kernel.clock.now() + kernel.inputTimeout)
    call.adopt(question)
    if (call.ended !== undefined || call.isOver) end()
    else answer().then(resolve, reject).finally(close)
  })
  // A handler that no longer waits for the answer must not end the process.
  outcome.catch(() => undefined)
  return outcome
}
