import { checkAccess } from "../core/access.ts"
import type { AnyOperation } from "../core/define.ts"
import { shownDeprecation } from "../core/deprecation.ts"
import { OperationRegistry, type AnyRegistry, type RegistryChange } from "../engine/registry.ts"
import type { Identity, OperationSpec } from "../core/types.ts"
import type { OperationContext } from "../core/handler.ts"

/** One line of `services.list`. */
export interface ServiceEntry {
  readonly id: string
  readonly type: OperationSpec["type"]
  readonly version: string
  readonly title?: string | undefined
  readonly description: string
}

/** An item of `services.changes`. `ready` is the first; after `reset` list again. */
export type ServiceChange =
  | { readonly type: "ready" | "reset" }
  | { readonly type: RegistryChange["type"]; readonly id: string }

const PAGE_SIZE = 500
// Specs travel in pieces that fit any transport's frames.
const MAX_PIECE_LENGTH = 256 * 1024
const MAX_CHANGES = 1000

const services = new WeakMap<AnyRegistry, OperationRegistry>()

/** The built-in operations of every served registry: `services.list`, `services.schema`, `services.changes`. */
export function servicesOf(registry: AnyRegistry): OperationRegistry {
  let builtIns = services.get(registry)
  if (builtIns === undefined) {
    builtIns = new OperationRegistry({ normalize: "off", output: "off" })
    builtIns.registerAll([listOf(registry), schemaOf(registry), changesOf(registry)])
    services.set(registry, builtIns)
  }
  return builtIns
}

function listOf(registry: AnyRegistry): AnyOperation {
  const limits = { type: "integer", minimum: 1, maximum: PAGE_SIZE }
  return {
    ...builtIn("list", "query", "Lists the operations that the caller may call"),
    inputSchema: { type: "object", properties: { after: { type: "string" }, limit: limits } },
    handler: (input: unknown, { identity }: OperationContext) => {
      const { after = "", limit = PAGE_SIZE } = (input ?? {}) as { after?: string; limit?: number }
      const ids = registry
        .getAllSpecs()
        .filter((spec) => isVisible(spec, identity))
        .map(entryOf)
        .filter(({ id }) => id > after)
        .toSorted((left, right) => (left.id < right.id ? -1 : 1))
      const operations = ids.slice(0, limit)
      return { operations, hasMore: ids.length > operations.length }
    },
  }
}

function schemaOf(registry: AnyRegistry): AnyOperation {
  const list = { type: "array", items: { type: "string" }, maxItems: PAGE_SIZE }
  return {
    ...builtIn("schema", "query", "Returns the specs of operations by their ids"),
    inputSchema: { type: "object", properties: { ids: list }, required: ["ids"] },
    handler: (input: unknown, { identity }: OperationContext) => {
      const { ids } = input as { readonly ids: readonly string[] }
      const specs: OperationSpec[] = []
      let size = 0
      for (const [at, id] of ids.entries()) {
        const spec = registry.getSpec(id)
        if (spec === undefined || !isVisible(spec, identity)) continue
        size += JSON.stringify(spec).length
        if (size > MAX_PIECE_LENGTH && specs.length > 0) return { specs, rest: ids.slice(at) }
        const via = (registry as Partial<OperationRegistry>).pathOf?.(id)
        const deprecation = shownDeprecation(spec.deprecation, (other) => {
          const next = registry.getSpec(other)
          // It may be an operation of another worker.
          return next === undefined || isVisible(next, identity)
        })
        specs.push({ ...spec, ...(deprecation && { deprecation }), ...(via && { via }) })
      }
      return { specs, rest: [] }
    },
  }
}

function changesOf(registry: AnyRegistry): AnyOperation {
  return {
    ...builtIn("changes", "subscription", "Reports operations that are added, changed or removed"),
    inputSchema: {},
    handler: (_input: unknown, { identity, signal }: OperationContext) =>
      changes(registry, identity, signal),
  }
}

async function* changes(
  registry: AnyRegistry,
  identity: Identity | undefined,
  signal: AbortSignal,
): AsyncGenerator<ServiceChange> {
  let waiting: ServiceChange[] = []
  let wake: (() => void) | undefined
  const end = (): void => wake?.()
  const stop = registry.onChange(({ type: change, id, spec, previous }) => {
    const isOffered = isVisible(spec, identity)
    // Operations that the peer never knew stay unknown to it.
    if (!isOffered && (previous === undefined || !isVisible(previous, identity))) return
    const type = isOffered ? change : "removed"
    // A slow consumer lists again instead of reading a long history.
    waiting = waiting.length >= MAX_CHANGES ? [{ type: "reset" }] : [...waiting, { type, id }]
    wake?.()
  })
  signal.addEventListener("abort", end)
  try {
    yield { type: "ready" }
    while (!signal.aborted) {
      const items = waiting
      waiting = []
      yield* items
      if (waiting.length > 0) continue
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  } finally {
    stop()
    signal.removeEventListener("abort", end)
  }
}

function builtIn<TType extends OperationSpec["type"]>(
  name: string,
  type: TType,
  description: string,
): Omit<OperationSpec, "inputSchema"> & { readonly type: TType } {
  return {
    ...{ namespace: "services", name, version: "1.0.0", type, description, outputSchema: {} },
    accessControl: { requiredScopes: [] },
    annotations: { readOnly: true },
  }
}

/** Whether this identity may call an operation, at least with some input. */
function isVisible(spec: OperationSpec, identity: Identity | undefined): boolean {
  if (spec.visibility === "internal") return false
  return checkAccess({ ...spec.accessControl, resourceIdPath: undefined }, identity)
}

function entryOf(spec: OperationSpec): ServiceEntry {
  const { namespace, name, type, version, title, description } = spec
  return {
    id: `${namespace}.${name}`,
    type,
    version,
    ...(title !== undefined && { title }),
    description,
  }
}
