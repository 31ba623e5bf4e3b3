/** A broker with the permissions of docs/guides/broker-permissions.md, and people on it, some of them with bad intentions. */
import { randomBytes } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { connect } from "@nats-io/transport-node"
import type { Msg, NatsConnection } from "@nats-io/transport-node"
import { Redis } from "ioredis"
import { natsUsers, redisUsers } from "../../../examples/permissions/rules.ts"
import type { BrokerUser } from "../../../examples/permissions/rules.ts"
import { TAG_LENGTH } from "../../../src/transport/nats/subjects.ts"
import type { BusOptions } from "../../../src/transport/bus/options.ts"
import type { BusTransport } from "../../../src/transport/bus/transport.ts"
import { createNatsTransport } from "../../../src/nats.ts"
import { createRedisTransport } from "../../../src/redis.ts"
import { startNats, startRedis } from "../../support/brokers.ts"
import type { Broker } from "../../support/brokers.ts"

/** Who is there. The observer belongs to the test: it sees everything, as the best informed attacker would. */
const PREFIX = "ops"
const USERS = [
  { name: "alice", calls: ["task.>"] },
  { name: "bob", calls: ["task.>", "shop.buy"] },
  { name: "mallory", calls: ["shop.buy"] },
  { name: "hub", calls: [">"] },
  { name: "w1", serves: ["task.>", "admin.>"] },
  { name: "w2", serves: ["shop.>"] },
]

const OBSERVER = "observer"

/** A message, as somebody on the broker gets it. */
export interface Received {
  readonly to: string
  readonly reply: string | undefined
  readonly text: string
}

/** What came of listening somewhere. */
export interface Listening {
  readonly isPermitted: boolean
  readonly received: readonly Received[]
}

/** A plain client of the broker, that says what it likes. */
export interface Raw extends AsyncDisposable {
  /** Says something; whether the broker lets it through. */
  publish(to: string, text: string, reply?: string): Promise<boolean>
  listen(to: string, options?: ListenOptions): Promise<Listening>
  /** Gives a command of the server, where there are any; resolves with what it says against it. */
  run?(words: readonly [string, ...string[]]): Promise<string | undefined>
}

export interface ListenOptions {
  /** The group of which one hears each message; where there are groups. */
  readonly group?: string | undefined
  readonly onReceived?: ((received: Received) => void) | undefined
}

/** How addresses are written on a broker. */
export interface Addresses {
  readonly news: string
  any(user: string, operationId: string): string
  all(user: string, operationId: string): string
  worker(user: string, address: string, operationId: string): string
  control(user: string, address: string): string
  ask(user: string): string
  /** Where answers to something go that was received. */
  replyTo(received: Received): string
  /** What a worker of this address listens to: for itself, for all, and for its group. */
  ofWorker(address: string, operationId: string): readonly (readonly [string, ListenOptions])[]
  /** What nobody but its owner, or a worker, has any business to hear. */
  foreign(user: string, address: string, worker: string): readonly string[]
}

export interface Lab extends AsyncDisposable {
  readonly broker: Broker
  readonly at: Addresses
  /** A transport with the credentials of one user; it may say that it is another. */
  transport(account: string, options?: BusOptions): BusTransport
  raw(account: string): Promise<Raw>
  /**
   * Writes down all that is said from now on. While somebody listens to everything, NATS takes nobody for
   * absent: use it where that does not matter.
   */
  observe(): Promise<AsyncDisposable & { readonly said: readonly Received[] }>
}

export async function natsLab(): Promise<Lab> {
  const passwords = passwordsOf()
  const observer = { user: OBSERVER, password: passwords.get(OBSERVER) }
  const users = [...natsUsers(PREFIX, usersWith(passwords)), observer]
  const config = `authorization { users: ${JSON.stringify(users)} }\n`
  const broker = await startNats({ config })
  const raw = (account: string): Promise<Raw> => natsRaw(broker.url, account, passwords)
  return {
    broker,
    at: NATS,
    raw,
    observe: () => observe(raw, ">"),
    transport: (account, options) =>
      createNatsTransport({
        prefix: PREFIX,
        user: account,
        ...options,
        servers: broker.url,
        connect: { user: account, pass: passwords.get(account) as string },
      }),
    [Symbol.asyncDispose]: () => broker[Symbol.asyncDispose](),
  }
}

