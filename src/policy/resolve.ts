import type { AppliedPolicy } from "../core/policy-state.ts"
import type { PolicyTarget, Resilience } from "../core/resilience.ts"
import { isPlainObject } from "../internal/guards.ts"

type PolicyName = keyof Resilience

/** The policies of an operation, without those that do not apply. */
export type ResolvedResilience = {
  readonly [TName in PolicyName]?: Exclude<Resilience[TName], false>
}

const LOCAL_STANDARD: Resilience = {
  timeout: { attempt: 10_000 },
  concurrency: { max: 64, maxQueue: 256 },
}

/** The preset. Operations of this process get only the limits, because they do not fail like a network. */
const STANDARD: Resilience = { ...LOCAL_STANDARD, retry: { attempts: 3 }, breaker: {} }

interface Setting {
  readonly from: string
  readonly value: unknown
}

export function resolveResilience(target: PolicyTarget): ResolvedResilience {
  const settings = settingsOf(target)
  return Object.fromEntries(Array.from(settings, ([name, { value }]) => [name, value]))
}

/** Describes the policies of an operation. */
export function describeResilience(target: PolicyTarget): AppliedPolicy[] {
  return Array.from(settingsOf(target), ([policy, { from, value }]) => ({
    policy,
    from,
    settings: isPlainObject(value)
      ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]))
      : plain(value),
  }))
}

/** Resolves each policy separately: the first layer that mentions it counts, and `false` switches it off. */
function settingsOf(target: PolicyTarget): ReadonlyMap<PolicyName, Setting> {
  const preset = target.isImported ? STANDARD : LOCAL_STANDARD
  const chosen = new Map<PolicyName, Setting>()
  for (const { from, settings } of target.layers) {
    for (const [key, value] of Object.entries(settings === "standard" ? preset : settings)) {
      const name = key as PolicyName
      if (value !== undefined && !chosen.has(name)) chosen.set(name, { from, value })
    }
  }
  for (const [name, { value }] of chosen) {
    if (value === false || !applies(name, target)) chosen.delete(name)
  }
  return chosen
}

/** A setting as JSON; functions and objects of the application become `"custom"`. */
function plain(value: unknown): unknown {
  const isCustom =
    typeof value === "function" || (typeof value === "object" && !Array.isArray(value))
  return isCustom ? "custom" : value
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
