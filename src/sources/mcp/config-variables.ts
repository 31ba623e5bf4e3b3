import { nodeBuiltin } from "../../internal/node-builtin.ts"

// Variables such as `${VAR}` in a config. Values are inserted once and not expanded again.

/** A value that a config asks its user for, as in VS Code's `inputs`. */
export interface MCPInputVariable {
  readonly id: string
  readonly type: string | undefined
  readonly description: string | undefined
  readonly default: string | undefined
  readonly options: readonly string[] | undefined
  /** It must not be echoed while typing, nor stored in plain text. */
  readonly isPassword: boolean
}

/** Provides the values of variables. */
export interface VariableSource {
  readonly env: (name: string) => string | undefined
  readonly workspaceFolder: () => string | undefined
  readonly userHome: () => string | undefined
  readonly pathSeparator: () => string
  readonly input: (id: string) => Promise<string | undefined>
}

/** Why a variable cannot be filled in; contains its name but never a value. */
export class VariableError extends Error {}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/
const KIND = /^([A-Za-z]+):(.*)$/s
const MAX_NESTING = 8

/**
 * Fills in `${VAR}`, `${VAR:-default}`, `${env:VAR}`, `${input:id}`, `${workspaceFolder}`,
 * `${userHome}` and opencode's `{env:VAR}`. A bare `$VAR` and any other form is text.
 *
 * Throws `VariableError` for a variable that is not set and has no default.
 */
export async function fillVariables(
  text: string,
  source: VariableSource,
  nesting: number = 0,
): Promise<string> {
  let out = ""
  let at = 0
  const last = text.lastIndexOf("}")
  while (at < text.length) {
    // Nothing past the last brace can be an expression.
    if (at > last) return out + text.slice(at)
    const isDollar = text.startsWith("${", at)
    if (!isDollar && !text.startsWith("{env:", at)) {
      out += text.charAt(at)
      at++
      continue
    }
    const start = at + (isDollar ? 2 : 1)
    const end = closingBrace(text, start)
    const inner = end === -1 ? undefined : text.slice(start, end)
    const value = inner === undefined ? undefined : await valueOf(inner, source, nesting)
    // Not a variable: stays as written.
    out += value ?? text.charAt(at)
    at = value === undefined ? at + 1 : end + 1
  }
  return out
}

/** The value of an expression; `undefined` when it is not one. */
async function valueOf(
  inner: string,
  source: VariableSource,
  nesting: number,
): Promise<string | undefined> {
  switch (inner) {
    case "workspaceFolder":
    case "workspaceRoot":
      return needed(source.workspaceFolder(), inner, "Pass workspaceFolder.")
    case "workspaceFolderBasename":
      return needed(source.workspaceFolder(), inner, "Pass workspaceFolder.")
        .split(/[\\/]/)
        .findLast((part) => part !== "")
    case "userHome":
      return needed(source.userHome(), inner, "Pass userHome.")
    case "pathSeparator":
    case "/":
      return source.pathSeparator()
  }
  const colon = inner.indexOf(":-")
  const name = colon === -1 ? inner : inner.slice(0, colon)
  const plain = name.startsWith("env:") ? name.slice(4) : name
  if (NAME.test(plain)) {
    const value = source.env(plain)
    if (value !== undefined && (value !== "" || colon === -1)) return value
    if (colon !== -1) return await defaultOf(inner.slice(colon + 2), source, nesting)
    return needed(undefined, plain, `Set it, or write a default: \${${plain}:-…}.`)
  }
  const [, kind, rest = ""] = KIND.exec(inner) ?? []
  if (kind === undefined) return undefined
  if (kind !== "input") {
    throw new VariableError(
      `uses \${${kind}:…}, which is not known here. Use \${env:NAME} or \${input:id}.`,
    )
  }
  return needed(
    await source.input(rest),
    inner,
    `Pass inputs, a function that answers for the id "${rest}".`,
  )
}

async function defaultOf(text: string, source: VariableSource, nesting: number): Promise<string> {
  if (nesting >= MAX_NESTING) throw new VariableError("has defaults nested too deeply.")
  return await fillVariables(text, source, nesting + 1)
}

function needed(value: string | undefined, name: string, cure: string): string {
  if (value !== undefined) return value
  throw new VariableError(`needs "${name}", which is not set. ${cure}`)
}

/** The index of the brace that ends an expression; skips nested ones. */
function closingBrace(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    if (text.startsWith("${", at)) depth++
    if (text.charAt(at) !== "}") continue
    if (depth === 0) return at
    depth--
  }
  return -1
}

/** The parts of the platform that a config may refer to. */
interface PlatformVariables {
  readonly env: (name: string) => string | undefined
  readonly userHome: string | undefined
  readonly workspaceFolder: string | undefined
  readonly pathSeparator: string
  readonly readFile: ((path: string) => Promise<string>) | undefined
}

interface NodeModules {
  readonly host: {
    readonly env: Readonly<Record<string, string | undefined>>
    cwd(): string
  }
  readonly os: { homedir(): string }
  readonly path: { readonly sep: string }
  readonly fs: { readFile(path: string, encoding: "utf8"): Promise<string> }
}

/** Reads them from Node; empty on other platforms. */
export async function platformVariables(): Promise<PlatformVariables> {
  try {
    const host = await nodeBuiltin<NodeModules["host"]>("process")
    const os = await nodeBuiltin<NodeModules["os"]>("os")
    const path = await nodeBuiltin<NodeModules["path"]>("path")
    const fs = await nodeBuiltin<NodeModules["fs"]>("fs/promises")
    return {
      env: (name) => (Object.hasOwn(host.env, name) ? host.env[name] : undefined),
      userHome: os.homedir(),
      workspaceFolder: host.cwd(),
      pathSeparator: path.sep,
      readFile: (name) => fs.readFile(name, "utf8"),
    }
  } catch {
    return {
      env: () => undefined,
      userHome: undefined,
      workspaceFolder: undefined,
      pathSeparator: "/",
      readFile: undefined,
    }
  }
}
