/** Variables that can make a program run foreign code or trust the wrong parties. */
const DANGEROUS =
  /^(?:NODE_OPTIONS|NODE_PATH|NODE_EXTRA_CA_CERTS|NODE_TLS_REJECT_UNAUTHORIZED|LD_\w+|DYLD_\w+|PYTHON(?:PATH|STARTUP|HOME|INSPECT)|PERL5?(?:LIB|OPT)|RUBY(?:OPT|LIB)|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|DOTNET_STARTUP_HOOKS|BASH_ENV|PROMPT_COMMAND|GIT_SSH(?:_COMMAND)?|GIT_CONFIG\w*|npm_config_\w+|PIP_INDEX_URL|UV_INDEX_URL|(?:HTTPS?|ALL)_PROXY|SSL_CERT_(?:FILE|DIR)|PATH)$/i

/** Dangers of starting a program with these variables, as sentences. */
export function launchWarnings(env: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.keys(env)
    .filter((variable) => DANGEROUS.test(variable))
    .map(
      (variable) =>
        `The variable "${variable}" changes which code the program runs, or whom it trusts.`,
    )
}
