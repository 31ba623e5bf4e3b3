import type { AnyRegistry } from "../engine/registry.ts"
import type { ServedRegistry } from "../engine/served-registry.ts"
import { systemClock } from "../internal/clock.ts"
import { validateOptions } from "../internal/options.ts"
import { SERVE_HTTP_OPTIONS, serveHTTP as listen } from "../node/serve-http.ts"
import type { ServedHTTP, ServeHTTPOptions } from "../node/serve-http.ts"
import { exposure, type ExposeOptions } from "../tools/expose.ts"
import { CONSOLE, checkConsole, type CreateConsole } from "../serve/http/console.ts"
import { normalizePath } from "../serve/http/mount-path.ts"
import type { HTTPServer } from "../serve/http/to-http.ts"
import { Activity, type Observed } from "./activity.ts"
import { ConsoleFiles } from "./console-files.ts"
import { createHubRoutes } from "./hub-routes.ts"

/** Serves a registry, or an API created with `toHTTP`, on a port. */
export async function serveHTTP(
  source: AnyRegistry | HTTPServer,
  options: ServeHTTPOptions = {},
): Promise<ServedHTTP> {
  validateOptions("serveHTTP", options, SERVE_HTTP_OPTIONS)
  const { console: page = false, ...rest } = options
  if (page === false || "inner" in source) return await listen(source, options)
  checkConsole("serveHTTP", rest.gateway)
  const { routes, files, close } = createConsole(source, {
    basePath: normalizePath("basePath", rest.basePath ?? ""),
    folder: typeof page === "string" ? page : undefined,
    title: rest.title,
    expose: rest.expose,
    clock: rest.clock ?? systemClock,
    websocket: rest.websocket !== false,
  })
  try {
    return await listen(source, { ...rest, routes, files, onClose: close })
  } catch (error) {
    close()
    throw error
  }
}

const createConsole: CreateConsole = (registry, terms) => {
  const { expose, clock, websocket } = terms
  const activity = new Activity(observedRegistry(registry, expose), clock)
  return {
    routes: createHubRoutes(NO_SOURCES, activity, NO_SOURCES, { mcp: false, websocket }),
    files: new ConsoleFiles(terms),
    close: () => activity.close(),
  }
}

Object.defineProperty(serveHTTP, CONSOLE, { value: createConsole })

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
  const { onCall, trace } = registry
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
        onCall?.call(registry, (call) => {
          if (isShown(call.operationId)) listener(call)
        }) ?? (() => undefined),
      trace: (tracer) =>
        trace?.call(registry, {
          begin: (call) => (isShown(call.operationId) ? tracer.begin(call) : undefined),
        }) ?? (() => undefined),
    },
    sources: [],
    onStatus: () => () => undefined,
  }
}
