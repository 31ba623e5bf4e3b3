import { traceExchange, type TraceAttributes } from "../../core/tracing.ts"
import type { HttpResponse } from "../../http-client/exchange.ts"
import type { PreparedRequest } from "../../http-client/request.ts"
import type { HandlerContext } from "./call-limits.ts"
import type { OperationSource } from "./operation/source.ts"

/** One request of a call. */
interface TracedRequest {
  readonly source: OperationSource
  readonly request: PreparedRequest
  readonly fetch: typeof globalThis.fetch
  /** Counts from 1. */
  readonly attempt: number
}

/** Sends a request with the headers of the trace that its call belongs to. Configured headers win. */
export async function traceRequest(
  context: HandlerContext | undefined,
  { source, request, fetch, attempt }: TracedRequest,
  send: (request: PreparedRequest) => Promise<HttpResponse>,
): Promise<HttpResponse> {
  // Two headers of one name would be dropped by the receiver.
  if (fetch === globalThis.fetch && isFetchInstrumented()) return await send(request)
  const { method, path } = source.operation
  const { hostname, port, protocol } = new URL(request.url)
  const attributes: TraceAttributes = {
    "http.request.method": method,
    "url.template": path,
    "server.address": hostname,
    "server.port": Number(port) || (protocol === "https:" ? 443 : 80),
    ...(attempt > 1 && { "http.request.resend_count": attempt - 1 }),
  }
  return await traceExchange(
    context,
    `${method} ${path}`,
    "http",
    attributes,
    async (carrier, note) => {
      const headers = carrier === undefined ? request.headers : { ...carrier, ...request.headers }
      const response = await send({ ...request, headers: headers })
      note({ "http.response.status_code": response.status })
      return response
    },
  )
}

interface ChannelModule {
  channel(name: string): { readonly hasSubscribers: boolean }
}

/** Whether somebody traces the platform's `fetch`: that makes its own spans and headers. */
function isFetchInstrumented(): boolean {
  const { process: host } = globalThis as {
    readonly process?: { readonly getBuiltinModule?: (id: string) => unknown }
  }
  const channels = host?.getBuiltinModule?.("node:diagnostics_channel") as ChannelModule | undefined
  return channels?.channel("undici:request:create").hasSubscribers === true
}
