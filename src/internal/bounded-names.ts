/** Stands for all names beyond a bound. */
export const OTHER = "_OTHER"

/** The first names are kept apart; all further ones become `_OTHER`. */
export class BoundedNames {
  readonly #names = new Set<string>()
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  of(name: string): string {
    if (this.#names.has(name)) return name
    if (this.#names.size >= this.#max) return OTHER
    this.#names.add(name)
    return name
  }
}
