import type { Clock } from "../internal/platform.ts"
import { pause } from "../internal/wait.ts"
import type { WrapHandler } from "./apply-source-config.ts"

type Handler = (...args: unknown[]) => unknown

/** Counts the running calls of a source, so that it is closed only after them. */
export class Running {
  readonly #toError: (thrown: unknown) => unknown
  #count = 0
  #idle: (() => void)[] = []

  /** `toError` returns what a call rejects with instead of what its handler has thrown. */
  constructor(toError: (thrown: unknown) => unknown) {
    this.#toError = toError
  }

  /** Wraps a handler so that its calls are counted. */
  readonly wrap: WrapHandler = (operationHandler, isStream) => {
    const handler = operationHandler as Handler
    return isStream
      ? (...args: unknown[]) => this.#stream(() => handler(...args) as AsyncIterable<unknown>)
      : (...args: unknown[]) => this.#call(() => handler(...args))
  }

  get count(): number {
    return this.#count
  }

  /** Resolves when no call runs, after a timeout, or when the signal is aborted. */
  async idle(clock: Clock, milliseconds: number, signal: AbortSignal): Promise<void> {
    if (this.#count === 0) return
    const idle = new AbortController()
    this.#idle.push(() => idle.abort())
    const over = AbortSignal.any([signal, idle.signal])
    await pause(milliseconds, { clock, keepsAlive: false, signal: over })
  }

  async #call(run: () => unknown): Promise<unknown> {
    this.#count++
    try {
      return await run()
    } catch (error) {
      throw this.#toError(error)
    } finally {
      this.#end()
    }
  }

  async *#stream(run: () => AsyncIterable<unknown>): AsyncGenerator<unknown, void, undefined> {
    this.#count++
    try {
      yield* run()
    } catch (error) {
      throw this.#toError(error)
    } finally {
      this.#end()
    }
  }

  #end(): void {
    if (--this.#count > 0) return
    for (const done of this.#idle.splice(0)) done()
  }
}
