/** Calls over NATS: workers serve a registry, callers find one of them. */
import { validateOptions, type OptionsSchema } from "../../internal/options.ts"
import type { NatsConnection } from "@nats-io/transport-node"
import { systemClock } from "../../internal/clock.ts"
import { BUS_OPTIONS, type BusOptions } from "../bus/options.ts"
import { createBusTransport, type BusTransport } from "../bus/transport.ts"
import { NatsBus } from "./bus.ts"
import { resolveTarget, type NatsConnectOptions } from "./servers.ts"
import { isolatedLogger } from "../../internal/notify.ts"

/** Options of `createNatsTransport`. */
export interface NatsTransportOptions extends BusOptions {
  /** The servers; "nats://127.0.0.1:4222" when left out; several for a cluster. "tls://" requires TLS. */
  readonly servers?: string | readonly string[] | undefined
  /** An existing connection instead of `servers`; the transport does not close it. */
  readonly connection?: NatsConnection | undefined
  /** Further options of the client: credentials, TLS and the like. */
  readonly connect?: NatsConnectOptions | undefined
  /**
   * Allows a broker on another machine without TLS or without credentials, and tickets over one whose permissions can be
   * bypassed because of its version.
   */
  readonly insecure?: boolean | undefined
}

export const NATS_OPTIONS: OptionsSchema<NatsTransportOptions> = {
  ...BUS_OPTIONS,
  servers: { secret: { either: ["text", { list: "text" }] } },
  connection: { methods: [], expected: "a connection of the package @nats-io/transport-node" },
  connect: { secret: { record: "any" } },
  insecure: "boolean",
}

const USER = "createNatsTransport"

/**
 * Creates a transport over a NATS broker. Close it when you no longer need it.
 *
 * The broker may be absent: the transport connects in the background, and calls wait for it until their deadline.
 * Throws a `TypeError` for invalid options, and for a broker whose traffic others could read.
 */
export function createNatsTransport(options: NatsTransportOptions = {}): BusTransport {
  validateOptions(USER, options, NATS_OPTIONS)
  const { connection, servers, connect, insecure } = options
  const { clock = systemClock } = options
  const logger = isolatedLogger(options.logger)
  if (connection !== undefined && (servers !== undefined || connect !== undefined)) {
    throw new TypeError(`${USER}() takes either "connection", or "servers" and "connect".`)
  }
  const bus = new NatsBus({
    from:
      connection ??
      resolveTarget(USER, servers ?? "nats://127.0.0.1:4222", connect ?? {}, insecure),
    user: options.user ?? "anyone",
    prefix: options.prefix ?? "operations",
    clock,
    logger,
    insecure,
  })
  return createBusTransport(bus, options, "nats")
}
