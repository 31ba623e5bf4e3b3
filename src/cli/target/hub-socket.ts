import { isForwarded } from "../../core/error-marks.ts"
import { isCallError } from "../../core/errors.ts"
import type { ResponseEnvelope } from "../../core/envelope.ts"
import type { OperationType } from "../../core/types.ts"
import { silentLogger } from "../../internal/logger.ts"
import type { TargetCallOptions } from "../model.ts"
import type { HubAddress } from "./hub-address.ts"

// What a hub sends at most, and characters that it certainly receives.
const MAX_RESULT_BYTES = 16 * 1024 * 1024
const MAX_SENT = 300_000

/**
 * Calls an operation of a hub over a WebSocket, over which the hub can ask questions and report progress.
 *
 * `undefined` if the call has to be made over HTTP: there is no WebSocket, or a result is too large for one.
 */
export async function callOverSocket(
  { url, token }: HubAddress,
  id: string,
  input: unknown,
  options: TargetCallOptions,
  type: OperationType | undefined,
): Promise<ResponseEnvelope | undefined> {
  if ((JSON.stringify(input)?.length ?? 0) > MAX_SENT) return undefined
  const { createClient } = await import("../../index.ts")
  const { createWebSocketTransport } = await import("../../websocket.ts")
  const transport = createWebSocketTransport(`${url}/ws?maxResultBytes=${MAX_RESULT_BYTES}`, {
    token,
    // Decided before, with the address.
    insecure: true,
    reconnect: false,
    connectTimeout: 5000,
    maxFrameBytes: MAX_RESULT_BYTES,
    logger: silentLogger,
  })
  await using client = createClient(transport, { logger: silentLogger })
  try {
    return await client.call(id, input, options)
  } catch (error) {
    if (!isCallError(error)) throw error
    const isTooLarge = error.code === "PAYLOAD_TOO_LARGE" && type === "query"
    if (isTooLarge || (!isForwarded(error) && !error.mayHaveExecuted)) return undefined
    throw error
  }
}
