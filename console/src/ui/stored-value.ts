import { Listeners } from "../../../src/internal/listeners.ts"
import { parseJson, printJson } from "./json-text.ts"

/** A storage of the browser, or a substitute. */
export type Shelf = Pick<Storage, "getItem" | "setItem">

/**
 * A value that the browser stores as JSON, read when it is first needed.
 *
 * Never throws: a full or blocked storage keeps it for as long as the page is open.
 */
export abstract class StoredValue<TValue> {
  readonly #key: string
  readonly #shelf: () => Shelf
  readonly #listeners = new Listeners()
  #value: TValue | undefined

  constructor(key: string, shelf: () => Shelf) {
    this.#key = key
    this.#shelf = shelf
  }

  readonly get = (): TValue => (this.#value ??= this.read())

  /** Notifies a listener of every change that this page makes. */
  readonly subscribe = this.#listeners.add

  /** Notifies a listener of every change, of other tabs too. */
  readonly follow = (listener: () => void): (() => void) => {
    const stop = this.#listeners.add(listener)
    addEventListener("storage", this.refresh)
    return () => {
      stop()
      removeEventListener("storage", this.refresh)
    }
  }

  /** Reads the value again, after something else has written it. */
  readonly refresh = (): void => {
    this.#value = undefined
    this.#listeners.notify()
  }

  /** The value of parsed JSON, which may be from another version, or from another page of the same host. */
  protected abstract fromJson(json: unknown): TValue

  /** The value as it is stored now. */
  protected read(): TValue {
    try {
      return this.fromJson(parseJson(this.#shelf().getItem(this.#key) ?? "null"))
    } catch {
      return this.fromJson(undefined)
    }
  }

  /** Stores JSON; returns whether the browser did that. */
  protected write(json: unknown): boolean {
    try {
      this.#shelf().setItem(this.#key, printJson(json) ?? "null")
      return true
    } catch {
      return false
    }
  }

  protected set(value: TValue): void {
    this.#value = value
    this.notify()
  }

  protected notify(): void {
    this.#listeners.notify()
  }
}
