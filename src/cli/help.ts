import { COMMANDS } from "./commands/index.ts"
import type { Command, CommandIO, OptionSpecs, TextSink } from "./model.ts"
import { styled, textTable } from "./output.ts"
import { commonOptions, sourceOptions } from "./shared-options.ts"
import { unbroken, wrapFor } from "./wrap.ts"

/** The text of `operations --help`. */
export function generalHelp(io: CommandIO): string {
  const sink = sinkOf(io)
  const { bold } = styled(io)
  const { program } = io
  const text = [
    "One command over every API, MCP server and TypeScript function you have.",
    "",
    `${bold("Usage:")} ${program} <command> [options]`,
    "",
    bold("Commands:"),
    indented(
      Object.entries(COMMANDS).map(([name, { summary }]) => [name, summary]),
      sink,
    ),
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
    indented(
      [
        ["-h, --help", "Show help; of a command, after its name"],
        ["-V, --version", "Show the version"],
      ],
      sink,
    ),
    "",
    `More of a command: ${program} <command> --help`,
  ].join("\n")
  return wrapFor(sink, text)
}

/** The text of `operations <command> --help`. */
export function commandHelp(command: Command, io: CommandIO): string {
  const sink = sinkOf(io)
  const { bold } = styled(io)
  const { program } = io
  const parts = [
    `${command.summary}.`,
    ...(command.details === undefined ? [] : ["", joined(command.details)]),
    "",
    `${bold("Usage:")} ${[program, command.name, command.usage, "[options]"].filter((part) => part !== "").join(" ")}`,
  ]
  const section = (title: string, lines: string): void => {
    if (lines !== "") parts.push("", bold(title), lines)
  }
  section("Examples:", examples(program, command.examples).join("\n"))
  section("Options:", optionLines({ ...command.options, ...commonOptions }, sink))
  if (command.hasSources) {
    section("Where operations come from:", optionLines(withoutOwn(command), sink))
  }
  return wrapFor(sink, parts.join("\n"))
}

/** The lines of each paragraph as one, for another width; indented lines stay. */
function joined(text: string): string {
  return text.trim().replaceAll(/\n(?=\S)/g, " ")
}

/** Shared options that a command does not redefine. */
function withoutOwn({ options }: Command): OptionSpecs {
  return Object.fromEntries(
    Object.entries(sourceOptions).filter(([name]) => !Object.hasOwn(options, name)),
  )
}

function examples(program: string, lines: Command["examples"]): string[] {
  return lines.flatMap(([line, what]) => [`  # ${what}`, `  ${unbroken(`${program} ${line}`)}`])
}

function optionLines(options: OptionSpecs, sink: TextSink): string {
  return indented(
    Object.entries(options).map(([name, { short, type, value = "value", description }]) => {
      const dash = short === undefined ? "    " : `-${short}, `
      return [`${dash}--${name}${type === "string" ? ` <${value}>` : ""}`, description]
    }),
    sink,
  )
}

function indented(rows: readonly (readonly string[])[], sink: TextSink): string {
  return textTable(
    rows.map(([first = "", ...rest]) => [`  ${first}`, ...rest]),
    sink,
  )
}

// Longer lines are hard to read, even on a wide terminal.
const WIDEST = 100

/** The sink of help, which is always wrapped. */
function sinkOf({ stdout }: CommandIO): TextSink {
  return { ...stdout, isTTY: true, columns: Math.min(stdout.columns ?? WIDEST, WIDEST) }
}
