import type { RequestListener } from "node:http"
import type { OpenAPIConfig } from "../../../src/from-openapi.ts"
import { FromOpenAPI } from "../../../src/from-openapi.ts"
import type { Logger, OperationRegistry } from "../../../src/index.ts"
import { serve } from "../../http-client/server.ts"
import type { TestServer } from "../../http-client/server.ts"
import { quietRegistry } from "../../support/operations.ts"
import type { Raw } from "./recorder.ts"

/** A document that is imported and registered, and the server that it is about. */
export interface Api extends AsyncDisposable {
  readonly server: TestServer
  readonly registry: OperationRegistry
  /** Each log line, with its fields. */
  readonly log: readonly (readonly unknown[])[]
}

/** Serves, imports under the namespace `api`, and registers. */
export async function apiOf(
  spec: Raw,
  answer: RequestListener,
  config: Partial<OpenAPIConfig> = {},
): Promise<Api> {
  const server = await serve(answer)
  const log: unknown[][] = []
  const keep = (...line: unknown[]): void => void log.push(line)
  const logger: Logger = { debug: keep, info: keep, warn: keep, error: keep }
  const operations = FromOpenAPI(spec, { namespace: "api", baseUrl: server.url, ...config })
  const registry = quietRegistry(operations, { logger })
  return {
    server,
    registry,
    log,
    async [Symbol.asyncDispose]() {
      await registry.close()
      await server[Symbol.asyncDispose]()
    },
  }
}
