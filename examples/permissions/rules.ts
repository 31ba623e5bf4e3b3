import { workerTag } from "@alkdev/operations/nats"

/** A user of the broker. Operations are ids (`task.list`), all below a name (`task.>`) or all (`>`). */
export interface BrokerUser {
  /** Letters, digits, "-" and "_"; the `user` of its transports. */
  readonly name: string
  readonly password: string
  /** What it may call. A hub that calls for others is a user that calls everything. */
  readonly calls?: readonly string[]
  /** What its workers serve. */
  readonly serves?: readonly string[]
}

/** The users of a NATS server, for `authorization` in its configuration. */
export function natsUsers(prefix: string, users: readonly BrokerUser[]): object[] {
  const workers = users.filter(({ serves }) => serves !== undefined)
  return users.map(({ name, password, calls, serves }) => {
    const tag = workerTag(name)
    const calling = calls && {
      publish: [
        ...calls.map((operations) => `${prefix}.call.${name}.any.${operations}`),
        // To single workers: only about operations that they serve.
        ...workers.flatMap((worker) =>
          commonOf(calls, worker.serves ?? []).map(
            (operations) => `${prefix}.to.${name}.${workerTag(worker.name)}.*.${operations}`,
          ),
        ),
        `${prefix}.call.${name}.all.services.*`,
        `${prefix}.ctl.${name}.*.*`,
        `${prefix}.ask.${name}`,
      ],
      subscribe: [`_INBOX_${name}.>`, `${prefix}.news`],
    }
    const serving = serves && {
      publish: [`${prefix}.news`],
      subscribe: [
        ...serves.map((operations) => `${prefix}.call.*.any.${operations} workers`),
        `${prefix}.call.*.all.services.*`,
        `${prefix}.to.*.${tag}.*.>`,
        `${prefix}.ctl.*.${tag}.*`,
        `${prefix}.ask.*`,
      ],
      // It may answer those who ask; a caller that waits asks again at least every 30 seconds.
      answers: { allow_responses: { max: -1, expires: "1m" } },
    }
    const publish = { allow: [...(calling?.publish ?? []), ...(serving?.publish ?? [])] }
    const subscribe = { allow: [...(calling?.subscribe ?? []), ...(serving?.subscribe ?? [])] }
    return { user: name, password, permissions: { publish, subscribe, ...serving?.answers } }
  })
}

/** The lines of an `aclfile` for Redis 7 or later. */
export function redisUsers(prefix: string, users: readonly BrokerUser[]): string[] {
  const everybody = "-@all +ping +client|setname +pubsub|numsub +unsubscribe +punsubscribe"
  const lines = users.map(({ name, password, calls, serves }) => {
    const called = calls?.map((operations) => operations.replace(/>$/, "*")) ?? []
    const channels = called.map((operations) => `&${prefix}:call:${name}:*:${operations}`).join(" ")
    const always = `&${prefix}:call:${name}:all:services.* &${prefix}:ctl:${name}:* &${prefix}:ask:${name}`
    return [
      `user ${name} on >${password} resetkeys resetchannels ${everybody}`,
      // In brackets: channels with the one command that they are for.
      ...(calls === undefined
        ? []
        : [
            `(-@all +publish ${channels} ${always})`,
            `(-@all +subscribe &${prefix}:inbox:${name}:* &${prefix}:news)`,
          ]),
      // Redis permits patterns by their exact text only, and a worker's are new at every start.
      ...(serves === undefined
        ? []
        : [
            "(-@all +psubscribe allchannels)",
            `(-@all +publish &${prefix}:inbox:* &${prefix}:news)`,
          ]),
    ].join(" ")
  })
  // The user of connections without credentials.
  return ["user default off resetpass resetkeys resetchannels -@all", ...lines]
}

/** What two lists of operations have in common: of two that overlap, the narrower one. */
function commonOf(calls: readonly string[], serves: readonly string[]): string[] {
  return calls.flatMap((called) =>
    serves.flatMap((served) => {
      if (covers(called, served)) return [served]
      return covers(served, called) ? [called] : []
    }),
  )
}

function covers(wide: string, narrow: string): boolean {
  return wide === narrow || (wide.endsWith(">") && narrow.startsWith(wide.slice(0, -1)))
}
