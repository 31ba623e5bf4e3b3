import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { Call } from "../../src/engine/call.ts"
import { RecordStore } from "../../src/engine/store.ts"
import { Deadlines } from "../../src/internal/deadlines.ts"
import { Attempts } from "../../src/policy/attempts.ts"
import { Slots } from "../../src/policy/concurrency.ts"
import { KnownKeys } from "../../src/policy/known-keys.ts"
import { violations } from "./audit.ts"
import { overMCP } from "./expiring.ts"
import { callsOfOne, worlds } from "./plan.ts"
import type { WorldPlan } from "./plan.ts"
import { play } from "./play.ts"
import type { OpenWay } from "./play.ts"

/** How many histories a bug has to show itself in. */
const FEW = 500

/** Histories in which an operation is replaced that is called with keys, and repeated. */
const withReplacement = worlds.filter(
  ({ steps, registries }) =>
    registries.some(({ pay }) => Boolean(pay.idempotency)) &&
    steps.some((step) => step.do === "replace" && step.kind === "pay") &&
    steps.some(
      (step) =>
        step.do === "call" &&
        step.intent.kind === "pay" &&
        step.intent.isKeyed &&
        step.intent.repeats > 0,
    ),
)

/** The first violation of a law in random histories; `undefined` if there is none. */
async function firstOf(
  law: RegExp,
  plans: fc.Arbitrary<WorldPlan>,
  openWay?: OpenWay,
): Promise<string | undefined> {
  for (const plan of fc.sample(plans, { seed: 1, numRuns: FEW })) {
    const found = violations(await play(plan, openWay)).find((one) => law.test(one))
    if (found !== undefined) return found
  }
  return undefined
}

type Any = (this: unknown, ...args: unknown[]) => unknown

/** A method, and what it does instead. */
type Patch = readonly [target: object, method: string, change: (original: Any) => Any]

/** Keys belong to the record of an operation, so that its replacement begins anew. */
function keysByRecord(): Patch[] {
  let current = new WeakSet<object>()
  return [
    [
      RecordStore.prototype,
      "set",
      (set) =>
        function forget(record) {
          if ((this as RecordStore).get((record as { id: string }).id)) current = new WeakSet()
          return set.call(this, record)
        },
    ],
    [
      KnownKeys.prototype,
      "set",
      (set) =>
        function remember(caller, key, known) {
          current.add(known as object)
          return set.call(this, caller, key, known)
        },
    ],
    [
      KnownKeys.prototype,
      "get",
      (get) =>
        function find(caller, key) {
          const known = get.call(this, caller, key)
          return known !== undefined && current.has(known as object) ? known : undefined
        },
    ],
  ]
}

describe("a bug breaks a law:", () => {
  test.each<readonly [string, RegExp, readonly Patch[], fc.Arbitrary<WorldPlan>]>([
    [
      "the error of a nested call leaves as that of the call around it: an effect is denied",
      /^denied/,
      [[Call.prototype, "toHandlerError", () => Reflect.get(Call.prototype, "toError")]],
      worlds,
    ],
    [
      "the error of a nested call leaves as that of the call around it: an effect happens twice",
      /^twice/,
      [[Call.prototype, "toHandlerError", () => Reflect.get(Call.prototype, "toError")]],
      worlds,
    ],
    ["a replaced operation forgets its keys", /^twice/, keysByRecord(), withReplacement],
    [
      "everything is repeated",
      /^twice/,
      [
        [
          Attempts.prototype,
          "waitBefore",
          () => (_call, _thrown, attempt) => ((attempt as number) < 3 ? 0 : undefined),
        ],
      ],
      worlds,
    ],
    [
      "a place is free when its caller leaves",
      /^crowded/,
      [
        [
          Slots.prototype,
          "leave",
          (leave) =>
            function early() {
              leave.call(this)
            },
        ],
      ],
      worlds,
    ],
    [
      "places are never free again",
      /places taken/,
      [[Slots.prototype, "leave", () => () => undefined]],
      worlds,
    ],
    [
      "no deadline is ever over",
      /^late/,
      [[Deadlines.prototype, "add", () => () => undefined]],
      worlds,
    ],
  ])("%s", { timeout: 600_000 }, async (_name, law, patches, plans) => {
    const originals = patches.map(([target, method]) => Reflect.get(target, method) as Any)
    try {
      for (const [index, [target, method, change]] of patches.entries()) {
        Reflect.set(target, method, change(originals[index] as Any))
      }
      expect(await firstOf(law, plans)).toMatch(law)
    } finally {
      for (const [index, [target, method]] of patches.entries()) {
        Reflect.set(target, method, originals[index])
      }
    }
  })

  test("a server refuses a token that expired while the handler ran", async () => {
    const way = overMCP("modern", 100, { isStrict: true })
    expect(await firstOf(/^twice/, callsOfOne, way)).toMatch(/^twice/)
  })
})
