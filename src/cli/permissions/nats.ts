import { tagOf } from "../../internal/user-tag.ts"
import { commonPart, patternText } from "./plan.ts"
import type { Account, OperationPattern, Plan } from "./plan.ts"

/** Permissions of a NATS user. */
export interface NatsRules {
  readonly user: string
  /** Environment variable of its password. */
  readonly variable: string
  readonly publish: readonly string[]
  readonly subscribe: readonly string[]
  /** It may publish to the reply subjects of messages that it received. */
  readonly answers: boolean
}

/** First line of the generated file. */
export const NATS_HEADER = "# Written by `operations nats-permissions`"

/**
 * A waiting caller sends another message at least every half second, and is
 * given up after 30 seconds: no answer is sent to an older reply subject.
 */
const ANSWERS_EXPIRE = "1m"

/** Converts a plan to NATS permissions. */
export function natsRules({ prefix, accounts }: Plan): readonly NatsRules[] {
  const workers = accounts.filter(({ serves }) => serves !== undefined)
  return accounts.map(({ name, calls, serves, variable }) => {
    const calling = calls === undefined ? undefined : callerRules(prefix, name, calls, workers)
    const serving = serves === undefined ? undefined : workerRules(prefix, name, serves)
    return {
      user: name,
      variable,
      publish: unique([...(calling?.publish ?? []), ...(serving?.publish ?? [])]),
      subscribe: unique([...(calling?.subscribe ?? []), ...(serving?.subscribe ?? [])]),
      answers: serving !== undefined,
    }
  })
}

/** Converts a plan to text for the configuration of a NATS server. */
export function natsText(plan: Plan): string {
  const rules = natsRules(plan)
  const [first] = rules
  return [
    `${NATS_HEADER}: who may call and serve what under "${plan.prefix}".`,
    '# nats-server reads it where its configuration says: include "<this file>"',
    "#",
    "# Passwords come from the environment of nats-server, each in double quotes, plain or encrypted by",
    `# \`nats server passwd\`: ${first?.variable}='"…"'. Set them all: an empty one lets everybody in.`,
    "",
    "authorization {",
    "  users: [",
    ...rules.flatMap((one, at) => userLines(one, plan.accounts[at] as Account)),
    "  ]",
    "}",
    "",
  ].join("\n")
}

interface Directions {
  readonly publish: readonly string[]
  readonly subscribe: readonly string[]
}

/** Permissions of a caller: it calls under its own name only, and gets answers on its private subjects. */
function callerRules(
  prefix: string,
  name: string,
  calls: readonly OperationPattern[],
  workers: readonly Account[],
): Directions {
  return {
    publish: [
      ...calls.map((pattern) => `${prefix}.call.${name}.any.${subjectOf(pattern)}`),
      ...calls.flatMap((pattern) =>
        privateSubjects(pattern, workers).map((subject) => `${prefix}.to.${name}.${subject}`),
      ),
      `${prefix}.call.${name}.all.services.*`,
      `${prefix}.ctl.${name}.*.*`,
      `${prefix}.ask.${name}`,
    ],
    subscribe: [`_INBOX_${name}.>`, `${prefix}.news`],
  }
}

/**
 * Private subjects of workers: tag, address and operation.
 *
 * A worker that claims to serve other operations than its own receives nothing.
 */
function privateSubjects(
  pattern: OperationPattern,
  workers: readonly Account[],
): readonly string[] {
  if (workers.length === 0) return [`*.*.${subjectOf(pattern)}`]
  return workers.flatMap(({ name, serves = [] }) =>
    serves.flatMap((served) => {
      const common = commonPart(pattern, served)
      return common === undefined ? [] : [`${tagOf(name)}.*.${subjectOf(common)}`]
    }),
  )
}

/**
 * Permissions of a worker: it receives requests to the group for what it serves, and messages to single workers of the
 * same user. It cannot listen to addresses of other workers, which authenticate answers.
 */
function workerRules(
  prefix: string,
  name: string,
  serves: readonly OperationPattern[],
): Directions {
  const tag = tagOf(name)
  return {
    publish: [`${prefix}.news`],
    subscribe: [
      ...serves.map((pattern) => `${prefix}.call.*.any.${subjectOf(pattern)} workers`),
      `${prefix}.call.*.all.services.*`,
      `${prefix}.to.*.${tag}.*.>`,
      `${prefix}.ctl.*.${tag}.*`,
      `${prefix}.ask.*`,
    ],
  }
}

function subjectOf(pattern: OperationPattern): string {
  switch (pattern.kind) {
    case "one":
      return pattern.id
    case "below":
      return `${pattern.name}.>`
    case "all":
      return ">"
  }
}

function userLines({ user, variable, publish, subscribe, answers }: NatsRules, account: Account) {
  return [
    ...whatFor(account).map((line) => `    # ${line}`),
    "    {",
    `      user: "${user}"`,
    `      password: $${variable}`,
    "      permissions: {",
    ...listLines("publish", publish),
    ...listLines("subscribe", subscribe),
    ...(answers ? [`        allow_responses: { max: -1, expires: "${ANSWERS_EXPIRE}" }`] : []),
    "      }",
    "    }",
  ]
}

function whatFor({ name, calls, serves, isHub }: Account): readonly string[] {
  const list = (patterns: readonly OperationPattern[]): string =>
    unique(patterns.map(patternText)).join(", ")
  return [
    ...(calls === undefined
      ? []
      : [`${name} calls ${list(calls)}${isHub ? ", for others, with a ticket for each" : ""}`]),
    ...(serves === undefined
      ? []
      : [`${name} serves ${list(serves)}; its workers' addresses begin with ${tagOf(name)}`]),
  ]
}

function listLines(name: string, subjects: readonly string[]): readonly string[] {
  return [
    `        ${name}: {`,
    "          allow: [",
    ...subjects.map((subject) => `            "${subject}",`),
    "          ]",
    "        }",
  ]
}

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)]
}
