import { setTimeout as sleep } from "node:timers/promises"
import type { CallError, PendingRequestMap, ResponseEnvelope } from "../../src/index.ts"
import { isCallError } from "../../src/index.ts"
import type { IdentityRule, LogEntry } from "./operations.ts"
import { PATIENCE } from "../support/patience.ts"

/** How a link is to be set up. */
export interface LinkOptions {
  readonly rule: IdentityRule
  /** The serving side trusts the claims of this peer. */
  readonly isTrusted: boolean
}

/** A caller that is connected to a served registry. */
export interface ContractLink {
  /** The caller's side. */
  readonly map: PendingRequestMap
  /** Identities that a caller claims count, with these options. */
  readonly countsClaims: boolean
  /** What handlers did, read past the link; not there where they live in another thread. */
  readonly log?: ReadonlyMap<string, readonly LogEntry[]>
  /** Calls and streams that the serving side works on; not there where it is in another thread. */
  inFlight?(): number
  /** The peer is gone at once, as in a crash; not there where both are one. */
  lose?(): Promise<void> | void
  close(): Promise<void>
}

/** What kind of link it is. */
export interface LinkTraits {
  /** There is a peer that could get lost; a link to oneself has none. */
  readonly hasPeer?: boolean | undefined
  /** Users have a transport that they can close; an `EventTarget` is not closed. */
  readonly hasTransport?: boolean | undefined
  /** The serving side can be told to trust claims of identity. */
  readonly canTrust?: boolean | undefined
  /** The serving side has the operations that `fromCall` reads. */
  readonly canImport?: boolean | undefined
  /** Handlers can ask their callers. */
  readonly carriesQuestions?: boolean | undefined
  /** The serving side knows how many items a consumer takes; otherwise buffers of the connection fill up first. */
  readonly hasWindow?: boolean | undefined
  /** The error when the peer is gone, and within how many milliseconds. */
  readonly lost?: { readonly code: string; readonly within: number } | undefined
}

/** Makes a link for one kind of transport. */
export type OpenLink = (options: LinkOptions) => Promise<ContractLink>

/** How long anything may take to be heard of on the other side: less than a call may take at most. */
export const SOON = 20_000

/** A key of its own for what a test's handlers write down. */
let keys = 0
export function freshKey(): string {
  return `key ${++keys}`
}

/** What handlers wrote down under a key. */
export async function readLog(link: ContractLink, key: string): Promise<readonly LogEntry[]> {
  if (link.log !== undefined) return link.log.get(key) ?? []
  const { data } = await link.map.call("probe.log", { key })
  return data as readonly LogEntry[]
}

/** Asks until a handler did what it should, and gives the time at which it did. */
export async function seen(link: ContractLink, key: string, what: string): Promise<number> {
  for (const until = Date.now() + PATIENCE; Date.now() < until; await sleep(5)) {
    const entry = (await readLog(link, key)).find((one) => one.what === what)
    if (entry !== undefined) return entry.at
  }
  const all = (await readLog(link, key)).map((one) => one.what).join(", ")
  throw new Error(`No handler wrote "${what}" under "${key}"; there is: ${all || "nothing"}.`)
}

/** The `CallError` a promise rejects with. */
export async function failure(promise: PromiseLike<unknown>): Promise<CallError> {
  try {
    await promise
  } catch (error) {
    if (isCallError(error)) return error
    throw error
  }
  throw new Error("Expected a CallError, got a result.")
}

/** Reads a stream to its end: the items, and the error it ended with. */
export async function drain(
  stream: AsyncIterable<ResponseEnvelope>,
  items: number[] = [],
): Promise<{ readonly items: number[]; readonly error: CallError | undefined }> {
  try {
    for await (const { data } of stream) items.push((data as { at: number }).at)
  } catch (error) {
    if (!isCallError(error)) throw error
    return { items, error }
  }
  return { items, error: undefined }
}

/** 1, 2, 3 and so on. */
export function upTo(to: number): number[] {
  return Array.from({ length: to }, (_item, index) => index + 1)
}
