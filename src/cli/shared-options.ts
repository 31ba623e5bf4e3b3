import type { OptionSpec, OptionSpecs } from "./model.ts"

/** Options of every command. */
export const commonOptions: OptionSpecs = {
  json: { type: "boolean", description: "Print one JSON value" },
  quiet: { type: "boolean", short: "q", description: "Print only results and errors" },
  verbose: { type: "boolean", short: "v", description: "Print details of what happens" },
  help: { type: "boolean", short: "h", description: "Show this help" },
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
  openapi: {
    type: "string",
    multiple: true,
    value: "file|url",
    description: "Operations of an OpenAPI document, without a configuration",
    complete: "file",
  },
  "base-url": {
    type: "string",
    value: "url",
    description: "Where requests of --openapi go; default: what the document says",
  },
  header: {
    type: "string",
    multiple: true,
    value: '"name: value"',
    description: "Sent with requests of --openapi, --mcp and --remote; may say ${env:NAME}",
  },
  mcp: {
    type: "string",
    multiple: true,
    value: '"command"|url',
    description: "Tools of an MCP server, without a configuration",
  },
  scan: {
    type: "string",
    multiple: true,
    value: "folder",
    description: "Operations of a folder of modules, without a configuration",
    complete: "directory",
  },
  remote: {
    type: "string",
    multiple: true,
    value: "url",
    description: "Operations of another hub, or of workers behind nats:// or redis://",
  },
  source: {
    type: "string",
    multiple: true,
    value: "name",
    description: "Only this source of the configuration",
  },
  timeout: { type: "string", value: "ms", description: "Milliseconds that a call may take" },
}

/** The option for the file that a command writes. */
export function outputOption(description: string): OptionSpec {
  return { type: "string", short: "o", value: "file", description, complete: "file" }
}
