import { Listeners } from "../../../src/internal/listeners.ts"

export interface Toast {
  readonly id: number
  readonly text: string
  readonly tone: "info" | "good" | "bad"
}

const DISPLAY_MS = 5000
const MAX_TOASTS = 4

/** Short messages that go away by themselves. */
export class Toasts {
  #toasts: readonly Toast[] = []
  #next = 1
  readonly #timers = new Map<number, ReturnType<typeof setTimeout>>()
  readonly #listeners = new Listeners()

  readonly get = (): readonly Toast[] => this.#toasts

  readonly subscribe = this.#listeners.add

  readonly show = (text: string, tone: Toast["tone"] = "info"): void => {
    // The same once more only lasts longer.
    const same = this.#toasts.find((toast) => toast.text === text)
    if (same !== undefined) this.#remove(same.id)
    const id = this.#next++
    this.#toasts = [...this.#toasts, { id, text, tone }].slice(-MAX_TOASTS)
    this.#timers.set(
      id,
      setTimeout(() => this.hide(id), DISPLAY_MS),
    )
    this.#notify()
  }

  readonly hide = (id: number): void => {
    this.#remove(id)
    this.#notify()
  }

  #remove(id: number): void {
    clearTimeout(this.#timers.get(id))
    this.#timers.delete(id)
    this.#toasts = this.#toasts.filter((toast) => toast.id !== id)
  }

  #notify(): void {
    this.#listeners.notify()
  }
}
