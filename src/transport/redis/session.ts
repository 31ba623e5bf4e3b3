import type { CallError } from "../../core/errors.ts"
import type { Clock } from "../../internal/platform.ts"
import { Ticker } from "../bus/ticker.ts"
import type { RedisChannels } from "./channels.ts"
import { outOfStep, RedisConnection } from "./connection.ts"
import { deafCaller, deafWorker, isDenied } from "./faults.ts"
import type { MakeConnection } from "./ioredis.ts"
import { Publisher } from "./publisher.ts"
import type { PublisherEvents } from "./publisher.ts"
import { countListeners, describeServer } from "./server.ts"
import type { RedisServer } from "./server.ts"

/** What all sessions of a transport have in common. */
export interface SessionParts {
  readonly make: MakeConnection
  readonly channels: RedisChannels
  /** The server's name in messages. */
  readonly peer: string
  /** Milliseconds that opening may take. */
  readonly connectTimeout: number
  readonly clock: Clock
}

/** What a session tells. After `lost`, `failed` or `end` it tells nothing more. */
export interface SessionEvents extends PublisherEvents {
  /** Came to the inbox, or is news. */
  message(text: string): void
  /** Came to a channel that workers listen to. */
  request(channel: string, text: string): void
  /** How many others there are on this broker. */
  peers(count: number): void
  lost(cause: unknown): void
  /** The server will not let it go on. */
  failed(error: CallError): void
}

const TICK = 500
/** Ticks between two looks at how many there are. */
const COUNT_EVERY = 20
/** Characters under way for which the server is given another millisecond to answer. */
const PER_MILLISECOND = 1024
/** What a server does with those who do not read as fast as others send to them. */
const CUT = "it closed the connection that listens (see its client-output-buffer-limit for pubsub)"
/** Milliseconds that sending the rest may take when it is closed. */
const LAST_WORDS = 1000

/** A connection to publish with and one to listen with, from the attempt to open them until one is lost. */
export class RedisSession {
  readonly #parts: SessionParts
  readonly #events: SessionEvents
  readonly #ticker: Ticker
  readonly #connections: RedisConnection[] = []
  readonly #heard = new Set<string>()
  #wanted: readonly string[] = []
  #publisher: Publisher | undefined
  #change: Promise<void> | undefined
  #server: RedisServer = { countsAll: false, isReplica: false }
  #deaf: CallError | undefined
  /** While it is opened: ends that, with a cause. */
  #giveUp: ((cause: unknown) => void) | undefined
  #isOpen = false
  #isOver = false
  #ticks = 0

  constructor(parts: SessionParts, events: SessionEvents) {
    this.#parts = parts
    this.#events = events
    this.#ticker = new Ticker(parts.clock, TICK, (stalledFor) => this.#look(stalledFor))
  }

  get server(): RedisServer {
    return this.#server
  }

  /** Why answers would not be heard. */
  get deaf(): CallError | undefined {
    return this.#deaf
  }

  /** There once it is open. */
  get publisher(): Publisher | undefined {
    return this.#publisher
  }

