import type { OpenAPISource } from "../../config/kinds/openapi.ts"
import { nodeFS } from "../../node/fs.ts"
import type { OptionsSchema } from "../../internal/options.ts"
import type { ImportedOperations } from "../../sources/openapi/from-openapi.ts"
import { OPENAPI_OPTIONS, OPENAPI_URL_OPTIONS } from "../../sources/openapi/options.ts"
import type { OpenAPIConfig, OpenAPIUrlConfig } from "../../sources/openapi/options.ts"
import { fill, fillOptions, type Resolve } from "../resolve-references.ts"
import type { HubSource, OpenSource, RawReport } from "../model.ts"
import { pathOf } from "../origin.ts"
import { missingCredentialsOf } from "../../sources/openapi/report.ts"
import { classifyFailure } from "../../http-client/connection-failure.ts"
import { resolveFetch } from "../../http-client/public-fetch.ts"
import { Listeners } from "../../internal/listeners.ts"

/** The operations of a document, from a file or a URL. */
export const openapi: HubSource<OpenAPISource> = {
  isFoundByCalls: true,
  async open({ name, namespace, config: settings }, context) {
    const { FromOpenAPIFile, FromOpenAPIUrl } =
      await import("../../sources/openapi/from-openapi.ts")
    const { resolve, signal } = context
    const place = await fill(settings.openapi, resolve, name, "openapi")
    const health = new Listeners<string | undefined>()
    const isUrl = /^https?:/i.test(place)
    const rules: OptionsSchema<OpenAPIConfig> = isUrl ? OPENAPI_URL_OPTIONS : OPENAPI_OPTIONS
    const { auth, credentials, baseUrl } = settings
    const config: OpenAPIUrlConfig = {
      // Includes secrets for the errors: a missing one is reported when the source is opened, not at the first call.
      ...(await fillOptions(settings, rules, resolve, name)),
      ...(baseUrl === undefined && { servers: "document" }),
      auth: resolvePerCall(auth, resolve) as OpenAPIConfig["auth"],
      credentials: resolvePerCall(credentials, resolve) as OpenAPIConfig["credentials"],
      namespace,
      fetch: watchedFetch(settings.blockPrivate, health),
    }
    if (isUrl) {
      const loading = FromOpenAPIUrl(place, { ...config, signal })
      return opened(await loading, health, undefined, name)
    }
    const files = new Set<string>()
    const fs = {
      ...nodeFS,
      async readFile(path: string): Promise<string> {
        files.add(pathOf(path, context.baseDir))
        return await nodeFS.readFile(path)
      },
    }
    const operations = await FromOpenAPIFile(pathOf(place, context.baseDir), config, fs)
    return opened(operations, health, [...files], name)
  },
}

function opened(
  operations: ImportedOperations,
  health: Listeners<string | undefined>,
  files: readonly string[] | undefined,
  name: string,
): OpenSource {
  return {
    operations: () => operations,
    report: () => reportOf(operations),
    missing: () =>
      missingCredentialsOf(operations).map(({ schemes, operations: count }) => ({
        kind: "scheme",
        name: schemes.join(" or "),
        how: `${count === 1 ? "1 operation needs" : `${count} operations need`} it. Set "credentials" of source "${name}" in the configuration, by the name of the scheme, or "auth".`,
      })),
    onChange: () => () => {},
    onHealth: health.add,
    files,
    close: async () => {},
  }
}

/** Makes secrets with references resolve per call: the token of a command may have been renewed. */
function resolvePerCall(value: unknown, resolve: Resolve, key = "token"): unknown {
  if (typeof value === "string") {
    return SECRETS.has(key) && value.includes("$") ? (): Promise<string> => resolve(value) : value
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value
  const isCredential = "type" in value
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      // Outside of a credential, keys are names of security schemes.
      resolvePerCall(item, resolve, isCredential ? name : "token"),
    ]),
  )
}

const SECRETS: ReadonlySet<string> = new Set([
  "token",
  "username",
  "password",
  "clientId",
  "clientSecret",
])

function reportOf(operations: ImportedOperations): RawReport {
  const { report } = operations
  return {
    items: report.operations.map(({ id, method, path, status, notes }) => ({
      id,
      origin: method === undefined ? path : `${method} ${path}`,
      status,
      notes: notes.map(({ message, pointer }) => `${message} [${pointer}]`),
    })),
    warnings: report.warnings,
  }
}

/** A `fetch` that reports why a server cannot be reached, and with `undefined` when it answers again. */
function watchedFetch(
  blockPrivate: boolean | undefined,
  health: Listeners<string | undefined>,
): typeof globalThis.fetch {
  let isLost = false
  const notify = (reason: string | undefined): void => {
    isLost = reason !== undefined
    health.notify(reason)
  }
  return async (input, init) => {
    try {
      const response = await resolveFetch({ blockPrivate })(input, init)
      if (isLost) notify(undefined)
      return response
    } catch (error) {
      const { phase, why } = classifyFailure(error)
      // A request that was under way may have failed for a reason of its own.
      if (phase === "before" && init?.signal?.aborted !== true) {
        const { origin } = new URL(input instanceof Request ? input.url : input)
        notify(`${origin} cannot be reached: ${why} The next call tries it again.`)
      }
      throw error
    }
  }
}
