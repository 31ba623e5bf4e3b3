import { isRecord } from "../../internal/guards.ts"
import { isCallError } from "../../core/errors.ts"
import { encodeSoon } from "../../core/unread-file.ts"
import { AskedTime } from "../../internal/asked-time.ts"
import type { Clock } from "../../internal/platform.ts"
import type { CallAnsweredEvent, CallAskedEvent } from "../../core/events.ts"
import type { CallOptions, InputRequest } from "../../core/types.ts"
import type { Logger } from "../../internal/logger.ts"
import type { Transport } from "../transport.ts"
import type { Pending } from "./table.ts"

/** Maximum number of open questions of one call; more are a mistake or an attack of the peer. */
const MAX_OPEN = 100

/** An endpoint, as far as questions need it. */
interface Endpoint {
  readonly link: Pick<Transport, "send">
  readonly settings: { readonly logger: Logger; readonly clock: Clock }
  readonly pending: { get(requestId: string): Pending | undefined }
  trySend(event: CallAnsweredEvent): void
}

/** The questions of requests: the number of the last one, how many are open, and for how long. */
const asked = new WeakMap<Pending, { last: number; open: number; readonly time: AskedTime }>()

const UNAVAILABLE = /^.* asks its caller for input, and this caller (could not answer: )?/

/** Lets the caller answer a question of the peer, or reports that it cannot be answered. Never rejects. */
export async function deliverQuestion(endpoint: Endpoint, event: CallAskedEvent): Promise<void> {
  const request = endpoint.pending.get(event.requestId)
  if (request === undefined) return
  const { requestId, options } = request
  const { question } = event
  const { clock } = endpoint.settings
  const state = asked.get(request) ?? { last: 0, open: 0, time: new AskedTime() }
  asked.set(request, state)
  // A duplicate, or not a number.
  if (!(question > state.last)) return
  state.last = question
  state.open++
  request.postpone(state.time.shift(1, clock.now()))
  const answer = await answerTo(event.request, state.open, options?.requestInput).catch(
    (error: unknown) => ({ error }),
  )
  state.open--
  request.postpone(state.time.shift(-1, clock.now()))
  if (request.isOver) return
  const about = { type: "call.answered", requestId, question } as const
  try {
    const content = "error" in answer ? failed(endpoint, request, answer.error) : answer
    await encodeSoon(() => request.isOver || send(endpoint, request, { ...about, ...content }))
  } catch (error) {
    endpoint.trySend({ ...about, ...failed(endpoint, request, error) })
  }
}

async function answerTo(
  request: unknown,
  open: number,
  requestInput: CallOptions["requestInput"],
): Promise<Pick<CallAnsweredEvent, "response" | "reason">> {
  if (!isInputRequest(request)) return { reason: "it does not know this kind of question." }
  if (open > MAX_OPEN) return { reason: `it has ${MAX_OPEN} open questions already.` }
  if (requestInput === undefined) return {}
  const response = await requestInput(request)
  // The peer checks the rest.
  return isRecord(response) ? { response } : { reason: "its answer is invalid." }
}

function send(endpoint: Endpoint, { served }: Pending, answer: CallAnsweredEvent): void {
  if (served === undefined) endpoint.link.send(answer)
  else served.answered(answer)
}

/** The reason for the peer why there is no answer. Errors that were not written for others are not sent. */
function failed(
  endpoint: Endpoint,
  { operationId }: Pending,
  error: unknown,
): Pick<CallAnsweredEvent, "reason"> {
  // Without the sentence that the peer adds again.
  if (isCallError(error)) return { reason: error.toJSON().message.replace(UNAVAILABLE, "") }
  const { logger } = endpoint.settings
  logger.error("A question could not be answered", { operationId, error })
  return { reason: "answering failed." }
}

/** Whether a value is a question that this version knows. */
function isInputRequest(value: unknown): value is InputRequest {
  if (!isRecord(value)) return false
  const { type, key, message, schema, url, params } = value
  if (key !== undefined && typeof key !== "string") return false
  if (type === "sampling") return isRecord(params)
  if (type === "roots") return true
  if (typeof message !== "string") return false
  if (type === "url") return typeof url === "string"
  return (type === undefined || type === "form") && isRecord(schema)
}
