import { CallError } from "../errors.ts"
import type { MCPStdioChannel, SettledServer } from "../mcp/config.ts"
import { childEnvironment } from "./stdio/environment.ts"
import { ChildTransport } from "./stdio/transport.ts"

/** Asks the user, once, whether a program may be started. */
export async function approveLaunch(
  settled: SettledServer,
  channel: MCPStdioChannel,
): Promise<void> {
  const { name, approve } = settled
  const { command, args, cwd } = channel
  if (approve === undefined) return
  // A user without types may give anything; only `true` is a yes.
  const answer: unknown = await approve({ server: name, argv: [command, ...args], cwd })
  if (answer === true) return
  throw new CallError(
    "ACCESS_DENIED",
    `MCP server "${name}" was not started: "approve" refused to run "${command}".`,
  )
}

/** A process that is not yet started. */
export async function makeChild(
  settled: SettledServer,
  channel: MCPStdioChannel,
): Promise<ChildTransport> {
  const { command, args, env, cwd, inheritEnv } = channel
  return new ChildTransport({
    command,
    args,
    env: await childEnvironment(inheritEnv, env),
    ...(cwd !== undefined && { cwd }),
    maxMessageBytes: settled.maxMessageBytes,
    logger: settled.logger,
    server: settled.name,
  })
}
