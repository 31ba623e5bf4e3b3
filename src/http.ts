// The entry `@alkdev/operations/http`: calls to a registry that is served over HTTP.

export { createHTTPTransport } from "./transport/http/http-transport.ts"
export type { HTTPTransportOptions } from "./transport/http/http-transport.ts"
export type { RequestHeaders } from "./transport/http/exchange.ts"
