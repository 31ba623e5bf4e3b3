import type { Shelf } from "../../ui/stored-value.ts"

/** A storage of the browser, or a substitute. */
export type BrowserStorage = Shelf & Pick<Storage, "removeItem">

const CHOICE = "operations.history.keep"

/**
 * Keeps the history in the tab, and beyond it only where the user has chosen so: on a shared machine, the next user of the
 * browser would read it otherwise. Throws where the browser does.
 */
export class HistoryShelf implements Shelf {
  readonly #tab: () => BrowserStorage
  readonly #browser: () => BrowserStorage

  constructor(tab: () => BrowserStorage, browser: () => BrowserStorage) {
    this.#tab = tab
    this.#browser = browser
  }

  /** Whether the user has chosen to keep it when the tab is closed. */
  get isKept(): boolean {
    return this.#browser().getItem(CHOICE) === "1"
  }

  getItem(key: string): string | null {
    return this.#current().getItem(key)
  }

  setItem(key: string, value: string): void {
    this.#current().setItem(key, value)
    if (!this.isKept) this.#browser().removeItem(key)
  }

  /** Keeps what is under a key from now on in the browser, or in this tab alone. */
  keep(isKept: boolean, key: string): void {
    const entries = this.getItem(key)
    if (isKept) this.#browser().setItem(CHOICE, "1")
    else this.#browser().removeItem(CHOICE)
    const other = isKept ? this.#tab() : this.#browser()
    other.removeItem(key)
    if (entries !== null) this.setItem(key, entries)
  }

  #current(): BrowserStorage {
    return this.isKept ? this.#browser() : this.#tab()
  }
}

/** The storage of what the user does: of this tab, or of this browser where the user has chosen so. */
export const historyShelf = new HistoryShelf(
  () => globalThis.sessionStorage,
  () => globalThis.localStorage,
)
