import { UsageError } from "../model.ts"
import { patternText } from "./plan.ts"
import type { OperationPattern, Plan } from "./plan.ts"

/** Permissions of a Redis user. */
export interface RedisRules {
  readonly user: string
  /** Placeholder of the SHA-256 of its password, 64 hexadecimal digits. */
  readonly variable: string
  /** Arguments of `ACL SETUSER <user>`, without the password. */
  readonly rules: readonly string[]
}

// Health checks, and naming the connection.
const EVERYBODY = "+ping +client|setname +pubsub|numsub +unsubscribe +punsubscribe"

/** Converts a plan to permissions of Redis 7.0 or later. Throws a `UsageError` for a name with a meaning there. */
export function redisRules({ prefix, accounts }: Plan): readonly RedisRules[] {
  if (accounts.some(({ name }) => name === "default")) {
    throw new UsageError(
      'On Redis "default" is the user of connections without credentials. Give another name.',
    )
  }
  return accounts.map(({ name, calls, serves, variable }) => ({
    user: name,
    variable: `${variable}_SHA256`,
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

/** Converts a plan to lines of the server's `aclfile`, which has no comments. */
export function redisText(plan: Plan): string {
  const lines = redisRules(plan).map(({ user, variable, rules }) =>
    [`user ${user}`, `#$${variable}`, ...rules].join(" "),
  )
  // The user of connections without credentials.
  return `${["user default off resetpass resetkeys resetchannels -@all", ...lines].join("\n")}\n`
}

/** Whether a file has only generated lines, without edits such as hashes of passwords. */
export function isOwnRedisText(text: string): boolean {
  return text
    .split(/\r?\n/)
    .every(
      (line) =>
        line === "" || line.startsWith("user default off ") || /^user \S+ #\$\w+ on /.test(line),
    )
}

// Channel permissions cover both directions. A selector, in brackets, restricts them to a command.

function callerRules(
  prefix: string,
  name: string,
  calls: readonly OperationPattern[],
): readonly string[] {
  const channels = new Set(
    calls.map((pattern) => `&${prefix}:call:${name}:*:${patternText(pattern)}`),
  )
  return [
    `(-@all +publish ${[...channels].join(" ")} &${prefix}:call:${name}:all:services.* &${prefix}:ctl:${name}:* &${prefix}:ask:${name})`,
    `(-@all +subscribe &${prefix}:inbox:${name}:* &${prefix}:news)`,
  ]
}

/**
 * Redis permits pattern subscriptions only by exact text, and a worker's pattern has its address, which is new
 * at every start: so workers may receive everything. They may publish to callers only.
 */
function workerRules(prefix: string): readonly string[] {
  return ["(-@all +psubscribe allchannels)", `(-@all +publish &${prefix}:inbox:* &${prefix}:news)`]
}
