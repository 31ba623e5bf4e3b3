import { isRecord } from "../internal/guards.ts"

/** What a value was cut to: of `total` items, members or characters, those before `to` are there. */
export interface Cut {
  /** Where it is in the value. */
  readonly path: readonly string[]
  readonly kind: "items" | "members" | "characters"
  readonly to: number
  readonly total: number
}

export interface Fitted {
  readonly value: unknown
  /** What was cut, the largest part first; empty if the value is whole. */
  readonly cuts: readonly Cut[]
}

/** Less room than this is not worth a part of a value. */
const MIN_ROOM = 40

/**
 * The part of a JSON value that has at most `room` characters as JSON.
 *
 * Lists keep their first items, whole if at least one fits. Members of objects that are short stay, and the long ones
 * share what is left.
 */
export function fit(value: unknown, room: number): Fitted {
  const fitting = new Fitting()
  const shown = fitting.shrink(value, room, [])
  const cuts = fitting.cuts.toSorted((one, other) => other.lost - one.lost)
  return { value: shown, cuts: cuts.map(({ lost: _, ...cut }) => cut) }
}

/** The value with the list or text at a path from an offset on; `undefined` if there is none. */
export function skip(value: unknown, path: readonly string[], offset: number): unknown {
  const [key, ...rest] = path
  if (key === undefined) {
    if (typeof value === "string" || Array.isArray(value)) return value.slice(offset)
    return isRecord(value) ? Object.fromEntries(Object.entries(value).slice(offset)) : undefined
  }
  if (Array.isArray(value)) {
    const inner = skip(value[Number(key)], rest, offset)
    return inner === undefined ? undefined : value.with(Number(key), inner)
  }
  if (!isRecord(value) || !Object.hasOwn(value, key)) return undefined
  const inner = skip(value[key], rest, offset)
  if (inner === undefined) return undefined
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, name === key ? inner : member]),
  )
}

class Fitting {
  readonly cuts: (Cut & { readonly lost: number })[] = []
  readonly #sizes = new Map<object, number>()

  shrink(value: unknown, room: number, path: readonly string[]): unknown {
    const size = this.#size(value)
    if (size <= room) return value
    if (typeof value === "string") return this.#shortenText(value, size, room, path)
    if (Array.isArray(value)) return this.#shortenList(value, size, room, path)
    return isRecord(value) ? this.#shortenObject(value, size, room, path) : value
  }

  #shortenText(text: string, size: number, room: number, path: readonly string[]): string {
    let to = Math.max(0, Math.floor((text.length * (room - 3)) / size))
    while (to > 0 && JSON.stringify(text.slice(0, to)).length > room) to = Math.floor(to * 0.9)
    // A pair of code units is one character.
    if (/[\uD800-\uDBFF]$/.test(text.slice(0, to))) to--
    this.#cut(path, "characters", to, text.length, size - room)
    return text.slice(0, to)
  }

  #shortenList(
    list: readonly unknown[],
    size: number,
    room: number,
    path: readonly string[],
  ): unknown[] {
    let left = room - 2
    let to = 0
    for (; to < list.length; to++) {
      left -= this.#size(list[to]) + 1
      if (left < 0) break
    }
    if (to > 0 || room < MIN_ROOM) {
      this.#cut(path, "items", to, list.length, size - room)
      return list.slice(0, to)
    }
    if (list.length > 1) this.#cut(path, "items", 1, list.length, size - room)
    return [this.shrink(list[0], room - 2, [...path, "0"])]
  }

  #shortenObject(
    value: Readonly<Record<string, unknown>>,
    size: number,
    room: number,
    path: readonly string[],
  ): Record<string, unknown> {
    const members = Object.keys(value).map((key) => {
      const name = JSON.stringify(key).length + 2
      return { key, name, size: name + this.#size(value[key]) }
    })
    let left = room - 2
    const shares = new Map<string, number>()
    const bySize = members.toSorted((one, other) => one.size - other.size)
    for (const [index, member] of bySize.entries()) {
      const share = Math.min(member.size, Math.floor(left / (bySize.length - index)))
      // Too many members for this room: the first ones are kept.
      if (share < member.size && share < MIN_ROOM)
        return this.#firstMembers(value, size, room, path)
      shares.set(member.key, share - member.name)
      left -= share
    }
    return Object.fromEntries(
      members.map(({ key }) => [
        key,
        this.shrink(value[key], shares.get(key) ?? 0, [...path, key]),
      ]),
    )
  }

  #firstMembers(
    value: Readonly<Record<string, unknown>>,
    size: number,
    room: number,
    path: readonly string[],
  ): Record<string, unknown> {
    const kept: [string, unknown][] = []
    let left = room - 2
    const keys = Object.keys(value)
    for (const key of keys) {
      left -= JSON.stringify(key).length + this.#size(value[key]) + 2
      if (left < 0) break
      kept.push([key, value[key]])
    }
    this.#cut(path, "members", kept.length, keys.length, size - room)
    return Object.fromEntries(kept)
  }

  #cut(path: readonly string[], kind: Cut["kind"], to: number, total: number, lost: number): void {
    this.cuts.push({ path, kind, to, total, lost })
  }

  /** Characters of a value as JSON. */
  #size(value: unknown): number {
    if (typeof value !== "object" || value === null) return JSON.stringify(value)?.length ?? 0
    const known = this.#sizes.get(value)
    if (known !== undefined) return known
    let size = 2
    if (Array.isArray(value)) for (const item of value) size += this.#size(item) + 1
    else {
      for (const [key, member] of Object.entries(value)) {
        size += JSON.stringify(key).length + this.#size(member) + 2
      }
    }
    this.#sizes.set(value, size)
    return size
  }
}
