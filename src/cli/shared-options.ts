import type { SourceKind } from "../config/kinds/index.ts"
import type { OptionSpec, OptionSpecs } from "./model.ts"
import { COMMAND_SOURCES } from "./sources/index.ts"

/** The options that define sources: one for each kind. */
export const SOURCE_NAMES = Object.keys(COMMAND_SOURCES) as readonly SourceKind[]

function optionsOf(kind: SourceKind): OptionSpecs {
  const { option, ownOptions } = COMMAND_SOURCES[kind]
  return { [kind]: { ...option, type: "string", multiple: true }, ...ownOptions }
}

/** Options of every command. */
export const commonOptions: OptionSpecs = {
  json: { type: "boolean", description: "Print one JSON value" },
  quiet: { type: "boolean", short: "q", description: "Print only results and errors" },
  verbose: { type: "boolean", short: "v", description: "Print details of what happens" },
  help: { type: "boolean", short: "h", description: "Show this help" },
}

/** Options that say which hub. */
export const hubOptions: OptionSpecs = {
  hub: {
    type: "string",
    value: "url",
    description: "A running hub, instead of a configuration; also OPERATIONS_HUB",
  },
  token: {
    type: "string",
    value: "token",
    description: "A token or API key for that hub; better in OPERATIONS_TOKEN",
  },
  insecure: {
    type: "boolean",
    description: "Send the token, or headers of --remote, to another machine over plain http",
  },
}

/** Options that select the sources of operations. */
export const sourceOptions: OptionSpecs = {
  config: {
    type: "string",
    short: "c",
    value: "file",
    description: "The configuration; default: operations.config.* here or above",
    complete: "file",
  },
  trust: {
    type: "boolean",
    description:
      "Open the configuration that is found here or above, this once; also OPERATIONS_TRUST=1",
  },
  ...hubOptions,
  ...Object.assign({}, ...SOURCE_NAMES.map(optionsOf)),
  header: {
    type: "string",
    multiple: true,
    value: '"name: value"',
    description: "Sent with requests of --openapi, --mcp and --remote; may say ${env:NAME}",
  },
  source: {
    type: "string",
    multiple: true,
    value: "name",
    description: "Only this source of the configuration",
  },
  timeout: { type: "string", value: "ms", description: "Milliseconds that a call may take" },
  "connect-timeout": {
    type: "string",
    value: "ms",
    description:
      "Milliseconds that an MCP server may take to start; default: 30,000, or 120,000 for npx",
  },
}

/** The option that answers for a person. */
export const yesOption: OptionSpec = {
  type: "boolean",
  short: "y",
  description: "Approve the call if a rule asks a person first",
}

/** The option for the file that a command writes. */
export function outputOption(description: string): OptionSpec {
  return { type: "string", short: "o", value: "file", description, complete: "file" }
}
