import { CallError } from "../../../core/errors.ts"
import type { MCPStdioChannel, ResolvedServer } from "../config.ts"
import { launchWarnings } from "../launch-warnings.ts"
import { childEnvironment } from "./stdio/environment.ts"
import { ChildTransport } from "./stdio/transport.ts"

/** Asks the user whether a program may be started. */
export async function approveLaunch(
  server: ResolvedServer,
  channel: MCPStdioChannel,
): Promise<void> {
  const { name, approve } = server
  const { command, args, cwd, env } = channel
  if (approve === undefined) return
  // Untyped code may return anything; only `true` is a yes.
  const answer: unknown = await approve({
    server: name,
    argv: [command, ...args],
    cwd,
    env: { ...env },
    warnings: launchWarnings(env),
  })
  if (answer === true) return
  throw new CallError(
    "ACCESS_DENIED",
    `MCP server "${name}" was not started: "approve" refused to run "${command}".`,
  )
}

/** Creates the transport of a child process without starting it. */
export async function makeChild(
  server: ResolvedServer,
  channel: MCPStdioChannel,
): Promise<ChildTransport> {
  const { command, args, env, cwd, inheritEnv } = channel
  return new ChildTransport({
    command,
    args,
    env: await childEnvironment(inheritEnv, env),
    ...(cwd !== undefined && { cwd }),
    maxMessageBytes: server.maxMessageBytes,
    logger: server.logger,
    server: server.name,
  })
}
