// The entry `@alkdev/operations/nats`: calls over a NATS broker.

export { createNatsTransport } from "./transport/nats/transport.ts"
export type { NatsTransportOptions } from "./transport/nats/transport.ts"
export type { BusOptions, GuardOptions } from "./transport/bus/options.ts"
export type { BusStats, CallingStats, ServingStats, WorkerStats } from "./transport/bus/stats.ts"
export { createTicketSigner } from "./transport/bus/tickets/signer.ts"
export { createTicketVerifier } from "./transport/bus/tickets/verifier.ts"
export type { TicketJwk, TicketKey, TicketKeyObject } from "./transport/bus/tickets/keys.ts"
export type { TicketSignerOptions } from "./transport/bus/tickets/signer.ts"
export type { TicketVerifierOptions } from "./transport/bus/tickets/verifier.ts"
export type { TicketSigner, TicketSubject, TicketVerifier } from "./transport/bus/tickets/model.ts"
export type { BusTransport } from "./transport/bus/transport.ts"
export type { NatsConnectOptions } from "./transport/nats/servers.ts"
