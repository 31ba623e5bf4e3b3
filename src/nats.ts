// The entry `@alkdev/operations/nats`: calls over a NATS broker.

export { createNatsTransport } from "./transport/nats/transport.ts"
export type { NatsTransportOptions } from "./transport/nats/transport.ts"
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
export type { NatsConnectOptions } from "./transport/nats/servers.ts"
