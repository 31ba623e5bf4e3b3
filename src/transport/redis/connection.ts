import type { RedisLike } from "./ioredis.ts"
import { RespCheck } from "./resp-check.ts"

/** Milliseconds of silence, though it was asked, after which a server is given up. */
const MOST_SILENCE = 1800
/** Milliseconds after which a question is not going to be answered, whatever else comes. */
const MOST_WAIT = 5000

/** One connection, from its attempt to its end; it is never opened again. */
export class RedisConnection {
  readonly redis: RedisLike
  readonly #ended: Promise<void>
  readonly #lost: (cause: Error | undefined) => void
  #error: Error | undefined
  #isOver = false
  #isAsked = false
  #askedAt = 0
  #read = 0
  #heardAt = 0

  /** `lost` is told once, with the cause where there is one, unless `end` comes first. */
  constructor(
    redis: RedisLike,
    lost: (cause: Error | undefined) => void,
    isListening: boolean = false,
  ) {
    this.redis = redis
    this.#lost = lost
    redis.on("connect", () => this.#guard(new RespCheck(isListening)))
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
   * Looks whether the server is still there, and asks it. Gives for how long it has not answered, when that is too
   * long.
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
    if (hasSlept) this.#askedAt = now
    if (now - this.#heardAt > MOST_SILENCE + patience) return now - this.#heardAt
    if (this.#isAsked && now - this.#askedAt > MOST_WAIT + patience) return now - this.#askedAt
    this.#ask(now)
    return undefined
  }

  /** What came cannot be trusted: ends, and tells why. */
  breakOff(cause: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#lost(cause)
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

  /** Looks at what comes before the client does. */
  #guard(check: RespCheck): void {
    const { stream } = this.redis
    if (stream?.emit === undefined) return
    const emit = stream.emit.bind(stream)
    stream.emit = (event, ...args) => {
      const [bytes] = args
      if (event !== "data" || !(bytes instanceof Uint8Array)) return emit(event, ...args)
      if (check.accept(bytes)) return emit(event, bytes)
      this.breakOff(new Error("it sent what is no answer: bytes were damaged on the way"))
      return true
    }
  }

  /**
   * Answers come in the order of the questions: one that belongs to another question shows that something was lost on
   * the way, and that every further answer would be taken for another, too.
   */
  #ask(now: number): void {
    if (this.#isAsked) return
    this.#isAsked = true
    this.#askedAt = now
    this.redis.call("ping").then(
      (answer) => {
        this.#isAsked = false
        if (!isPong(answer)) this.breakOff(outOfStep())
      },
      // One who may not ask is answered all the same.
      () => {
        this.#isAsked = false
      },
    )
  }
}

/** Why a connection is given up whose answers belong to other questions. */
export function outOfStep(): Error {
  return new Error("its answers do not belong to what was asked: bytes were damaged on the way")
}

/** Who listens is answered with a list. */
function isPong(answer: unknown): boolean {
  const word: unknown = Array.isArray(answer) ? answer[0] : answer
  return String(word).toLowerCase() === "pong"
}
