import { isLoopback } from "../../internal/unencrypted.ts"
import { refusal, type CallError } from "../../core/errors.ts"
import { backOff } from "../../internal/back-off.ts"
import type { MessageOrigin } from "./types.ts"

// What the transports over brokers share.

/** The origin of an invalid message. */
export const UNKNOWN_ORIGIN: MessageOrigin = {
  ...{ user: "", address: "", reply: "", operationId: undefined },
}

/** The error of calls while credentials that were accepted before are rejected: a rotation may be in progress. */
export function refusedForNow(failure: CallError): CallError {
  return refusal("UNAVAILABLE", `${failure.message} Reconnecting continues.`, {
    ...{ retryable: true, mayHaveExecuted: false, cause: failure },
  })
}

/** The extra delay before the next attempt with such credentials, from the refusals beyond the first few. */
export function refusedDelay(refusals: number): number {
  return refusals < 0 ? 0 : backOff(1 + refusals, 1000, 30_000)
}

/** Whether a broker is safe to use: its address, and how it is connected. */
export interface BrokerSafety {
  /** Hosts, without brackets around IPv6 addresses. */
  readonly hosts: readonly string[]
  readonly hasTls: boolean
  readonly hasCredentials: boolean
  readonly insecure: boolean | undefined
}

/** Whether traffic to a broker is safe: it stays on this machine, or has TLS and credentials. */
export function isSafe({ hosts, hasTls, hasCredentials }: Omit<BrokerSafety, "insecure">): boolean {
  return (hasTls && hasCredentials) || hosts.every(isLoopback)
}

/**
 * Throws a `TypeError` for a broker on another machine without TLS or without credentials.
 *
 * Anyone who reaches such a broker can run every operation and read every answer.
 */
export function checkSafety(user: string, safety: BrokerSafety): void {
  if (safety.insecure === true || isSafe(safety)) return
  const { hasTls, hasCredentials } = safety
  const host = safety.hosts.find((one) => !isLoopback(one))
  const missing =
    hasTls || hasCredentials
      ? `without ${hasTls ? "credentials" : "TLS"}`
      : "without TLS and credentials"
  throw new TypeError(
    `${user}: the broker at "${host}" is on another machine, and would be used ${missing}. ` +
      `Provide both (see "connect"), or pass { insecure: true } if its network is private.`,
  )
}
