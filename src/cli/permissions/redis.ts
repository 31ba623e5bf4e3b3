import { UsageError } from "../model.ts"
import type { Account, OperationPattern, Plan } from "./plan.ts"

/** What one user of a Redis server may do. */
export interface RedisRules {
  readonly user: string
  /** What stands for the SHA-256 of its password, 64 hexadecimal digits. */
  readonly variable: string
  /** What `ACL SETUSER <user>` takes, but for the password. */
  readonly rules: readonly string[]
}

// Asking how it is, and naming the connection.
const EVERYBODY = "+ping +client|setname +pubsub|numsub +unsubscribe +punsubscribe"

/** What a plan means on a Redis server, 7.0 or later. Throws a `UsageError` for a name with a meaning there. */
export function redisRules({ prefix, accounts }: Plan): readonly RedisRules[] {
  if (accounts.some(({ name }) => name === "default")) {
    throw new UsageError('On Redis "default" is whoever does not say who it is. Give another name.')
  }
  return accounts.map(({ name, calls, serves, variable }) => ({
    user: name,
    variable: hashVariable(variable),
    rules: [
      "on",
      "resetkeys",
      "resetchannels",
      "-@all",
      ...EVERYBODY.split(" "),
      ...(calls === undefined ? [] : callerRules(prefix, name, calls)),
      ...(serves === undefined ? [] : workerRules(prefix)),
    ],
  }))
}

/** The same as lines for the server's `aclfile`, which has no comments. */
export function redisText(plan: Plan): string {
  const lines = redisRules(plan).map(({ user, variable, rules }) =>
    [`user ${user}`, `#$${variable}`, ...rules].join(" "),
  )
  // The user whom everybody is who says nothing.
  return `${["user default off resetpass resetkeys resetchannels -@all", ...lines].join("\n")}\n`
}

/** Whether a file holds nothing that somebody else put into it, such as the hashes of passwords. */
export function isOwnRedisText(text: string): boolean {
  return text
    .split(/\r?\n/)
    .every(
      (line) =>
        line === "" || line.startsWith("user default off ") || /^user \S+ #\$\w+ on /.test(line),
    )
}

// Rights to a channel are rights to both directions of it. A selector, in brackets, ties them to a command.

function callerRules(
  prefix: string,
  name: string,
  calls: readonly OperationPattern[],
): readonly string[] {
  const channels = new Set(calls.map((pattern) => `&${prefix}:call:${name}:*:${globOf(pattern)}`))
  return [
    `(-@all +publish ${[...channels].join(" ")} &${prefix}:call:${name}:all:services.* &${prefix}:ctl:${name}:* &${prefix}:ask:${name})`,
    `(-@all +subscribe &${prefix}:inbox:${name}:* &${prefix}:news)`,
  ]
}

/**
 * A pattern can be listened to only where it is permitted letter by letter, and a worker's has its address, new
 * with every start: so workers hear everything. They speak to callers only.
 */
function workerRules(prefix: string): readonly string[] {
  return ["(-@all +psubscribe allchannels)", `(-@all +publish &${prefix}:inbox:* &${prefix}:news)`]
}

function globOf(pattern: OperationPattern): string {
  switch (pattern.kind) {
    case "one":
      return pattern.id
    case "below":
      return `${pattern.name}.*`
    case "all":
      return "*"
  }
}

function hashVariable(variable: Account["variable"]): string {
  return `${variable}_SHA256`
}
