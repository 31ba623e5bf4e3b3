import type { RedisLike } from "./ioredis.ts"
import { RespCheck } from "./resp-check.ts"

/** The silence after which a pinged server is given up, in milliseconds. */
const MAX_SILENCE_MS = 1800
/** The time after which a ping counts as unanswered, whatever else arrives, in milliseconds. */
const MAX_WAIT_MS = 5000

/** One connection, which is opened once and never reopened. */
export class RedisConnection {
  readonly redis: RedisLike
  readonly #ended: Promise<void>
  readonly #lost: (cause: Error | undefined) => void
  #error: Error | undefined
  #isOver = false
  #isAsked = false
  #askedAt = 0
  #read = 0
  #receivedAt = 0

  /** `lost` is called once, with the cause if there is one, unless `end` comes first. */
  constructor(
    redis: RedisLike,
    lost: (cause: Error | undefined) => void,
    isListening: boolean = false,
  ) {
    this.redis = redis
    this.#lost = lost
    redis.on("connect", () => this.#guard(new RespCheck(isListening)))
    // `connect` rejects without a reason; only this event has it.
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

  /** Connects. Rejects with the cause. */
  async open(): Promise<void> {
    await this.redis.connect().catch((error: unknown) => {
      throw this.#error ?? error
    })
  }

  /**
   * Checks whether the server still responds, and pings it. Returns for how long it has not responded, if that is too
   * long.
   *
   * `allowance` is added to the limits; `wasStalled` means that this process itself stood still.
   */
  check(now: number, allowance: number, wasStalled: boolean): number | undefined {
    const read = this.redis.stream?.bytesRead ?? 0
    const hasReceived = read !== this.#read || this.#receivedAt === 0
    if (hasReceived || wasStalled) {
      this.#read = read
      this.#receivedAt = now
    }
    if (wasStalled) this.#askedAt = now
    if (now - this.#receivedAt > MAX_SILENCE_MS + allowance) return now - this.#receivedAt
    if (this.#isAsked && now - this.#askedAt > MAX_WAIT_MS + allowance) return now - this.#askedAt
    this.#ask(now)
    return undefined
  }

  /** Breaks off if the server has confirmed other subscriptions: names may have been damaged in transit. */
  confirm(command: "subscribe" | "psubscribe", names: readonly string[]): void {
    const { subscriber } = this.redis.condition ?? {}
    if (subscriber === undefined || subscriber === false) return
    const confirmed = subscriber.channels(command)
    if (!names.every((name) => confirmed.includes(name))) this.breakOff(outOfStep())
  }

  /** Ends a connection whose data cannot be trusted, and reports the cause. */
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
      // An unresponsive server would not close its side either.
      redis.stream?.destroy()
    }
    if (redis.status !== "end") await this.#ended
  }

  /** Checks incoming data before the client reads it. */
  #guard(check: RespCheck): void {
    const { stream } = this.redis
    if (stream?.emit === undefined) return
    const emit = stream.emit.bind(stream)
    stream.emit = (event, ...args) => {
      const [bytes] = args
      if (event !== "data" || !(bytes instanceof Uint8Array)) return emit(event, ...args)
      if (check.accept(bytes)) return emit(event, bytes)
      this.breakOff(new Error("it sent invalid data: bytes were damaged in transit"))
      return true
    }
  }

  /**
   * Pings the server. Answers arrive in the order of commands: an answer that belongs to another command shows that data
   * was lost, and that every further answer would be mismatched, too.
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
      // A missing permission for `ping` is an answer, too.
      () => {
        this.#isAsked = false
      },
    )
  }
}

/** The error for a connection whose answers do not match its commands. */
export function outOfStep(): Error {
  return new Error("its answers do not match the commands: bytes were damaged in transit")
}

/** Subscribers get the answer as a list. */
function isPong(answer: unknown): boolean {
  const word: unknown = Array.isArray(answer) ? answer[0] : answer
  return String(word).toLowerCase() === "pong"
}

/** Facts about a server. */
export interface RedisServer {
  /** `PUBLISH` counts all subscribers; in a cluster it counts only those of the same node. */
  readonly countsAll: boolean
  readonly isReplica: boolean
}

/** Asks a server for its mode and role. That needs a permission only on old servers. */
export async function describeServer(redis: RedisLike): Promise<RedisServer> {
  try {
    const fields = (await redis.call("hello")) as readonly unknown[]
    const field = (name: string): unknown => fields[fields.indexOf(name) + 1]
    const isReplica = field("role") !== "master"
    return { countsAll: field("mode") === "standalone" && !isReplica, isReplica }
  } catch (error) {
    if (redis.status !== "ready") throw error
    const info = await redis.call("info", "cluster").catch(() => "")
    return { countsAll: /^cluster_enabled:0/m.test(String(info)), isReplica: false }
  }
}

/** The number of subscribers of a channel; `undefined` if the server does not report it. */
export async function countListeners(
  redis: RedisLike,
  channel: string,
): Promise<number | undefined> {
  try {
    const [, count] = (await redis.call("pubsub", "numsub", channel)) as readonly unknown[]
    return Number(count)
  } catch {
    return undefined
  }
}
