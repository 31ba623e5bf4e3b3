import type { RemoteSource } from "../../config/kinds/remote.ts"
import type { CommandSource } from "../model.ts"

export const remote: CommandSource<RemoteSource> = {
  option: {
    value: "url",
    description: "Operations of another hub, or of workers behind nats:// or redis://",
  },
  atAddress: "a hub",
  sourceOf: async (address, headers, args) => ({
    remote: address,
    headers,
    ...(args.flag("insecure") && { insecure: true }),
  }),
  recognises: ({ at, text }) => at === "address" && !/^https?:/i.test(text),
  consequence: (source, secrets) => `calls ${source.remote}${secrets}`,
  packages(source) {
    const tickets = source.ticket === undefined ? [] : ["jose"]
    if (/^(?:nats|tls):/i.test(source.remote)) return ["@nats-io/transport-node", ...tickets]
    if (/^rediss?:/i.test(source.remote)) return ["ioredis", ...tickets]
    const hasOwn = "WebSocket" in globalThis && source.headers === undefined
    return hasOwn ? [] : ["ws"]
  },
}
