import type { CallError } from "../../errors.ts"
import { systemClock } from "../../internal/clock.ts"
import type { Clock } from "../../platform.ts"
import { whenExpired } from "../expiry.ts"
import { NOT_SERVED, refuse } from "./answers.ts"
import type { Incoming } from "./http.ts"
import type { Caller } from "./server.ts"

/** Charges for the messages of a batch beyond the first, which the request itself has paid for. */
export function chargeBatch({ mount }: Incoming, body: unknown): Response | undefined {
  if (mount === undefined || !Array.isArray(body)) return undefined
  return limited(mount.charge(body.length - 1))
}

/** A response that stays open: it counts among the streams of its caller, and ends with its credential. */
export async function asStream(
  { mount }: Incoming,
  { expiresAt }: Caller,
  open: () => Promise<Response>,
): Promise<Response> {
  const full = limited(mount?.openStream())
  if (full !== undefined) return full
  const response = await open()
  return expiresAt === undefined
    ? response
    : until(expiresAt, response, mount?.clock ?? systemClock)
}

function limited(error: CallError | undefined): Response | undefined {
  if (error === undefined) return undefined
  const seconds = Math.max(1, Math.ceil((error.retryAfterMs ?? 1000) / 1000))
  const headers = { "Retry-After": String(seconds) }
  return refuse(429, NOT_SERVED, error.message, { headers })
}

/** The same response, which ends at a time: the client comes back with a new credential. */
function until(expiresAt: number, response: Response, clock: Clock): Response {
  if (response.body === null) return response
  const reader = response.body.getReader()
  let stop = (): void => {}
  let isOver = false
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      stop = whenExpired(expiresAt, clock, () => {
        isOver = true
        controller.close()
        reader.cancel().catch(() => undefined)
      })
    },
    async pull(controller) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        stop()
        throw error
      })
      // It may have expired in the meantime, and is closed then.
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
