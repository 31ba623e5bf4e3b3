import type { Command } from "../model.ts"

/** A command whose module is loaded on use, so that help stays fast. */
export interface CommandEntry {
  readonly summary: string
  load(): Promise<Command>
}

/** Every command, in the order of the help. */
export const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  init: {
    summary: "Write a configuration to start from",
    load: async () => (await import("./init.ts")).command,
  },
  list: {
    summary: "List operations",
    load: async () => (await import("./list.ts")).command,
  },
  search: {
    summary: "Find operations by what they do",
    load: async () => (await import("./search.ts")).command,
  },
  describe: {
    summary: "Show what an operation takes and gives",
    load: async () => (await import("./describe.ts")).command,
  },
  call: {
    summary: "Call an operation",
    load: async () => (await import("./call.ts")).command,
  },
  watch: {
    summary: "Print the items of a subscription as they come",
    load: async () => (await import("./watch.ts")).command,
  },
  serve: {
    summary: "Serve every source over HTTP, MCP and WebSocket",
    load: async () => (await import("./serve.ts")).command,
  },
  import: {
    summary: "Add a source to the configuration",
    load: async () => (await import("./import.ts")).command,
  },
  types: {
    summary: "Write TypeScript types for every operation",
    load: async () => (await import("./types.ts")).command,
  },
  doctor: {
    summary: "Check configuration, credentials and sources",
    load: async () => (await import("./doctor.ts")).command,
  },
  trust: {
    summary: "Trust the configuration of a folder",
    load: async () => (await import("./trust.ts")).command,
  },
  "hash-key": {
    summary: "Print the hash of an API key, for a configuration",
    load: async () => (await import("./hash-key.ts")).command,
  },
  "nats-permissions": {
    summary: "Write who may call and serve what on a NATS or Redis server",
    load: async () => (await import("./nats-permissions.ts")).command,
  },
  completion: {
    summary: "Print a completion script for bash, zsh or fish",
    load: async () => (await import("./completion.ts")).command,
  },
}
