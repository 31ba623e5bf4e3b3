import type { PolicyTarget, Resilience } from "../core/resilience.ts"

type PolicyName = keyof Resilience

/** What each policy is for an operation; those that do not apply are left out. */
export type ResolvedResilience = {
  readonly [TName in PolicyName]?: Exclude<Resilience[TName], false>
}

const LOCAL_STANDARD: Resilience = {
  timeout: { attempt: 10_000 },
  concurrency: { most: 64, queue: 256 },
}

/** The preset. What runs in this process fails for other reasons than a network: it has only the limits. */
const STANDARD: Resilience = { ...LOCAL_STANDARD, retry: { attempts: 3 }, breaker: {} }

/** Settles each policy by itself: the first layer that mentions it counts, and `false` switches it off. */
export function resolveResilience(target: PolicyTarget): ResolvedResilience {
  const preset = target.isImported ? STANDARD : LOCAL_STANDARD
  const resolved: Record<string, unknown> = {}
  for (const layer of target.layers) {
    const settings = layer === "standard" ? preset : layer
    for (const [name, value] of Object.entries(settings)) {
      if (value !== undefined && !Object.hasOwn(resolved, name)) resolved[name] = value
    }
  }
  for (const [name, value] of Object.entries(resolved)) {
    if (value === false || !applies(name as PolicyName, target)) delete resolved[name]
  }
  return resolved
}

/** Whether a policy makes sense for an operation. */
function applies(name: PolicyName, { isStream, isIdempotent }: PolicyTarget): boolean {
  switch (name) {
    case "cache":
    case "hedge":
      return isIdempotent && !isStream
    case "fallback":
    case "idempotency":
    case "invalidates":
      return !isStream
    case "timeout":
    case "retry":
    case "breaker":
    case "concurrency":
    case "rateLimit":
      return true
  }
}
