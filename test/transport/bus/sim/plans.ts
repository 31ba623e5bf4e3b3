import type { Random } from "../../../protocol/sim/random.ts"
import type { Kind, Plan } from "./plan.ts"

/** By then everybody has found the broker, if it is there. */
const SETTLED = 800

const KINDS: readonly Kind[] = [
  ...(["query", "query", "query", "upsert", "change", "change", "change", "change"] as const),
  ...(["change", "stubborn", "fail", "rare", "missing", "mixed", "relay"] as const),
  ...(["stream", "stream", "stream", "stream", "list", "changes"] as const),
]

const ALIKE: readonly Kind[] = ["change", "change", "change", "query", "stream"]
const LARGE: readonly Kind[] = ["large", "largeResult"]

/** What everybody wants in a history: each something of their own, or all much the same at the same time. */
export function plansOf(random: Random, callers: number, isWild: boolean): Plan[] {
  const isBurst = random.chance(0.15)
  const count = isBurst ? random.between(10, 30) : random.between(3, 14)
  const start = (isWild ? 0 : SETTLED) + random.between(0, 1500)
  return Array.from({ length: count }, (_item, index) => {
    const plan = planOf(random, `p${index}`, callers, isWild, isBurst ? ALIKE : KINDS)
    if (!isBurst) return plan
    return { ...plan, caller: random.chance(0.7) ? 0 : plan.caller, startAt: start }
  })
}

function planOf(
  random: Random,
  key: string,
  callers: number,
  isWild: boolean,
  kinds: readonly Kind[],
): Plan {
  const kind = random.chance(0.06) ? random.pick(LARGE) : random.pick(kinds)
  const isStream = kind === "stream"
  // Nobody but its consumer ends it.
  const isEndless = kind === "changes"
  const isRelaxed = !isEndless && random.chance(0.5)
  const items = random.pick([0, 1, 3, 10, 40])
  const isDated = !isStream || random.chance(0.7)
  return {
    key,
    kind,
    isRelaxed,
    caller: random.between(0, callers - 1),
    // Some at the same time: they travel together.
    startAt: (isWild ? 0 : SETTLED) + (random.chance(0.3) ? 1000 : random.between(0, 3000)),
    work: random.pick(isStream ? [0, 10, 100, 200] : [0, 10, 300, 1000, 4000]),
    deadline: isRelaxed ? 30_000 : isDated ? random.between(5, 4000) : undefined,
    idleTimeout:
      isStream && !isRelaxed && random.chance(0.4) ? random.between(50, 3000) : undefined,
    abortAfter:
      isEndless || (!isRelaxed && random.chance(0.35)) ? random.between(0, 2000) : undefined,
    items,
    failAt: random.chance(0.2) ? random.between(1, items + 1) : undefined,
    largeAt: isStream && random.chance(0.05) ? random.between(1, 3) : undefined,
    window: random.pick([1, 2, 4, 16]),
    pace: random.pick([0, 0, 5, 50]),
    leaveAfter: random.chance(0.2) ? random.between(1, 5) : undefined,
  }
}
