import { setOwn } from "../../../schema/json.ts"
import type { Raw } from "../document.ts"

/** A copy-on-write object: the source itself until the first change. */
export class Draft {
  readonly #source: Raw
  #copy: Record<string, unknown> | undefined = undefined
  #dropped: Set<string> | undefined = undefined

  constructor(source: Raw) {
    this.#source = source
  }

  set(key: string, value: unknown): void {
    this.#dropped?.delete(key)
    if (this.#copy === undefined) {
      if (this.#source[key] === value) return
      // A spread is much cheaper than copying key by key, and `__proto__` stays a property.
      this.#copy = { ...this.#source }
    }
    this.#copy[key] = value
  }

  get(key: string): unknown {
    return (this.#copy ?? this.#source)[key]
  }

  drop(key: string): void {
    ;(this.#dropped ??= new Set()).add(key)
  }

  finish(): Raw {
    const whole = this.#copy ?? this.#source
    if (this.#dropped === undefined) return whole
    const out: Record<string, unknown> = {}
    for (const key of Object.keys(whole)) {
      if (!this.#dropped.has(key)) setOwn(out, key, whole[key])
    }
    return out
  }
}
