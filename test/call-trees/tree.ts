import type { Keeping, Node } from "./journal.ts"
import { DEFAULT_TIMEOUT } from "./plan.ts"
import type { CallPlan, Intent, Kind, WorldPlan } from "./plan.ts"

/** Operations that an operation of a kind may call without becoming one of another kind. */
const BELOW: Readonly<Record<Kind, readonly Kind[]>> = {
  pay: ["pay", "put", "get"],
  put: ["put", "get"],
  get: ["get"],
}

/** An intent with ids, homes and keys. `number` counts the intents of its caller. */
export function treeOf(world: WorldPlan, intent: Intent, id: string, number: number): Node {
  const last = world.registries.length - 1
  const entry = Math.min(intent.entry, last)
  const make = (plan: CallPlan, at: number, name: string, key: string, over: Kind): Node => {
    const home = Math.min(at + plan.hops, last)
    const kind = BELOW[over].includes(plan.kind) ? plan.kind : over
    return {
      id: name,
      kind,
      home,
      entry: at,
      operationId: `r${home}.${kind}`,
      intent,
      plan,
      key: plan.isKeyed ? key : undefined,
      kept: plan.isKeyed ? keepingOf(world, kind, at, home) : undefined,
      children: plan.scripts.map(({ children }, script) =>
        children.map((child, index) => {
          const path = `${name}.${script}${index}`
          return make(child, home, path, path, kind)
        }),
      ),
    }
  }
  // Two callers may use one key: theirs are two calls.
  return make(intent, entry, id, `key ${number}`, "pay")
}

/** How the key of a call is kept on its way; by the registry that forgets it first. */
function keepingOf(
  { registries }: WorldPlan,
  kind: Kind,
  entry: number,
  home: number,
): Keeping | undefined {
  let first: Keeping | undefined
  for (const [at, { [kind]: own }] of registries.entries()) {
    if (at < entry || at > home || !own.idempotency) continue
    const { ttl = Infinity } = own.idempotency
    // For a registry before the last one, losing the link is an outcome.
    const limit = at < home ? 0 : own.timeout ? own.timeout.attempt : DEFAULT_TIMEOUT
    if (first === undefined || ttl < first.ttl) first = { ttl, limit }
  }
  return first
}
