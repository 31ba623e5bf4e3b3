import type { OptionsSchema } from "../../internal/options.ts"
import type { NatsTransportOptions } from "../nats/transport.ts"
import type { RedisTransportOptions } from "../redis/transport.ts"
import { CONNECT_OPTIONS } from "../redis/ioredis.ts"
import { BUS_OPTIONS } from "./options.ts"

export const NATS_OPTIONS: OptionsSchema<NatsTransportOptions> = {
  ...BUS_OPTIONS,
  servers: { secret: { either: ["text", { list: "text" }] } },
  connection: { methods: [], expected: "a connection of the package @nats-io/transport-node" },
  connect: { secret: { record: "any" } },
  insecure: "boolean",
}

/** The largest message is what a server takes, unless it is configured otherwise. */
export const REDIS_OPTIONS: OptionsSchema<RedisTransportOptions> = {
  ...BUS_OPTIONS,
  url: { secret: "text" },
  connect: { secret: { members: CONNECT_OPTIONS, open: true } },
  client: {
    methods: ["duplicate"],
    expected: 'a Redis or a Cluster of the package "ioredis"',
  },
  insecure: "boolean",
  maxPayload: { min: 1024, max: 512 * 1024 * 1024, whole: true },
}
