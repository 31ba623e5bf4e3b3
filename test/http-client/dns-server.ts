import { createSocket } from "node:dgram"
import { Resolver } from "node:dns"
import type { LookupLike } from "../../src/http-client/public-lookup.ts"

/** A resolver on loopback, and a look-up that asks it. */
export interface TestResolver extends AsyncDisposable {
  readonly lookup: LookupLike
  /** Names that were asked for, in order. */
  readonly asked: readonly string[]
}

/** Answers what `addresses` gives for a name; the last one for all later questions. */
export async function resolverOf(
  addresses: Readonly<Record<string, readonly (readonly string[])[]>>,
): Promise<TestResolver> {
  const asked: string[] = []
  const server = createSocket("udp4")
  server.on("message", (query, { port, address }) => {
    const name = nameIn(query)
    const answers = addresses[name] ?? []
    const count = asked.filter((one) => one === name).length
    asked.push(name)
    server.send(answer(query, answers[Math.min(count, answers.length - 1)] ?? []), port, address)
  })
  await new Promise<void>((resolve) => {
    server.bind(0, "127.0.0.1", resolve)
  })
  const resolver = new Resolver({ tries: 1 })
  resolver.setServers([`127.0.0.1:${server.address().port}`])
  return {
    asked,
    lookup: (hostname, _options, callback) => {
      resolver.resolve4(hostname, (error, found) => {
        callback(
          error,
          (found ?? []).map((address) => ({ address, family: 4 })),
        )
      })
    },
    async [Symbol.asyncDispose]() {
      resolver.cancel()
      await new Promise<void>((resolve) => {
        server.close(() => resolve())
      })
    },
  }
}

function nameIn(query: Buffer): string {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length))
    at += length + 1
  }
  return labels.join(".")
}

/** The question again, and an A record for each address, which nobody may keep. */
function answer(query: Buffer, addresses: readonly string[]): Buffer {
  const end = query.indexOf(0, 12) + 5
  const head = Buffer.from(query.subarray(0, end))
  head.writeUInt16BE(addresses.length > 0 ? 0x8180 : 0x8183, 2)
  head.writeUInt16BE(addresses.length, 6)
  head.writeUInt16BE(0, 8)
  head.writeUInt16BE(0, 10)
  const records = addresses.map((address) =>
    Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split(".").map(Number)]),
  )
  return Buffer.concat([head, ...records])
}
