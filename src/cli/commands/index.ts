import type { CommandDefinition } from "../model.ts"

/** A command whose module is loaded on use, so that help stays fast. */
export interface CommandEntry {
  readonly summary: string
  load(): Promise<CommandDefinition>
}

/** Every command, in the order of the help. */
export const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  init: entry("Write a configuration to start from", () => import("./init.ts")),
  list: entry("List operations", () => import("./list.ts")),
  search: entry("Find operations by what they do", () => import("./search.ts")),
  describe: entry("Show what an operation takes and gives", () => import("./describe.ts")),
  call: entry("Call an operation", () => import("./call.ts")),
  watch: entry("Print the items of a subscription as they come", () => import("./watch.ts")),
  resources: entry("List resources of MCP servers, and your own", () => import("./resources.ts")),
  read: entry("Read a resource", () => import("./read.ts")),
  prompts: entry("List prompts", () => import("./prompts.ts")),
  prompt: entry("Fill in a prompt", () => import("./prompt.ts")),
  serve: entry("Serve every source over HTTP, MCP and WebSocket", () => import("./serve.ts")),
  import: entry("Add a source to the configuration", () => import("./import.ts")),
  types: entry("Write TypeScript types for every operation", () => import("./types.ts")),
  skill: entry("Write a skill that teaches an agent to use a source", () => import("./skill.ts")),
  doctor: entry("Check configuration, credentials and sources", () => import("./doctor.ts")),
  calls: entry(
    "Follow the calls of a hub, or show what happened in one",
    () => import("./calls.ts"),
  ),
  approvals: entry("Test rules, and approve calls that wait", () => import("./approvals.ts")),
  audit: entry("Show who called what, and check the log", () => import("./audit.ts")),
  trust: entry("Trust the configuration of a folder", () => import("./trust.ts")),
  "hash-key": entry(
    "Print the hash of an API key, for a configuration",
    () => import("./hash-key.ts"),
  ),
  completion: entry(
    "Print a completion script for bash, zsh or fish",
    () => import("./completion.ts"),
  ),
}

function entry(
  summary: string,
  load: () => Promise<{ readonly command: CommandDefinition }>,
): CommandEntry {
  return { summary, load: async () => (await load()).command }
}
