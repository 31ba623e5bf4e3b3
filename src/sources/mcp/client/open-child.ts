import { CallError } from "../../../core/errors.ts"
import type { MCPStdioChannel, ResolvedServer } from "../config.ts"
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

/** Variables that can make a program run foreign code or trust the wrong parties. */
const DANGEROUS =
  /^(?:NODE_OPTIONS|NODE_PATH|NODE_EXTRA_CA_CERTS|NODE_TLS_REJECT_UNAUTHORIZED|LD_\w+|DYLD_\w+|PYTHON(?:PATH|STARTUP|HOME|INSPECT)|PERL5?(?:LIB|OPT)|RUBY(?:OPT|LIB)|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|DOTNET_STARTUP_HOOKS|BASH_ENV|PROMPT_COMMAND|GIT_SSH(?:_COMMAND)?|GIT_CONFIG\w*|npm_config_\w+|PIP_INDEX_URL|UV_INDEX_URL|(?:HTTPS?|ALL)_PROXY|SSL_CERT_(?:FILE|DIR)|PATH)$/i

function launchWarnings(env: Readonly<Record<string, string>>): readonly string[] {
  return Object.keys(env)
    .filter((variable) => DANGEROUS.test(variable))
    .map(
      (variable) =>
        `The variable "${variable}" changes which code the program runs, or whom it trusts.`,
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
