import type { RedisLike } from "./ioredis.ts"

/** Milliseconds of silence, though it was asked, after which a server is given up. */
const MOST_SILENCE = 1800

/** One connection, from its attempt to its end; it is never opened again. */
export class RedisConnection {
  readonly redis: RedisLike
  readonly #ended: Promise<void>
  #error: Error | undefined
  #isOver = false
  #isAsked = false
  #read = 0
  #heardAt = 0

  /** `lost` is told once, with the cause where there is one, unless `end` comes first. */
  constructor(redis: RedisLike, lost: (cause: Error | undefined) => void) {
    this.redis = redis
    // Whoever connects is told that it failed, but only this says why.
    redis.on("error", (error: Error) => {
      this.#error = error
    })
    this.#ended = new Promise((resolve) => {
      redis.on("end", () => {
        resolve()
        if (this.#isOver) return
        this.#isOver = true
        lost(this.#error)
      })
    })
  }

  /** Rejects with the cause. */
  async open(): Promise<void> {
    try {
      await this.redis.connect()
    } catch (error) {
      throw this.#error ?? error
    }
  }

  /**
   * Looks whether the server is still there, and asks it when it was silent. Gives for how long it has not
   * answered, when that is too long.
   *
   * `patience` is added to what is too long; `hasSlept` says that this process itself stood still.
   */
  look(now: number, patience: number, hasSlept: boolean): number | undefined {
    const read = this.redis.stream?.bytesRead ?? 0
    const isHeard = read !== this.#read || this.#heardAt === 0
    if (isHeard || hasSlept) {
      this.#read = read
      this.#heardAt = now
    }
    if (now - this.#heardAt > MOST_SILENCE + patience) return now - this.#heardAt
    if (!isHeard) this.#ask()
    return undefined
  }

  /** Closes the socket at once; resolves when it is closed. */
  async end(): Promise<void> {
    this.#isOver = true
    const { redis } = this
    if (redis.status !== "end") {
      redis.disconnect()
      // A server that does not answer would not close its side either.
      redis.stream?.destroy()
    }
    if (redis.status !== "end") await this.#ended
  }

  #ask(): void {
    if (this.#isAsked) return
    this.#isAsked = true
    const answered = (): void => {
      this.#isAsked = false
    }
    // One who may not ask is answered all the same.
    this.redis.call("ping").then(answered, answered)
  }
}
