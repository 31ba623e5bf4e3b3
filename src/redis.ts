// The entry `@alkdev/operations/redis`: calls over a Redis broker.

export { createRedisTransport } from "./transport/redis/transport.ts"
export type { RedisTransportOptions } from "./transport/redis/transport.ts"
export type { BusOptions, GuardOptions } from "./transport/bus/options.ts"
export type { BusStats, CallingStats, ServingStats, WorkerStats } from "./transport/bus/stats.ts"
export { createTicketSigner } from "./transport/bus/tickets/signer.ts"
export { createTicketVerifier } from "./transport/bus/tickets/verifier.ts"
export type { TicketJwk, TicketKey, TicketKeyObject } from "./transport/bus/tickets/keys.ts"
export type { TicketSignerOptions } from "./transport/bus/tickets/signer.ts"
export type { TicketVerifierOptions } from "./transport/bus/tickets/verifier.ts"
export type { TicketSigner, TicketSubject, TicketVerifier } from "./transport/bus/tickets/model.ts"
export type { BusTransport } from "./transport/bus/transport.ts"
export type { RedisClientLike, RedisConnectOptions } from "./transport/redis/ioredis.ts"
