import type { CallError } from "../../core/errors.ts"
import { systemClock, wallTimeOf } from "../../internal/clock.ts"
import type { Clock } from "../../internal/platform.ts"
import { expired, whenEnded } from "../expiry.ts"
import type { EndingCredential } from "../expiry.ts"
import { isEventStream, refuseWith, TextAnswer } from "./answers.ts"
import type { Answer } from "./answers.ts"
import type { Incoming } from "./incoming.ts"
import type { RequestId } from "./sdk.ts"
import type { MCPCaller } from "./server.ts"

/** Charges for the messages of a batch beyond the first, which the request has paid for. */
export function chargeBatch({ mount }: Incoming, body: unknown): TextAnswer | undefined {
  if (mount === undefined || !Array.isArray(body)) return undefined
  return limited(mount.charge(body.length - 1))
}

/** A streamed response: it counts as a stream of its caller, and ends with its credential. */
export async function asStream(
  { mount }: Incoming,
  { expiresAt }: MCPCaller,
  open: () => Promise<Answer>,
): Promise<Answer> {
  const full = limited(mount?.openStream())
  if (full !== undefined) return full
  const response = await open()
  const credential = { expiresAt, onRevoked: mount?.onRevoked }
  return response instanceof TextAnswer
    ? response
    : until(credential, response, mount?.clock ?? systemClock)
}

/** The calls of one request. */
export interface RequestedCalls {
  readonly ids: readonly RequestId[]
  /** Cancels the calls. */
  readonly cancel: () => void
  /** The response when the credential has expired before the calls start. */
  readonly refuse: () => TextAnswer
}

/**
 * The response to calls. When their credential expires, those that are answered as a stream are cancelled; others
 * finish: a client that is refused then would repeat a call that has had its effect.
 */
export async function untilExpired(
  { mount }: Incoming,
  { expiresAt }: MCPCaller,
  { ids, cancel, refuse: refused }: RequestedCalls,
  open: () => Promise<Answer>,
): Promise<Answer> {
  if (expiresAt === undefined) return await open()
  const clock = mount?.clock ?? systemClock
  if (expiresAt <= wallTimeOf(clock)) return refused()
  const response = await open()
  return !(response instanceof TextAnswer) && isEventStream(response)
    ? until({ expiresAt }, response, clock, failures(ids), cancel)
    : response
}

/** Error events for calls whose credential has expired. */
function failures(ids: readonly RequestId[]): string {
  const { code, message, mayHaveExecuted } = expired()
  const error = { code: -32001, message, data: { code, mayHaveExecuted } }
  return ids
    .map((id) => `event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", id, error })}\n\n`)
    .join("")
}

function limited(error: CallError | undefined): TextAnswer | undefined {
  return error === undefined ? undefined : refuseWith(error)
}

/** Ends a response with the credential of its caller, who reconnects with a new one. */
function until(
  credential: EndingCredential,
  response: Response,
  clock: Clock,
  lastEvents = "",
  onExpired?: () => void,
): Response {
  if (response.body === null) return response
  const reader = response.body.getReader()
  let stop = (): void => {}
  let isOver = false
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      stop = whenEnded(credential, clock, () => {
        isOver = true
        if (lastEvents !== "") controller.enqueue(new TextEncoder().encode(lastEvents))
        controller.close()
        onExpired?.()
        reader.cancel().catch(() => undefined)
      })
    },
    async pull(controller) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        stop()
        throw error
      })
      // It may have expired and been closed in the meantime.
      if (isOver) return
      if (!done) return controller.enqueue(value)
      stop()
      controller.close()
    },
    async cancel(reason) {
      stop()
      await reader.cancel(reason)
    },
  })
  const { status, headers } = response
  return new Response(body, { status, headers })
}
