import type { RemoteSource, SettledSource } from "../../config/model.ts"
import { CallError, isCallError } from "../../errors.ts"
import type { AnyRegistry } from "../../registry.ts"
import { reasonOf } from "../../schema/describe.ts"
import { fill } from "../fill.ts"
import type { OpenSource, OpenSourceOf, SourceContext } from "../model.ts"
import { isBroker } from "../../config/brokers.ts"
import { openBroker } from "./broker.ts"
import { Mirror } from "./mirror.ts"
import { WatchedTransport } from "./watched-transport.ts"

/** The operations of another hub, or of the workers behind a broker. */
export const openRemote: OpenSourceOf = async (source, context) => {
  const { remote } = source.config as RemoteSource
  const place = await fill(remote, context.resolve, source.name, "remote")
  return await (isBroker(place) ? openBroker : openHub)(source, place, context)
}

/** Its connection comes back by itself, and then it is listed again. */
async function openHub(
  source: SettledSource,
  remote: string,
  context: SourceContext,
): Promise<OpenSource> {
  const { fromCall } = await import("../../index.ts")
  const { createWebSocketTransport } = await import("../../websocket.ts")
  const given = source.config as RemoteSource
  const { token, headers } = await fill(
    { token: given.token, headers: given.headers },
    context.resolve,
    source.name,
  )
  const { clock, logger, signal, retries } = context
  const transport = createWebSocketTransport(socketUrl(remote), {
    token,
    headers,
    clock,
    logger,
    reconnect: retries,
  })
  const watched = new WatchedTransport(transport)
  const mirror = new Mirror()
  const giveUp = (): void => void transport.close()
  signal.addEventListener("abort", giveUp)
  try {
    const peer = await fromCall(watched, { signal, logger })
    const detach = await peer.attach(mirror as unknown as AnyRegistry)
    signal.throwIfAborted()
    return {
      operations: () => mirror.operations,
      report: () => mirror.report(),
      onChange: (listener) => mirror.onChange(listener),
      onHealth: (listener) => watched.onHealth(listener),
      async close() {
        mirror.close()
        await watched.close()
        await detach()
      },
    }
  } catch (error) {
    await transport.close()
    throw unreachable(source.name, remote, error)
  } finally {
    signal.removeEventListener("abort", giveUp)
  }
}

/** Where a hub takes calls, from where it is. */
function socketUrl(remote: string): string {
  const url = new URL(remote)
  if (/^https?:$/.test(url.protocol) && !/\/ws\/?$/.test(url.pathname)) {
    url.pathname = `${url.pathname.replace(/\/$/, "")}/ws`
  }
  return url.href
}

function unreachable(name: string, remote: string, cause: unknown): CallError {
  const code = isCallError(cause) ? cause.code : "UNAVAILABLE"
  const cure =
    code === "UNAUTHENTICATED"
      ? ` Give its "token", such as "\${env:TOKEN}".`
      : ` Is a hub served there? Try: npx @alkdev/operations list --hub ${new URL(remote).origin}`
  // Which of its questions was not answered is of no interest.
  const reason = reasonOf(cause).replace(/^"services\.\w+" was not sent: /, "")
  return new CallError(code, `Source "${name}": ${reason}${cure}`, { cause })
}
