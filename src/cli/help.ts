import { COMMANDS } from "./commands/index.ts"
import type { Command, CommandIO, OptionSpecs } from "./model.ts"
import { styled, table } from "./output.ts"
import { commonOptions, sourceOptions } from "./sources-options.ts"

/** What `operations --help` shows. */
export function generalHelp(io: CommandIO): string {
  const { bold } = styled(io)
  const { program } = io
  return [
    "One command over every API, MCP server and TypeScript function you have.",
    "",
    `${bold("Usage:")} ${program} <command> [options]`,
    "",
    bold("Commands:"),
    indented(Object.entries(COMMANDS).map(([name, { summary }]) => [name, summary])),
    "",
    bold("Examples:"),
    ...examples(program, [
      ["init", "Write operations.config.ts"],
      ["list", "What there is to call"],
      ["call task.create title=Milk", "Call an operation"],
      ["list --openapi ./petstore.yaml", "Without a configuration"],
    ]),
    "",
    bold("Options:"),
    indented([
      ["-h, --help", "Show help; of a command, after its name"],
      ["-V, --version", "Show the version"],
    ]),
    "",
    `More of a command: ${program} <command> --help`,
  ].join("\n")
}

/** What `operations <command> --help` shows. */
export function commandHelp(command: Command, io: CommandIO): string {
  const { bold } = styled(io)
  const { program } = io
  const parts = [
    `${command.summary}.`,
    ...(command.details === undefined ? [] : ["", command.details.trim()]),
    "",
    `${bold("Usage:")} ${[program, command.name, command.usage, "[options]"].filter((part) => part !== "").join(" ")}`,
  ]
  const section = (title: string, lines: string): void => {
    if (lines !== "") parts.push("", bold(title), lines)
  }
  section("Examples:", examples(program, command.examples).join("\n"))
  section("Options:", optionLines({ ...command.options, ...commonOptions }))
  if (command.hasSources) section("Where operations come from:", optionLines(withoutOwn(command)))
  return parts.join("\n")
}

/** A command may say of a shared option what it means there. */
function withoutOwn({ options }: Command): OptionSpecs {
  return Object.fromEntries(
    Object.entries(sourceOptions).filter(([name]) => !Object.hasOwn(options, name)),
  )
}

function examples(program: string, lines: Command["examples"]): string[] {
  return lines.flatMap(([line, what]) => [`  # ${what}`, `  ${program} ${line}`])
}

function optionLines(options: OptionSpecs): string {
  return indented(
    Object.entries(options).map(([name, { short, type, value = "value", description }]) => {
      const dash = short === undefined ? "    " : `-${short}, `
      return [`${dash}--${name}${type === "string" ? ` <${value}>` : ""}`, description]
    }),
  )
}

function indented(rows: readonly (readonly string[])[]): string {
  return table(rows)
    .split("\n")
    .map((line) => `  ${line}`)
    .join("\n")
}
