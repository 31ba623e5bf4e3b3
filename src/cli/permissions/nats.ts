import { tagOf } from "../../internal/user-tag.ts"
import { commonPart, patternText } from "./plan.ts"
import type { Account, OperationPattern, Plan } from "./plan.ts"

/** What one user of a NATS server may do. */
export interface NatsRules {
  readonly user: string
  /** The variable that holds its password. */
  readonly variable: string
  readonly publish: readonly string[]
  readonly subscribe: readonly string[]
  /** It may also publish where those whom it heard want their answers. */
  readonly answers: boolean
}

/** How the file begins that is written. */
export const NATS_HEADER = "# Written by `operations nats-permissions`"

/**
 * A caller is heard again at the latest half a second after its last message while it waits for an answer, and
 * given up after 30 seconds: no answer goes to where it wanted one longer ago.
 */
const ANSWERS_EXPIRE = "1m"

/** What a plan means on a NATS server. */
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

/** The same as text for the server's configuration. */
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

/** Calls go out under the caller's own name only, and answers come where nobody else listens. */
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
 * The tag of a worker, its address, the operation: for what that worker serves.
 *
 * Whoever serves something else, and says that it serves this, is then sent nothing.
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
 * Requests come to the group of workers, for what this one serves; what is for one worker alone to those of the
 * same user. Other workers' addresses are not heard: they are what answers are believed by.
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
