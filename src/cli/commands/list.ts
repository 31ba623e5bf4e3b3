import { UsageError } from "../model.ts"
import type {
  CommandDefinition,
  CommandArgs,
  CommandIO,
  ListedOperation,
  OptionSpecs,
} from "../model.ts"
import { counted, note, oneLine, print, printJson, styled, table } from "../output.ts"
import { openTarget, printFailures } from "../target/index.ts"
import { plainText } from "../../internal/plain-text.ts"
import type { OperationType } from "../../core/types.ts"

const TYPES = ["query", "mutation", "subscription"] as const satisfies readonly OperationType[]

/** Filter options of all commands that list operations. */
export const filterOptions: OptionSpecs = {
  namespace: { type: "string", short: "n", value: "name", description: "Only this namespace" },
  type: {
    type: "string",
    short: "t",
    value: "type",
    description: "Only these: query, mutation or subscription",
    complete: TYPES,
  },
  limit: { type: "string", short: "l", value: "n", description: "Maximum number of operations" },
}

export const command: CommandDefinition = {
  usage: "[<beginning of an id>]",
  details: "Between programs the columns are parted by tabs: id, type, what it does.",
  examples: [
    ["list", "Everything there is"],
    ["list github --type mutation", "What changes something at GitHub"],
    ["list --openapi ./petstore.yaml", "What a document has, without a configuration"],
    ['list --mcp "npx -y @example/everything"', "The tools of an MCP server"],
  ],
  options: filterOptions,
  hasSources: true,
  arity: [0, 1],
  async run(args, io) {
    const query = readFilter(args)
    const [beginning] = args.positionals
    await using target = await openTarget(args, io)
    const isPart = beginning !== undefined
    const listed = await target.list(isPart ? { ...query, limit: undefined } : query)
    const matching = isPart
      ? listed.operations.filter(({ id }) => id === beginning || id.startsWith(`${beginning}.`))
      : listed.operations
    const operations = isPart ? matching.slice(0, query.limit) : matching
    const total = isPart ? matching.length : listed.total
    printFailures(io, target)
    if (args.flag("json")) printJson(io, { operations, total })
    else showOperations(io, operations, total)
    if (total === 0 && isPart)
      note(io, `No operation id is "${beginning}" or starts with "${beginning}.".`)
    return total === 0 && target.failures.length > 0 ? 1 : 0
  },
}

/** Reads and validates `filterOptions`. */
export function readFilter(args: CommandArgs): {
  namespace: string | undefined
  type: OperationType | undefined
  limit: number | undefined
} {
  const type = args.text("type")
  const operationType = TYPES.find((one) => one === type)
  if (type !== undefined && operationType === undefined) {
    throw new UsageError(`--type takes one of ${TYPES.join(", ")}; got "${type}".`)
  }
  return { namespace: args.text("namespace"), type: operationType, limit: args.count("limit") }
}

/** Prints a line for each operation and, on a terminal, their number. */
export function showOperations(
  io: CommandIO,
  operations: readonly ListedOperation[],
  total: number,
): void {
  if (operations.length > 0) print(io, linesOf(io, operations))
  const more = total - operations.length
  if (more > 0) note(io, `${more} more: give a larger --limit.`)
  else if (io.stdout.isTTY === true) note(io, counted(total, "operation"))
}

function linesOf(io: CommandIO, operations: readonly ListedOperation[]): string {
  const { stdout } = io
  if (stdout.isTTY !== true) {
    return operations.map((one) => [one.id, one.type, wordsOf(one)].join("\t")).join("\n")
  }
  const { bold, dim } = styled(io)
  const rows = operations.map((one) => [bold(one.id), dim(one.type), wordsOf(one)])
  return table(rows, stdout.columns ?? 80)
}

function wordsOf({ id, title, description, deprecated }: ListedOperation): string {
  // Titles of many MCP servers only repeat the name: "Get Sum Tool".
  const wordsOfId = new Set([...namedWords(id), "tool"])
  const isName = title === undefined || namedWords(title).every((word) => wordsOfId.has(word))
  const words = oneLine(plainText((isName && description) || title || ""))
  return deprecated === true ? `(deprecated) ${words}` : words
}

function namedWords(text: string): readonly string[] {
  const apart = text.replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase()
  return apart.split(/[^\p{L}\p{N}]/u).filter((word) => word !== "")
}