export async function redisLab(): Promise<Lab> {
  const passwords = passwordsOf()
  const acl = redisUsers(PREFIX, usersWith(passwords)).join("\n")
  const observer = `user ${OBSERVER} on >${passwords.get(OBSERVER)} ~* &* +@all\n`
  // The same lines as in an aclfile, which a test would have to write first.
  const broker = await startRedis({ config: `${acl}\n${observer}` })
  const raw = (account: string): Promise<Raw> => redisRaw(broker.port, account, passwords)
  return {
    broker,
    at: REDIS,
    raw,
    observe: () => observe(raw, "*"),
    transport: (account, options) =>
      createRedisTransport({
        prefix: PREFIX,
        user: account,
        ...options,
        url: broker.url,
        connect: { username: account, password: passwords.get(account) as string },
      }),
    [Symbol.asyncDispose]: () => broker[Symbol.asyncDispose](),
  }
}

/** Waits for something to become true; a test that hangs is found by its own time. */
export async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await sleep(5)
}

/** The broker has dealt with all that was said before, and everybody with what it handed them. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await sleep(20)
}

const NATS: Addresses = {
  news: "ops.news",
  any: (user, operationId) => `ops.call.${user}.any.${operationId}`,
  all: (user, operationId) => `ops.call.${user}.all.${operationId}`,
  worker: (user, address, operationId) =>
    `ops.to.${user}.${address.slice(0, TAG_LENGTH)}.${address}.${operationId}`,
  control: (user, address) => `ops.ctl.${user}.${address.slice(0, TAG_LENGTH)}.${address}`,
  ask: (user) => `ops.ask.${user}`,
  replyTo: ({ reply = "" }) => reply,
  ofWorker: (address, operationId) => [
    [`ops.to.*.${address.slice(0, TAG_LENGTH)}.${address}.>`, {}],
    [`ops.ctl.*.${address.slice(0, TAG_LENGTH)}.${address}`, {}],
    ["ops.ask.*", {}],
    [`ops.call.*.any.${operationId}`, { group: "workers" }],
  ],
  foreign: (user, address, worker) => [
    ...[">", "*", "*.>", "ops.>", "ops.*", "ops.*.>", "ops.call.>", "ops.to.>", "ops.ctl.>"],
    ...["ops.call.*.>", "ops.call.*.any.>", "ops.call.*.any.task.*", "ops.call.*.any.task.whoami"],
    ...["ops.call.*.all.>", "ops.call.*.all.services.*", "ops.ask.>", "ops.ask.*", "ops.ctl.*.*.*"],
    ...["_INBOX.>", "*.*.*", `*.${address}.>`, `$SYS.>`, "$JS.API.>"],
    ...[`ops.call.${user}.>`, `ops.to.${user}.>`, `ops.ctl.${user}.>`, `ops.ask.${user}`],
    ...[
      `_INBOX_${user}.>`,
      `_INBOX_${user}.*`,
      `_INBOX_${user}.*.*`,
      `_INBOX_${user}.${address}.*`,
    ],
    ...[`_INBOX_${user}.${address}.w${worker}`, `_INBOX_${user}.${address}.r0`],
    ...[`ops.to.*.${worker.slice(0, TAG_LENGTH)}.>`, `ops.to.*.*.${worker}.>`],
    `ops.ctl.*.${worker.slice(0, TAG_LENGTH)}.${worker}`,
  ],
}

const REDIS: Addresses = {
  news: "ops:news",
  // There is no queue: a request to any goes to all that there is.
  any: (user, operationId) => `ops:call:${user}:all:${operationId}`,
  all: (user, operationId) => `ops:call:${user}:all:${operationId}`,
  worker: (user, address, operationId) => `ops:call:${user}:${address}:${operationId}`,
  control: (user, address) => `ops:ctl:${user}:${address}`,
  ask: (user) => `ops:ask:${user}`,
  replyTo({ to, text }) {
    const { from } = JSON.parse(text) as { readonly from: string }
    return `ops:inbox:${to.split(":")[2]}:${from}`
  },
  ofWorker: (address) => [
    [`ops:call:*:${address}:*`, {}],
    [`ops:ctl:*:${address}`, {}],
    ["ops:ask:*", {}],
  ],
  foreign: (user, address, worker) => [
    ...["*", "ops:*", "ops:call:*", "ops:ctl:*", "ops:ask:*", "ops:inbox:*", "ops:call:*:all:*"],
    ...[`ops:inbox:${user}:*`, `ops:inbox:${user}:${address}`, `ops:call:${user}:*`],
    ...[`ops:call:*:${worker}:*`, `ops:ctl:*:${worker}`, `ops:ctl:${user}:${worker}`],
    ...[`ops:ask:${user}`, "ops:news*", "ops:inbox:mallory:*", "[o]ps:*", "__key*__:*"],
    `ops:call:${user}:${worker}:task.whoami`,
  ],
}

async function observe(
  raw: Lab["raw"],
  everything: string,
): Promise<AsyncDisposable & { readonly said: readonly Received[] }> {
  const observer = await raw(OBSERVER)
  const { received } = await observer.listen(everything)
  return { said: received, [Symbol.asyncDispose]: () => observer[Symbol.asyncDispose]() }
}

function passwordsOf(): ReadonlyMap<string, string> {
  const names = [...USERS.map(({ name }) => name), OBSERVER]
  return new Map(names.map((name) => [name, randomBytes(12).toString("hex")]))
}

function usersWith(passwords: ReadonlyMap<string, string>): BrokerUser[] {
  return USERS.map((user) => ({ ...user, password: passwords.get(user.name) as string }))
}

async function natsRaw(
  servers: string,
  user: string,
  passwords: ReadonlyMap<string, string>,
): Promise<Raw> {
  const pass = passwords.get(user) as string
  const connection = await connect({ servers, user, pass, inboxPrefix: `_INBOX_${user}` })
  const denied = new Set<string>()
  const over = follow(connection, denied)
  return {
    async publish(to, text, reply) {
      denied.delete(to)
      connection.publish(to, text, reply === undefined ? {} : { reply })
      await connection.flush()
      await sleep(10)
      return !denied.has(to)
    },
    async listen(to, { group: queue, onReceived } = {}) {
      const received: Received[] = []
      let isPermitted = true
      const callback = (error: Error | null, message: Msg): void => {
        if (error !== null) {
          isPermitted = false
          return
        }
        const one = { to: message.subject, reply: message.reply, text: message.string() }
        received.push(one)
        onReceived?.(one)
      }
      connection.subscribe(to, { callback, ...(queue !== undefined && { queue }) })
      await connection.flush()
      await sleep(10)
      return { isPermitted, received }
    },
    async [Symbol.asyncDispose]() {
      await connection.close()
      await over
    },
  }
}

/** Writes down what a client is not permitted to say. */
async function follow(connection: NatsConnection, denied: Set<string>): Promise<void> {
  for await (const status of connection.status()) {
    if (status.type !== "error") continue
    const { operation, subject } = status.error as { operation?: unknown; subject?: unknown }
    if (operation === "publish") denied.add(String(subject))
  }
}

