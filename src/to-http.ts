// The entry `@alkdev/operations/to-http`: a registry as an HTTP API.

export { toHTTP } from "./serve/http/to-http.ts"
export type { HTTPServer } from "./serve/http/to-http.ts"
export type { HTTPServerOptions, SSEOptions } from "./serve/http/options.ts"
export type { RestOptions } from "./serve/http/context.ts"
export type { HTTPCaller } from "./serve/exchange.ts"
export type { HTTPMount, MountHandler, MountOptions, ServerLike } from "./serve/http/mounts.ts"
export type {
  HTTPAnswer,
  HTTPHandler,
  HTTPIncoming,
  HTTPSink,
  HTTPStream,
} from "./serve/exchange.ts"
export type { HTTPRequestLike, HTTPResponseLike } from "./serve/node-types.ts"
export type { NodeGiven } from "./serve/node.ts"
export { httpResponse } from "./core/http-response.ts"
export type { CookieOptions, HTTPResponse } from "./core/http-response.ts"
export type {
  HTTPCallInfo,
  HTTPCallRequest,
  HTTPContextValues,
  ProvideHTTPContext,
} from "./serve/http/request-view.ts"
export { readCookie } from "./serve/cookies.ts"
export type { HTTPProblem } from "./core/problem.ts"
export { hashApiKey } from "./serve/http/auth/hash-api-key.ts"
export type {
  ApiKey,
  AuthOptions,
  JwkLike,
  JwtClaims,
  JwtKey,
  JwtOptions,
  NamedApiKey,
} from "./serve/http/auth/options.ts"
export type { CorsOptions } from "./serve/http/allowed-origins.ts"
export type { RateLimitOptions } from "./serve/accounts.ts"
export type { ExposeOptions, ExposeRule } from "./tools/expose.ts"
export { readBearerToken } from "./serve/upgrade.ts"
export type { UpgradeRequestLike, UpgradeRules } from "./serve/upgrade.ts"
export type { Authenticate } from "./serve/authenticate.ts"