  /** Resolves when both connections are there, and all that should be heard is heard. */
  async open(): Promise<void> {
    const { clock, connectTimeout } = this.#parts
    // An answer that got lost would be waited for for ever, even after the connection is closed.
    const over = new Promise<never>((_resolve, reject) => {
      this.#giveUp = reject
    })
    const timer = clock.setTimeout(() => {
      this.#giveUp?.(new Error(`it did not answer within ${connectTimeout} ms`))
    }, connectTimeout)
    try {
      await Promise.race([over, this.#open()])
    } catch (error) {
      void this.end()
      throw error
    } finally {
      clock.clearTimeout(timer)
      this.#giveUp = undefined
    }
  }

  /** Listens to these patterns, and to no others. */
  listen(patterns: readonly string[]): void {
    this.#wanted = patterns
    if (!this.#isOpen || this.#change !== undefined) return
    this.#change = this.#follow()
      .catch((error: unknown) => {
        if (!this.#isOver && isDenied(error)) {
          void this.end()
          this.#events.failed(deafWorker(this.#parts.peer, this.#wanted, error))
        }
      })
      .finally(() => {
        this.#change = undefined
      })
  }

  /** Calls back once all that was asked for with `listen` is heard: at once, or later. */
  whenListening(callback: () => void): void {
    if (this.#change === undefined) callback()
    else void this.#change.then(callback)
  }

  /** Sends what waits, and ends. */
  async close(): Promise<void> {
    const { clock } = this.#parts
    if (this.#isOpen && !this.#isOver) {
      let timer: unknown
      const late = new Promise<void>((resolve) => {
        timer = clock.setTimeout(resolve, LAST_WORDS)
      })
      await Promise.race([this.#sendRest(), late])
      clock.clearTimeout(timer)
    }
    await this.end()
  }

  /** Ends at once. Resolves when nothing is left. */
  async end(): Promise<void> {
    this.#isOver = true
    this.#ticker.stop()
    this.#publisher?.end()
    await Promise.all(this.#connections.map((one) => one.end()))
  }

  async #open(): Promise<void> {
    const { clock } = this.#parts
    const publishing = await this.#connect()
    const { redis } = publishing
    this.#server = await describeServer(redis)
    this.#publisher = new Publisher(redis, clock, this.#events, () =>
      publishing.breakOff(outOfStep()),
    )
    await this.#connect()
    await this.#subscribe()
    if (this.#isOver) throw new Error("it was closed")
    this.#isOpen = true
    // What is to be served may have changed meanwhile.
    this.listen(this.#wanted)
    await this.#change
    this.#ticker.start()
  }

  async #connect(): Promise<RedisConnection> {
    const redis = await this.#parts.make(OVERRIDE)
    if (this.#isOver) throw new Error("it was closed")
    const [publishing] = this.#connections
    const lost = (cause: Error | undefined): void => {
      if (publishing === undefined || cause !== undefined) this.#lost(cause)
      else void this.#cut(publishing)
    }
    const connection = new RedisConnection(redis, lost, publishing !== undefined)
    this.#connections.push(connection)
    await connection.open()
    return connection
  }

  async #subscribe(): Promise<void> {
    const { channels, peer } = this.#parts
    const redis = this.#listening.redis
    redis.on("message", (_channel: string, text: string) => this.#events.message(text))
    redis.on("pmessage", (_pattern: string, channel: string, text: string) =>
      this.#events.request(channel, text),
    )
    // All in one go: nothing is missed between one and the other.
    const [inbox, news, patterns] = await Promise.allSettled([
      redis.subscribe(channels.inbox),
      redis.subscribe(channels.news),
      this.#follow(),
    ])
    if (patterns.status === "rejected") {
      throw isDenied(patterns.reason)
        ? deafWorker(peer, this.#wanted, patterns.reason)
        : patterns.reason
    }
    // Who only serves need not hear what callers do.
    if (news.status === "rejected" && !isDenied(news.reason)) throw news.reason
    if (inbox.status === "fulfilled") return
    if (!isDenied(inbox.reason)) throw inbox.reason
    this.#deaf = deafCaller(peer, channels.inbox, inbox.reason)
    if (this.#wanted.length === 0) throw this.#deaf
  }

  async #follow(): Promise<void> {
    for (;;) {
      const wanted = this.#wanted
      const missing = wanted.filter((one) => !this.#heard.has(one))
      const extra = [...this.#heard].filter((one) => !wanted.includes(one))
      if (missing.length + extra.length === 0) return
      for (const one of extra) this.#heard.delete(one)
      const { redis } = this.#listening
      // Who may not stop listening is asked in vain; the answer is silence.
      if (extra.length > 0) await redis.punsubscribe(...extra).catch(() => undefined)
      if (missing.length > 0) await redis.psubscribe(...missing)
      for (const one of missing) this.#heard.add(one)
    }
  }

  get #listening(): RedisConnection {
    return this.#connections[1] as RedisConnection
  }

  async #sendRest(): Promise<void> {
    await this.#change
    await this.#publisher?.drained()
  }

  /** The connection that listens was closed without a word: by a server that is still there? */
  async #cut({ redis }: RedisConnection): Promise<void> {
    const isThere = await redis.call("ping").then(
      () => true,
      () => redis.status === "ready",
    )
    this.#lost(isThere ? new Error(CUT) : undefined)
  }

  #lost(cause: unknown): void {
    if (this.#isOver) return
    void this.end()
    if (this.#isOpen) this.#events.lost(cause)
    // What is asked of it just now may fail with a better reason, or never.
    else
      void this.#connections
        .at(-1)
        ?.end()
        .then(() => this.#giveUp?.(cause))
  }

  #look(stalledFor: number): void {
    const now = this.#parts.clock.now()
    const patience = (this.#publisher?.unanswered ?? 0) / PER_MILLISECOND
    for (const connection of this.#connections) {
      const silence = connection.look(now, patience, stalledFor > 0)
      if (silence === undefined) continue
      this.#lost(new Error(`it has not answered for ${Math.round(silence)} ms`))
      return
    }
    if (this.#ticks++ % COUNT_EVERY === 1) void this.#count()
  }

  async #count(): Promise<void> {
    const [publishing] = this.#connections as [RedisConnection]
    const count = await countListeners(publishing.redis, this.#parts.channels.news)
    if (count !== undefined && !this.#isOver) this.#events.peers(count)
  }
}

/**
 * Each connection is used once, and what it does not deliver is lost: the guard knows what to do about that, and
 * something that repeats commands behind its back would only harm.
 */
const OVERRIDE = {
  lazyConnect: true,
  retryStrategy: null,
  sentinelRetryStrategy: null,
  reconnectOnError: null,
  enableOfflineQueue: false,
  autoResubscribe: false,
  autoResendUnfulfilledCommands: false,
  enableAutoPipelining: false,
  maxRetriesPerRequest: null,
  commandTimeout: undefined,
  socketTimeout: undefined,
  disconnectTimeout: 500,
  // Messages belong to no database, and need no prefix, script or other form of replies.
  db: 0,
  keyPrefix: "",
  scripts: undefined,
  himportFieldsets: undefined,
  stringNumbers: false,
  replyMapping: "legacy",
  monitor: false,
  readOnly: false,
}
