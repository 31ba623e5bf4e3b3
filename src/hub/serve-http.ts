import type { AnyRegistry } from "../engine/registry.ts"
import type { ServedRegistry } from "../engine/served-registry.ts"
import { systemClock } from "../internal/clock.ts"
import { validateOptions, type OptionsSchema } from "../internal/options.ts"
import { SERVE_HTTP_OPTIONS, serveHTTP as listen } from "../node/serve-http.ts"
import type { ServedHTTP, ServeHTTPOptions as ListenOptions } from "../node/serve-http.ts"
import { exposure, type ExposeOptions } from "../serve/expose.ts"
import { normalizePath } from "../serve/http/mount-path.ts"
import type { HTTPServer } from "../serve/http/to-http.ts"
import { Activity, type Observed } from "./activity.ts"
import { ConsoleFiles } from "./console-files.ts"
import { createHubRoutes } from "./hub-routes.ts"

/** Options of `serveHTTP`; those of `toHTTP` only if you pass a registry. */
export interface ServeHTTPOptions extends ListenOptions {
  /**
   * Serves the console to browsers that open the base URL, or the console in another folder. Other clients get the
   * list of endpoints there, as without it. Default: false.
   */
  readonly console?: boolean | string | undefined
}

export const SERVE_HTTP_CONSOLE_OPTIONS: OptionsSchema<ServeHTTPOptions> = {
  ...SERVE_HTTP_OPTIONS,
  console: { either: ["boolean", "text"] },
}

/** Serves a registry, or an API created with `toHTTP`, on a port. */
export async function serveHTTP(
  source: AnyRegistry | HTTPServer,
  options: ServeHTTPOptions = {},
): Promise<ServedHTTP> {
  validateOptions("serveHTTP", options, SERVE_HTTP_CONSOLE_OPTIONS)
  const { console: page = false, ...rest } = options
  if (page === false) return await listen(source, rest)
  if ("inner" in source) {
    throw new TypeError("serveHTTP(api, options): console needs the registry instead of an API.")
  }
  if (rest.gateway === false) {
    throw new TypeError(
      "serveHTTP(): the console calls operations through the gateway. Omit gateway: false.",
    )
  }
  const observed = observedRegistry(source, rest.expose)
  const activity = new Activity(observed, rest.clock ?? systemClock)
  try {
    return await listen(source, {
      ...rest,
      routes: createHubRoutes(NO_SOURCES, activity, NO_SOURCES, {
        mcp: false,
        websocket: rest.websocket !== false,
      }),
      files: new ConsoleFiles({
        basePath: normalizePath("basePath", rest.basePath ?? ""),
        folder: typeof page === "string" ? page : undefined,
        title: rest.title,
      }),
      // The streams of open consoles do not end by themselves.
      onClose: () => activity.close(),
    })
  } catch (error) {
    activity.close()
    throw error
  }
}

/** A registry that is served alone has no sources. */
const NO_SOURCES: Parameters<typeof createHubRoutes>[0] & Parameters<typeof createHubRoutes>[2] = {
  sources: [],
  report: () => undefined,
  reopen: () => Promise.resolve(),
  mask: (text) => text,
  sourceOf: () => undefined,
  detailsOf: () => undefined,
}

/** The calls of exposed operations; those of hidden ones are not shown. */
function observedRegistry(registry: ServedRegistry, expose: ExposeOptions = {}): Observed {
  const { onCall } = registry
  const isExposed = exposure(expose)
  // An operation may be removed while its calls run.
  const hidden = new Set<string>()
  const isShown = (id: string): boolean => {
    const spec = registry.getSpec(id)
    if (spec === undefined) return !hidden.has(id)
    if (isExposed(spec)) return hidden.delete(id) || true
    hidden.add(id)
    return false
  }
  return {
    registry: {
      onCall: (listener) =>
        onCall?.call(registry, (trace) => {
          if (isShown(trace.operationId)) listener(trace)
        }) ?? (() => undefined),
    },
    sources: [],
    onStatus: () => () => undefined,
  }
}
