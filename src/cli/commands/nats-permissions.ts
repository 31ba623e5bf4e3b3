import { relative, resolve } from "node:path"
import { UsageError } from "../model.ts"
import type { CommandDefinition, CommandArgs, CommandIO } from "../model.ts"
import { counted, note, printJson, escapeForTerminal } from "../output.ts"
import { NATS_HEADER, natsRules, natsText } from "../permissions/nats.ts"
import { readPlan } from "../permissions/plan.ts"
import type { Plan } from "../permissions/plan.ts"
import { isOwnRedisText, redisRules, redisText } from "../permissions/redis.ts"
import { outputOption } from "../shared-options.ts"
import { readOwnFile, writeWhole } from "../own-file.ts"

export const command: CommandDefinition = {
  usage: "",
  details: [
    "Users call, workers serve, and hubs call for others. Operations are ids (task.list), all below a",
    'name (task.*) or all ("*"), with commas between them. A name that is given twice may do both.',
    "The text goes to standard output, or into a file with -o; passwords are left open in it, as",
    "variables.",
  ].join(" "),
  examples: [
    ["nats-permissions --user alice=task.list --worker 'w1=task.*'", "One who calls, and a worker"],
    ["nats-permissions --hub hub --worker 'w1=*' -o nats-users.conf", "A hub, into a file"],
    ["nats-permissions --user 'alice=task.*' --worker 'w1=*' --redis -o users.acl", "For Redis"],
  ],
  options: {
    user: {
      type: "string",
      multiple: true,
      value: "name=operations",
      description: "A user of the broker, and what it may call",
    },
    worker: {
      type: "string",
      multiple: true,
      value: "name=operations",
      description: "A user that workers connect as, and what they serve",
    },
    hub: {
      type: "string",
      multiple: true,
      value: "name[=operations]",
      description: "A user that calls for others, with tickets; all operations if none are named",
    },
    prefix: {
      type: "string",
      value: "name",
      description: "What all addresses begin with; default: operations",
    },
    redis: { type: "boolean", description: "For a Redis server, as lines of its aclfile" },
    output: outputOption("Where the text goes"),
  },
  hasSources: false,
  arity: [0, 0],
  run,
}

async function run(args: CommandArgs, io: CommandIO): Promise<number> {
  const output = args.text("output")
  if (output === "") throw new UsageError("-o takes a file.")
  const plan = readPlan({
    prefix: args.text("prefix") ?? "operations",
    users: args.texts("user"),
    workers: args.texts("worker"),
    hubs: args.texts("hub"),
  })
  const isRedis = args.flag("redis")
  const text = isRedis ? redisText(plan) : natsText(plan)
  const file = output === undefined ? undefined : await save(output, text, isRedis, io)
  if (args.flag("json")) {
    const users = isRedis ? redisRules(plan) : natsRules(plan)
    printJson(io, { engine: isRedis ? "redis" : "nats", prefix: plan.prefix, users, file, text })
    return 0
  }
  if (file === undefined) io.stdout.write(text)
  else note(io, `Wrote ${file}: ${counted(plan.accounts.length, "user")}.`)
  for (const line of isRedis ? redisNotes(plan) : []) note(io, line)
  return 0
}

async function save(
  output: string,
  text: string,
  isRedis: boolean,
  io: CommandIO,
): Promise<string> {
  const path = resolve(io.cwd, output)
  const file = escapeForTerminal(relative(io.cwd, path) || output)
  const isOwn = (old: string): boolean =>
    isRedis ? isOwnRedisText(old) : old.startsWith(NATS_HEADER)
  await readOwnFile(path, file, isOwn)
  await writeWhole(path, file, text)
  return file
}

/** Notes about a file that cannot have comments. */
function redisNotes({ accounts }: Plan): readonly string[] {
  const [first] = redisRules({ prefix: "", accounts })
  return [
    `Put the SHA-256 of each password in the place of its variable, such as $${first?.variable}: printf %s "$password" | sha256sum`,
    "The user called default is off: add one for the administrator of the server.",
    ...(accounts.some(({ serves }) => serves !== undefined)
      ? ["On Redis, workers hear the calls of all others; on NATS only those that they serve."]
      : []),
  ]
}
