// The state of a watched stream. Time and items come in with actions.

import { weigh } from "../../../src/internal/weigh.ts"
import type { ResponseEnvelope, WatchItem } from "../api/model.ts"
import { EMPTY_RATE, countArrivals } from "./rate.ts"
import type { RateWindow } from "./rate.ts"
import { printShort } from "../../../src/internal/print-short.ts"

/** Maximum number of items that are kept; the oldest are dropped. */
export const MAX_ITEMS = 1000

/** Maximum size of the kept items in characters: a thousand pictures would fill the memory. */
export const MAX_WEIGHT = 48_000_000

/** Number of characters of an item that a filter searches. */
const SEARCHED_CHARACTERS = 20_000

/** An item in the list. */
export interface WatchEntry {
  /** Its number in the stream, from 1. */
  readonly seq: number
  readonly at: number
  readonly envelope: ResponseEnvelope
  readonly weight: number
}

/** The phase of a stream; `stopped`: by the user. */
export type WatchPhase = "idle" | "running" | "ended" | "stopped" | "failed"

export interface WatchState {
  readonly phase: WatchPhase
  readonly error: Error | undefined
  /** The displayed items, the oldest first. */
  readonly shown: readonly WatchEntry[]
  /** Items that arrived during a pause. */
  readonly waiting: readonly WatchEntry[]
  /** Number of items that arrived during a pause, including dropped ones. */
  readonly waitingCount: number
  readonly isPaused: boolean
  readonly received: number
  /** Number of received items that are no longer kept. */
  readonly dropped: number
  readonly rate: RateWindow
  readonly startedAt: number
  readonly endedAt: number | undefined
}

export type WatchAction =
  | { readonly type: "start"; readonly at: number }
  | { readonly type: "items"; readonly items: readonly WatchItem[] }
  | { readonly type: "pause" }
  | { readonly type: "resume" }
  | { readonly type: "clear" }
  | { readonly type: "end"; readonly at: number }
  | { readonly type: "stop"; readonly at: number }
  | { readonly type: "fail"; readonly at: number; readonly error: Error }

/** The initial state. */
export const IDLE: WatchState = {
  phase: "idle",
  error: undefined,
  shown: [],
  waiting: [],
  waitingCount: 0,
  isPaused: false,
  received: 0,
  dropped: 0,
  rate: EMPTY_RATE,
  startedAt: 0,
  endedAt: undefined,
}

/** The reducer of a stream. */
export function reduceWatch(state: WatchState, action: WatchAction): WatchState {
  switch (action.type) {
    case "start":
      return { ...IDLE, phase: "running", startedAt: action.at }
    case "items":
      return withItems(state, action.items)
    case "pause":
      return { ...state, isPaused: true }
    case "resume":
      return resumed(state)
    case "clear":
      return { ...state, shown: [], waiting: [], waitingCount: 0, dropped: state.received }
    case "end":
      return over(state, "ended", action.at)
    case "stop":
      return over(state, "stopped", action.at)
    case "fail":
      return over(state, "failed", action.at, action.error)
  }
}

/** Whether an item contains a text, regardless of case. */
export function isMatch(entry: WatchEntry, text: string): boolean {
  const wanted = text.trim().toLowerCase()
  return wanted === "" || searchedTextOf(entry).includes(wanted)
}

function withItems(state: WatchState, items: readonly WatchItem[]): WatchState {
  if (items.length === 0) return state
  const entries = items.map(({ at, envelope }, index) => {
    const seq = state.received + index + 1
    return { seq, at, envelope, weight: weigh(envelope.data, MAX_WEIGHT) }
  })
  const times = items.map(({ at }) => at)
  const list = state.isPaused ? state.waiting : state.shown
  const kept = lastOf([...list, ...entries])
  return {
    ...state,
    ...(state.isPaused
      ? { waiting: kept, waitingCount: state.waitingCount + entries.length }
      : { shown: kept }),
    received: state.received + entries.length,
    dropped: state.dropped + list.length + entries.length - kept.length,
    rate: countArrivals(state.rate, times),
  }
}

function resumed(state: WatchState): WatchState {
  const all = [...state.shown, ...state.waiting]
  const shown = lastOf(all)
  const dropped = state.dropped + all.length - shown.length
  return { ...state, isPaused: false, shown, waiting: [], waitingCount: 0, dropped }
}

/** The first end counts: a stream that is stopped may still fail. */
function over(state: WatchState, phase: WatchPhase, at: number, error?: Error): WatchState {
  return state.phase === "running" ? { ...state, phase, endedAt: at, error } : state
}

/** The latest entries within the limits, and at least the last one. */
function lastOf(entries: readonly WatchEntry[]): readonly WatchEntry[] {
  let first = entries.length
  let weight = 0
  while (first > 0 && entries.length - first < MAX_ITEMS) {
    weight += entries[first - 1]?.weight ?? 0
    if (weight > MAX_WEIGHT && first < entries.length) break
    first--
  }
  return first === 0 ? entries : entries.slice(first)
}

/** Computed once per item, and only for a filter. */
const searchedTexts = new WeakMap<WatchEntry, string>()

function searchedTextOf(entry: WatchEntry): string {
  const cached = searchedTexts.get(entry)
  if (cached !== undefined) return cached
  const text = printShort(entry.envelope.data, SEARCHED_CHARACTERS).toLowerCase()
  searchedTexts.set(entry, text)
  return text
}
