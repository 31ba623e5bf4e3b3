/** Who calls the small case over a broker, worker and caller in processes of their own. */
import type { QuoteInput } from "../cases.ts"

/** The name of a contender, passed to its processes. */
export type BusName =
  | "request"
  | "table"
  | "granted"
  | "idempotent"
  | "moleculer"
  | "redis-granted"
  | "redis-moleculer"

/** One way to serve the small case over a broker, and to call it. */
export interface BusContender {
  /** Serves it in this process. */
  serve(url: string): Promise<void>
  /** Calls it from this process. */
  connect(url: string): Promise<BusClient>
}

/** The calling end. */
export interface BusClient {
  readonly call: (input: QuoteInput) => Promise<unknown>
  /** The handler's result inside what a call gave. */
  readonly data: (result: unknown) => unknown
  /** A stream of so many items of 8 KiB, where there is one. */
  readonly open?: ((count: number) => AsyncIterable<unknown>) | undefined
}

/** Loads a contender alone: what others need is no part of its process. */
export async function loadBusContender(name: BusName): Promise<BusContender> {
  switch (name) {
    case "request":
      return (await import("./bus-plain.ts")).request
    case "table":
      return (await import("./bus-plain.ts")).table
    case "granted":
    case "idempotent":
    case "redis-granted":
      return (await import("./bus-ours.ts")).oursOverBus(name)
    case "moleculer":
    case "redis-moleculer":
      return (await import("./bus-moleculer.ts")).moleculerOverBus
  }
}
