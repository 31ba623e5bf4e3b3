// The entry `@alkdev/operations/redis`: calls over a Redis broker.

export { createRedisTransport } from "./transport/redis/transport.ts"
export type { RedisTransportOptions } from "./transport/redis/transport.ts"
export type { BusOptions, GuardOptions } from "./transport/bus/options.ts"
export type { BusStats, CallingStats, ServingStats, WorkerStats } from "./transport/bus/stats.ts"
export { createTicketSigner, createTicketVerifier } from "./transport/bus/tickets/tickets.ts"
export type {
  TicketJwk,
  TicketKey,
  TicketKeyObject,
  TicketSigner,
  TicketSignerOptions,
  TicketSubject,
  TicketVerifier,
  TicketVerifierOptions,
} from "./transport/bus/tickets/tickets.ts"
export type { BusTransport } from "./transport/bus/transport.ts"
export type { RedisClientLike, RedisConnectOptions } from "./transport/redis/ioredis.ts"