async function redisRaw(
  port: number,
  username: string,
  passwords: ReadonlyMap<string, string>,
): Promise<Raw> {
  const options = {
    ...{ port, host: "127.0.0.1", username, password: passwords.get(username) as string },
    ...{ enableReadyCheck: false, lazyConnect: true, maxRetriesPerRequest: 0 },
  }
  const speaking = new Redis(options)
  const hearing = new Redis(options)
  const listeners: { readonly pattern: string; readonly notify: (received: Received) => void }[] =
    []
  const notify = (pattern: string, to: string, text: string): void => {
    for (const one of listeners)
      if (one.pattern === pattern) one.notify({ to, reply: undefined, text })
  }
  hearing.on("message", (channel, text) => notify(channel, channel, text))
  hearing.on("pmessage", (pattern, channel, text) => notify(pattern, channel, text))
  await Promise.all([speaking.connect(), hearing.connect()])
  return {
    async publish(to, text) {
      return await speaking.publish(to, text).then(
        () => true,
        (error: Error) => refused(error),
      )
    },
    async run([command, ...words]) {
      return await speaking.call(command, ...words).then(
        () => undefined,
        (error: Error) => error.message,
      )
    },
    async listen(to, { onReceived } = {}) {
      const received: Received[] = []
      listeners.push({
        pattern: to,
        notify(one) {
          received.push(one)
          onReceived?.(one)
        },
      })
      const isPattern = to.includes("*")
      const isPermitted = await (isPattern ? hearing.psubscribe(to) : hearing.subscribe(to)).then(
        () => true,
        (error: Error) => refused(error),
      )
      return { isPermitted, received }
    },
    async [Symbol.asyncDispose]() {
      for (const client of [speaking, hearing]) client.disconnect()
      await Promise.resolve()
    },
  }
}

function refused(error: Error): false {
  if (error.message.startsWith("NOPERM")) return false
  throw error
}
