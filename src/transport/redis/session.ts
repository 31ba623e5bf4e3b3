// One session with a Redis server: a publishing and a subscribed connection, from opening them to losing one.
import type { CallError } from "../../core/errors.ts"
import type { Clock } from "../../internal/platform.ts"
import { withTimeout } from "../../internal/wait.ts"
import { Ticker } from "../bus/ticker.ts"
import type { RedisChannels } from "./channels.ts"
import { outOfStep, RedisConnection, countListeners, describeServer } from "./connection.ts"
import type { RedisServer } from "./connection.ts"
import { inboxDenied, requestsDenied, isDenied } from "./failures.ts"
import type { MakeConnection } from "./ioredis.ts"
import { Publisher, type PublisherEvents } from "./publisher.ts"

/** The common options of all sessions of a transport. */
export interface SessionParts {
  readonly make: MakeConnection
  readonly channels: RedisChannels
  /** The server's name in messages. */
  readonly peer: string
  /** The timeout for opening, in milliseconds. */
  readonly connectTimeout: number
  readonly clock: Clock
}

/** Events of a session. There are none after `lost`, `failed` or `end`. */
export interface SessionEvents extends PublisherEvents {
  /** A message to the inbox, or an announcement. */
  message(text: string): void
  /** A message to a channel of workers. */
  request(channel: string, text: string): void
  /** The number of processes on this broker. */
  peers(count: number): void
  lost(cause: unknown): void
  /** The server denies a required permission. */
  failed(error: CallError): void
}

const TICK_MS = 500
/** Ticks between two counts of peers. */
const COUNT_EVERY = 20
/** Unconfirmed characters per extra millisecond that the server gets to respond. */
const PER_MILLISECOND = 1024
/** The reason when a server disconnects a slow subscriber. */
const CUT = "it closed the subscriber's connection (see its client-output-buffer-limit for pubsub)"
/** How long `close` may take to send the rest, in milliseconds. */
const CLOSE_TIMEOUT_MS = 1000

/** A pair of connections, one to publish and one to subscribe, until one of them is lost. */
export class RedisSession {
  readonly #parts: SessionParts
  readonly #events: SessionEvents
  readonly #ticker: Ticker
  readonly #connections: RedisConnection[] = []
  readonly #subscribed = new Set<string>()
  #wanted: readonly string[] = []
  #change: Promise<void> | undefined
  /** Set once it is open. */
  publisher: Publisher | undefined
  server: RedisServer = { countsAll: false, isReplica: false }
  /** The error when this user may not subscribe to its inbox, and so cannot receive answers. */
  inboxDenied: CallError | undefined
  /** While it is being opened: rejects with a cause. */
  #giveUp: ((cause: unknown) => void) | undefined
  #isOpen = false
  #isOver = false
  #ticks = 0

  constructor(parts: SessionParts, events: SessionEvents) {
    this.#parts = parts
    this.#events = events
    this.#ticker = new Ticker(parts.clock, TICK_MS, (late) => this.#checkConnections(late))
  }

