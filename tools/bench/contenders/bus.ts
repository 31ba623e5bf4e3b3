/** Contenders that call the small case over a broker, with worker and caller in separate processes. */
import type { QuoteInput } from "../cases.ts"

/** The name of a contender, passed to its processes. */
export type BusName =
  | "request"
  | "table"
  | "granted"
  | "idempotent"
  | "moleculer"
  | "redis-granted"
  | "redis-idempotent"
  | "redis-moleculer"
  | "tcp"
  | "ws-hand"
  | "ws-batched"
  | "ws"
  | "nats-hand"
  | "nats-batched"
  | "redis-hand"
  | "redis-batched"

/** One way to serve the small case over a broker, and to call it. */
export interface BusContender {
  /** Serves it in this process; returns the address to connect to, if that is not the broker's. */
  serve(url: string): Promise<string | void>
  /** Calls it from this process. */
  connect(address: string): Promise<BusClient>
}

/** The calling end. */
export interface BusClient {
  readonly call: (input: QuoteInput) => Promise<unknown>
  /** Extracts the handler's result from the result of a call. */
  readonly data: (result: unknown) => unknown
  /** A stream of 8 KiB items, if the contender supports it. */
  readonly open?: ((count: number) => AsyncIterable<unknown>) | undefined
}

/** Loads only this contender, so that its process does not contain the packages of others. */
export async function loadBusContender(name: BusName): Promise<BusContender> {
  switch (name) {
    case "request":
      return (await import("./bus-plain.ts")).request
    case "table":
      return (await import("./bus-plain.ts")).table
    case "granted":
    case "idempotent":
    case "redis-granted":
    case "redis-idempotent":
      return (await import("./bus-ours.ts")).oursOverBus(name)
    case "moleculer":
    case "redis-moleculer":
      return (await import("./bus-moleculer.ts")).moleculerOverBus
    case "tcp":
      return (await import("./bus-hand.ts")).byHand("tcp", false)
    case "ws-hand":
      return (await import("./bus-hand.ts")).byHand("ws", false)
    case "ws-batched":
      return (await import("./bus-hand.ts")).byHand("ws", true)
    case "nats-hand":
      return (await import("./bus-hand.ts")).byHand("nats", false)
    case "nats-batched":
      return (await import("./bus-hand.ts")).byHand("nats", true)
    case "redis-hand":
      return (await import("./bus-hand.ts")).byHand("redis", false)
    case "redis-batched":
      return (await import("./bus-hand.ts")).byHand("redis", true)
    case "ws":
      return (await import("./bus-ours.ts")).oursBetweenProcesses
  }
}
