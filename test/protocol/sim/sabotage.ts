import type { CallEvent } from "../../../src/core/events.ts"
import type { Random } from "./random.ts"

/** A way to break the protocol on purpose, to see that the checks see it. */
export interface Sabotage {
  readonly name: string
  /** What the checks have to say about it. */
  readonly shows: RegExp
  /** What is sent instead of an event, and how much later. */
  alter?(event: CallEvent, random: Random): readonly Late[]
  /** `false`: what `alter` sends later may be overtaken. */
  readonly keepsOrder?: boolean
  /** `false`: the transport hides that requests may arrive twice, so that they are not remembered. */
  readonly mayRepeat?: boolean
  /** `false`: nobody hears that the peer is gone. */
  readonly tellsLoss?: boolean
}

interface Late {
  readonly event: CallEvent
  readonly delay: number
}

const once = (event: CallEvent): readonly Late[] => [{ event, delay: 0 }]

/** All is as it should be. */
export const NO_SABOTAGE: Sabotage = { name: "none", shows: /(?!)/ }

/** Each of these must be found. */
export const SABOTAGES: readonly Sabotage[] = [
  {
    name: "skip the credit: the producer never hears that items were taken",
    shows: /without a fault \(TIMEOUT/,
    alter: (event) => (event.type === "call.credit" ? [] : once(event)),
  },
  {
    name: "skip the credit: the producer does not know of a window",
    shows: /with a credit of/,
    alter: (event) => {
      if (event.type !== "call.requested") return once(event)
      const { window: _, ...rest } = event
      return once(rest)
    },
  },
  {
    name: "drop the abort",
    shows: /nobody waited/,
    alter: (event) => (event.type === "call.aborted" ? [] : once(event)),
  },
  {
    name: "deliver twice: requests that nobody remembers",
    shows: /ran 2 times/,
    mayRepeat: false,
    keepsOrder: false,
    alter: (event, random) =>
      event.type === "call.requested"
        ? [...once(event), { event, delay: random.between(1, 2000) }]
        : once(event),
  },
  {
    name: "deliver twice: items without a number",
    shows: /item 2 was 1/,
    alter: (event) => {
      if (event.type !== "call.responded" || event.seq === undefined) return once(event)
      const { seq: _, ...item } = event
      return [...once(item), ...once(item)]
    },
  },
  {
    name: "let completion overtake: items take longer",
    shows: /without a fault \(DATA_LOSS/,
    keepsOrder: false,
    alter: (event) => (event.type === "call.responded" ? [{ event, delay: 500 }] : once(event)),
  },
  {
    name: "let completion overtake: and nobody knows how many items there were",
    shows: /ended after \d+ of/,
    keepsOrder: false,
    alter: (event) => {
      if (event.type === "call.responded") return [{ event, delay: 500 }]
      return once(event.type === "call.completed" ? { ...event, seq: undefined } : event)
    },
  },
  {
    name: "lose items without a word",
    shows: /ended after \d+ of/,
    alter: (event, random) => {
      if (event.type === "call.completed") return once({ ...event, seq: undefined })
      if (event.type !== "call.responded" || event.seq === undefined) return once(event)
      const { seq: _, ...item } = event
      return random.chance(0.1) ? [] : once(item)
    },
  },
  {
    name: "forget how much time is left, and the abort",
    shows: /nobody waited/,
    alter: (event) => {
      if (event.type === "call.aborted") return []
      if (event.type !== "call.requested") return once(event)
      const { timeout: _, ...rest } = event
      return once(rest)
    },
  },
  {
    name: "keep a lost peer secret",
    shows: /nobody waited/,
    tellsLoss: false,
  },
  {
    name: "answer with the data of another",
    shows: /data of another/,
    alter: (event, random) =>
      event.type === "call.responded" && random.chance(0.2)
        ? once({ ...event, output: { ...event.output, data: { key: "another", at: 7 } } })
        : once(event),
  },
  {
    name: "swallow the end",
    shows: /without a fault \(TIMEOUT/,
    alter: (event) => (event.type === "call.completed" ? [] : once(event)),
  },
]
