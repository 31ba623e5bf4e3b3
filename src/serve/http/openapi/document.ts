import type { AnyRegistry } from "../../../engine/registry.ts"
import type { OperationSpec } from "../../../core/types.ts"
import { maySee } from "../../../tools/expose.ts"
import type { DocumentOptions, JsonObject, OpenAPIObject, Steps } from "./model.ts"
import { pathItemOf, tagsOf, securityRequirements, securitySchemes } from "./operation.ts"
import type { OperationWriter } from "./operation.ts"
import { SchemaPool } from "./schema-pool.ts"
import { PROBLEM_SCHEMA, sharedResponses } from "./problems.ts"

const VERSIONS = { "3.1": "3.1.1", "3.2": "3.2.0" } as const

/**
 * Creates the OpenAPI document of a registry's REST paths, in small steps between which other work can run.
 *
 * Operations are sorted by id, so the same operations always give the same document. It is not cached here.
 */
export function* documentSteps(
  registry: AnyRegistry,
  options: DocumentOptions,
): Steps<OpenAPIObject> {
  const { title, version, description, servers, security = [], openapi = "3.1" } = options
  const restPath = options.restPath.replace(/\/+$/, "")
  const pool = new SchemaPool({ Problem: PROBLEM_SCHEMA })
  const specs = yield* shownSpecs(registry, options)
  const shown = new Set(specs.map(([id]) => id))
  const writer: OperationWriter = { pool, security, hasItemSchema: openapi === "3.2", shown }
  const paths: Record<string, JsonObject> = {}
  const tags = new Set<string>()
  for (const [id, spec] of specs) {
    const { namespace, name } = spec
    const route = options.routeOf?.(spec)
    const path =
      route === undefined
        ? `${restPath}/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`
        : `${options.basePath ?? ""}${route.path}`
    paths[path] = { ...paths[path], ...pathItemOf(id, spec, writer, route) }
    for (const tag of tagsOf(spec.tags, namespace)) tags.add(tag)
    yield
  }
  const schemas = yield* pool.finish()
  const isSecured = security.length > 0
  return {
    openapi: VERSIONS[openapi],
    info: { title, ...(description !== undefined && { description }), version },
    ...(servers !== undefined &&
      servers.length > 0 && { servers: servers.map((one) => ({ ...one })) }),
    ...(isSecured && { security: securityRequirements(security) }),
    tags: [...tags].toSorted().map((name) => ({ name })),
    paths,
    components: {
      schemas,
      responses: sharedResponses(isSecured),
      ...(isSecured && { securitySchemes: securitySchemes(security) }),
    },
  }
}

/** Exposed operations, by id. */
function* shownSpecs(
  registry: AnyRegistry,
  options: DocumentOptions,
): Steps<Array<[string, OperationSpec]>> {
  const { isExposed, identity } = options
  const shown: Array<[string, OperationSpec]> = []
  for (const spec of registry.getAllSpecs()) {
    yield
    const id = `${spec.namespace}.${spec.name}`
    if (spec.visibility === "internal" || isExposed?.(spec) === false) continue
    if (registry.get(id)?.handler === undefined) continue
    if ("identity" in options && !maySee(spec, identity)) continue
    shown.push([id, spec])
  }
  return shown.toSorted(([left], [right]) => (left < right ? -1 : 1))
}
