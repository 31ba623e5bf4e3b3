import type { Resilience } from "../../src/index.ts"
import type { CallPlan, Intent, Kind, Script, Step, WorldPlan } from "./plan.ts"

const NONE: Readonly<Record<Kind, Resilience>> = { pay: {}, put: {}, get: {} }

const PLAN: CallPlan = {
  kind: "pay",
  hops: 0,
  isKeyed: false,
  timeout: undefined,
  repeats: 0,
  pause: 0,
  scripts: [],
}

/** Histories that once went wrong, as small as they could be, each with what went wrong. They are run first, always. */
export const KEPT: Readonly<Record<string, WorldPlan>> = {
  "a mutation failed with a code of the library after its effect, and invited to repeat it": world(
    [NONE],
    call({ repeats: 1, scripts: [script({ effect: "before", end: "UNAVAILABLE" })] }),
  ),
  "a nested call's refusal denied the effect of the call around it": world(
    [NONE],
    call({
      repeats: 1,
      scripts: [script({ effect: "before", children: [nested({ end: "refuses" })] })],
    }),
  ),
  "a nested query's timeout made a mutation retryable": world(
    [{ ...NONE, get: { timeout: { attempt: 10 } } }],
    call({
      repeats: 1,
      scripts: [script({ effect: "before", children: [nested({ wait: 20 }, { kind: "get" })] })],
    }),
  ),
  "an abort between two attempts denied the effect of the first": world(
    [{ ...NONE, pay: { retry: { attempts: 2, delay: 10 } } }],
    call({ abortAfter: 0, scripts: [script({ effect: "before", end: "UNAVAILABLE" }), script()] }),
  ),
  "a keyed call in a queue ran after its caller was told that it did not": world(
    [{ ...NONE, pay: { idempotency: {}, concurrency: { max: 1, maxQueue: 1 } } }],
    call({ scripts: [script({ wait: 20 })] }),
    call({ isKeyed: true, patience: 5, scripts: [script({ effect: "before" })] }),
  ),
  "a reconnect of an import forgot a key": world(
    [{ ...NONE, pay: { idempotency: {} } }, NONE],
    call({
      ...{ hops: 1, isKeyed: true, patience: 5, repeats: 1, pause: 1_500 },
      scripts: [script({ effect: "before", wait: 20 })],
    }),
    { after: 300, do: "cut", link: 0, lasts: 50 },
  ),
  "a repeat with a key got the result of a nested query that ended late": world(
    [{ ...NONE, pay: { idempotency: {} }, get: { timeout: { attempt: 10 } } }],
    call({
      ...{ isKeyed: true, patience: 5, repeats: 1, pause: 300 },
      scripts: [script({ children: [nested({ wait: 20 }, { kind: "get" })] }), script()],
    }),
  ),
  "a replacement of an operation forgot a key": world(
    [{ ...NONE, pay: { idempotency: {} } }],
    call({
      ...{ isKeyed: true, patience: 5, repeats: 1, pause: 300 },
      scripts: [script({ effect: "before", wait: 20 })],
    }),
    { after: 5, do: "replace", at: 0, kind: "pay" },
  ),
  "a reload with an unrelated rule forgot a key": world(
    [{ ...NONE, pay: { idempotency: {} } }],
    call({
      ...{ isKeyed: true, patience: 5, repeats: 1, pause: 300 },
      scripts: [script({ effect: "before", wait: 20 })],
    }),
    { after: 5, do: "reload", at: 0, attempts: undefined },
  ),
  "the time of a key was over while its call ran": world(
    [{ ...NONE, pay: { idempotency: { ttl: 300 } } }],
    call({
      ...{ isKeyed: true, patience: 150, repeats: 1, pause: 300 },
      scripts: [script({ effect: "before", wait: 2_000 })],
    }),
  ),
  "an effect that came late, after its key was forgotten, was held against the next run": world(
    [{ ...NONE, pay: { idempotency: { ttl: 300 } } }],
    call({
      ...{ isKeyed: true, patience: 5, repeats: 2, pause: 300 },
      scripts: [
        script({
          onError: "wrap",
          children: [
            {
              ...nested({}, { timeout: 50 }),
              scripts: [script({ wait: 2_000, effect: "both" }), script({ effect: "both" })],
            },
          ],
        }),
      ],
    }),
  ),
  "two users of a gateway shared a key": world(
    [NONE, { ...NONE, pay: { idempotency: {} } }],
    call({ hops: 1, isKeyed: true, scripts: [script({ effect: "before" })] }),
    call({ hops: 1, isKeyed: true, who: "bob", scripts: [script({ effect: "before" })] }),
  ),
  "a timeout of the caller freed the place of a handler that went on": world(
    [{ ...NONE, pay: { concurrency: { max: 1 } } }],
    call({ patience: 5, scripts: [script({ wait: 2_000 })] }),
    { ...call({ scripts: [script({ wait: 20 })] }), after: 300 },
  ),
  "shared work ran for a second caller after the first was told that nothing ran": world(
    [
      {
        ...NONE,
        put: { hedge: { after: 5, max: 1 } },
        get: { rateLimit: { perSecond: 50, burst: 1, maxWaitMs: 100 }, cache: { ttl: 5 } },
      },
    ],
    call({ kind: "get" }),
    call({
      kind: "put",
      scripts: [script({ children: [nested({ effect: "before" }, { kind: "get", timeout: 18 })] })],
    }),
  ),
  "a stream outlived a failed attempt that had opened it": world(
    [
      {
        ...NONE,
        get: {
          retry: { attempts: 3, delay: 0 },
          concurrency: { max: 2, maxQueue: 0, maxWaitMs: 10 },
        },
      },
    ],
    call({
      kind: "get",
      scripts: [
        script({
          opensStream: true,
          children: [nested({ wait: 200 }, { timeout: 50, repeats: 1, pause: 1_500 })],
        }),
      ],
    }),
  ),
  "a stream outlived the handler that had opened it": world(
    [NONE, NONE],
    call({ scripts: [script({ opensStream: true })] }),
  ),
}

function world(registries: WorldPlan["registries"], ...steps: Step[]): WorldPlan {
  return {
    seed: 1,
    registries,
    isTrusted: false,
    loss: 0,
    duplicates: 0,
    slow: 0,
    whileDown: "hold",
    steps,
  }
}

function script(parts: Partial<Script> = {}): Script {
  return {
    wait: 0,
    obeys: false,
    effect: "none",
    children: [],
    isParallel: false,
    onError: "throw",
    opensStream: undefined,
    end: "ok",
    ...parts,
  }
}

function nested(parts: Partial<Script>, plan: Partial<CallPlan> = {}): CallPlan {
  return { ...PLAN, ...plan, scripts: [script(parts)] }
}

function call(parts: Partial<Intent>): Step {
  const intent: Intent = {
    ...PLAN,
    who: "ada",
    entry: 0,
    patience: 8_000,
    abortAfter: undefined,
    noRetry: undefined,
    ...parts,
  }
  return { after: 0, do: "call", intent }
}