  /** Resolves when both connections are open, and everything is subscribed. */
  async open(): Promise<void> {
    const { clock, connectTimeout } = this.#parts
    // The client would wait for a lost answer forever, even after the connection is closed.
    const over = new Promise<never>((_resolve, reject) => {
      this.#giveUp = reject
    })
    const late = (): never => {
      throw new Error(`it did not answer within ${connectTimeout} ms`)
    }
    try {
      await withTimeout(Promise.race([over, this.#open()]), connectTimeout, late, { clock })
    } catch (error) {
      void this.end()
      throw error
    } finally {
      this.#giveUp = undefined
    }
  }

  /** Subscribes to exactly these patterns. */
  listen(patterns: readonly string[]): void {
    this.#wanted = patterns
    if (!this.#isOpen || this.#change !== undefined) return
    this.#change = this.#follow()
      .catch((error: unknown) => {
        if (!this.#isOver && isDenied(error)) {
          void this.end()
          this.#events.failed(requestsDenied(this.#parts.peer, this.#wanted, error))
        }
      })
      .finally(() => {
        this.#change = undefined
      })
  }

  /** Calls back once the patterns of `listen` are subscribed: at once, or later. */
  whenListening(callback: () => void): void {
    if (this.#change === undefined) callback()
    else void this.#change.then(callback)
  }

  /** Sends what is queued, and closes. */
  async close(): Promise<void> {
    if (this.#isOpen && !this.#isOver) {
      const { clock } = this.#parts
      await withTimeout(this.#sendRest(), CLOSE_TIMEOUT_MS, () => undefined, { clock })
    }
    await this.end()
  }

  /** Closes at once. Resolves when both sockets are closed. */
  async end(): Promise<void> {
    this.#isOver = true
    this.#ticker.stop()
    this.publisher?.end()
    await Promise.all(this.#connections.map((one) => one.end()))
  }

  async #open(): Promise<void> {
    const { clock } = this.#parts
    const publishing = await this.#connect()
    const { redis } = publishing
    this.server = await describeServer(redis)
    this.publisher = new Publisher(redis, clock, this.#events, () =>
      publishing.breakOff(outOfStep()),
    )
    await this.#connect()
    await this.#subscribe()
    if (this.#isOver) throw new Error("it was closed")
    this.#isOpen = true
    // The served operations may have changed meanwhile.
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
    // All at the same time, so that nothing is missed in between.
    const [inbox, news, patterns] = await Promise.allSettled([
      redis.subscribe(channels.inbox),
      redis.subscribe(channels.news),
      this.#follow(),
    ])
    if (patterns.status === "rejected") {
      throw isDenied(patterns.reason)
        ? requestsDenied(peer, this.#wanted, patterns.reason)
        : patterns.reason
    }
    const made = [
      ...(inbox.status === "fulfilled" ? [channels.inbox] : []),
      ...(news.status === "fulfilled" ? [channels.news] : []),
    ]
    this.#listening.confirm("subscribe", made)
    // A process that only serves does not need announcements.
    if (news.status === "rejected" && !isDenied(news.reason)) throw news.reason
    if (inbox.status === "fulfilled") return
    if (!isDenied(inbox.reason)) throw inbox.reason
    this.inboxDenied = inboxDenied(peer, channels.inbox, inbox.reason)
    if (this.#wanted.length === 0) throw this.inboxDenied
  }

  async #follow(): Promise<void> {
    for (;;) {
      const wanted = this.#wanted
      const missing = wanted.filter((one) => !this.#subscribed.has(one))
      const extra = [...this.#subscribed].filter((one) => !wanted.includes(one))
      if (missing.length + extra.length === 0) return
      for (const one of extra) this.#subscribed.delete(one)
      const { redis } = this.#listening
      // Without the permission to unsubscribe, further messages are ignored.
      if (extra.length > 0) await redis.punsubscribe(...extra).catch(() => undefined)
      if (missing.length > 0) await redis.psubscribe(...missing)
      this.#listening.confirm("psubscribe", missing)
      for (const one of missing) this.#subscribed.add(one)
    }
  }

  get #listening(): RedisConnection {
    return this.#connections[1] as RedisConnection
  }

  async #sendRest(): Promise<void> {
    await this.#change
    await this.publisher?.drained()
  }

  /** Finds the reason why the subscribed connection was closed: is the server still there? */
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
    // A pending command may fail with a better reason, or never.
    else
      void this.#connections
        .at(-1)
        ?.end()
        .then(() => this.#giveUp?.(cause))
  }

  #checkConnections(stalledFor: number): void {
    const now = this.#parts.clock.now()
    const allowance = (this.publisher?.room.used ?? 0) / PER_MILLISECOND
    for (const connection of this.#connections) {
      const silence = connection.check(now, allowance, stalledFor > 0)
      if (silence === undefined) continue
      return this.#lost(new Error(`it has not answered for ${Math.round(silence)} ms`))
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
 * Each connection is used once, and what it does not deliver is lost. Callers and workers handle that; a client that
 * repeats commands by itself would only do harm.
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
  // Publish/subscribe needs no database, prefix, script or mapping of replies.
  db: 0,
  keyPrefix: "",
  scripts: undefined,
  himportFieldsets: undefined,
  stringNumbers: false,
  replyMapping: "legacy",
  monitor: false,
  readOnly: false,
}
