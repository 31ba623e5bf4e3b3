// What needs Node: published as `@alkdev/operations/node`.

export type { OpenAPIFS } from "../platform.ts"
export { nodeFS } from "./fs.ts"
export { scanDirectory } from "./scan-directory.ts"
export { serveHTTP } from "./serve-http.ts"
export type { HTTPWebSocketOptions, ServedHTTP, ServeHTTPOptions } from "./serve-http.ts"
