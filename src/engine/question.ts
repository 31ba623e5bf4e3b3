import { refusal } from "../core/errors.ts"
import type { CallOptions, InputRequest, InputResponse } from "../core/types.ts"
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

/** Asks a question that ends with its call. The clocks of all calls that wait for the answer stop meanwhile. */
function ask(
  call: Call,
  waiting: readonly Call[],
  answer: () => Promise<InputResponse>,
): Promise<InputResponse> {
  const outcome = new Promise<InputResponse>((resolve, reject) => {
    let isOpen = true
    const close = (): void => {
      if (isOpen) for (const one of waiting) one.stopClock(-1)
      isOpen = false
      call.abandon(question)
    }
    const end = (): void => {
      const { operationId, requestId } = call
      const message = `The call of "${operationId}" ended before its caller answered.`
      reject(refusal("ABORTED", message, { operationId, requestId }))
      close()
    }
    const question = { endsWithParent: true, end }
    for (const one of waiting) one.stopClock(1)
    call.adopt(question)
    if (call.ended !== undefined || call.isOver) end()
    else answer().then(resolve, reject).finally(close)
  })
  // A handler that no longer waits for the answer must not end the process.
  outcome.catch(() => undefined)
  return outcome
}
