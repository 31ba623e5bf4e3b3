import { execFile } from "node:child_process"
import { readFile } from "node:fs/promises"
import { extname } from "node:path"
import { pathToFileURL } from "node:url"
import type { ConfigContext } from "../../config/define.ts"
import { ConfigError } from "../../config/error.ts"
import { maskSecrets } from "../../http-client/secrets.ts"
import type { Place } from "../../internal/located.ts"
import { redactText } from "../../internal/redact.ts"
import { isSecretName } from "../../internal/secret-names.ts"
import { importModule } from "../../node/import-module.ts"
import { isRecord } from "../../internal/guards.ts"
import { freshImporter, withoutStamp } from "./fresh-import.ts"

const PACKAGE = /^Cannot find package '([^']+)'/
const MISSING = /^Cannot find (?:module|package) '(?:[^']*[\\/])?([^'\\/]+)'/
const CHECK_TIMEOUT = 10_000

/** Loads the configuration that a script exports; a function is called. Throws a `ConfigError`. */
export async function loadScript(
  file: string,
  shown: string,
  context: ConfigContext,
  isFresh: boolean,
): Promise<unknown> {
  const { href } = pathToFileURL(file)
  // The hooks of a fresh import load TypeScript as an ES module, whatever its package says.
  const isNew = isFresh || /^\.m?ts$/.test(extname(file))
  try {
    const config = exportOf(await (isNew ? freshImporter() : importModule)(href), shown)
    return typeof config === "function"
      ? await (config as (input: unknown) => unknown)(context)
      : config
  } catch (thrown) {
    if (thrown instanceof ConfigError) throw thrown
    throw await scriptError(thrown, file, shown, context.env)
  }
}

function exportOf(module: unknown, shown: string): unknown {
  const exported = isRecord(module) ? module["default"] : undefined
  // CommonJS compiled from an ES module has its default export one level deeper.
  const inner =
    isRecord(exported) && exported["__esModule"] === true ? exported["default"] : exported
  if (inner !== undefined) return inner
  throw new ConfigError(
    [
      {
        path: "",
        message: "The file has no default export. Write: export default defineConfig({ … })",
      },
    ],
    { file: shown },
  )
}

async function scriptError(
  thrown: unknown,
  file: string,
  shown: string,
  env: ConfigContext["env"],
): Promise<ConfigError> {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  const place = await placeOf(error, file)
  return new ConfigError(
    [{ path: "", message: maskSecrets(`The file ${reasonOf(error)}`, secretsOf(env)), ...place }],
    {
      file: shown,
    },
  )
}

/** Values of variables with names of secrets: a script may have put them into its error. */
function secretsOf(env: ConfigContext["env"]): readonly string[] {
  return Object.keys(env).flatMap((name) =>
    isSecretName(name, "setting") ? (env[name] ?? []) : [],
  )
}

/** Why a script failed, without what a parser quotes from it: that may be a secret. */
function reasonOf(error: Error): string {
  if (error.name === "TransformError") {
    const reason = /ERROR: (.*)/.exec(error.message)?.[1] ?? "it cannot be read"
    return `is not sound: ${lower(unquoted(reason))}.`
  }
  if (error instanceof SyntaxError) return `is not sound: ${lower(unquoted(error.message))}.`
  const message = withoutStamp(redactText(error.message)).split("\n", 1)[0] ?? ""
  const dot = /[.?!]$/.test(message) ? "" : "."
  const name = PACKAGE.exec(message)?.[1]
  const cure = name === undefined ? "" : ` Install it: npm install ${name}`
  return `could not be run: ${message}${dot}${cure}`
}

/** Removes quotations from the file; a single character such as "}" stays, as it says what is missing. */
function unquoted(text: string): string {
  return text.replaceAll(
    /"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'/g,
    (whole, a?: string, b?: string) => ((a ?? b ?? "").length <= 2 ? whole : "…"),
  )
}

function lower(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}

async function placeOf(error: Error, file: string): Promise<Place | undefined> {
  const text = withoutStamp(`${error.message}\n${error.stack ?? ""}`)
  const names = [pathToFileURL(file).href, file]
  for (const name of names) {
    const at = text.indexOf(`${name}:`)
    if (at === -1) continue
    const [, line, column] = /^(\d+)(?::(\d+))?/.exec(text.slice(at + name.length + 1)) ?? []
    if (line === undefined) continue
    return { line: Number(line), ...(column !== undefined && { column: Number(column) }) }
  }
  if (error instanceof SyntaxError) return await checkedPlace(file)
  const missing = MISSING.exec(error.message)?.[1]
  return missing === undefined ? undefined : await importPlace(file, missing)
}

/** The line that imports a missing module. */
async function importPlace(file: string, name: string): Promise<Place | undefined> {
  const lines = (await readFile(file, "utf8").catch(() => "")).split("\n")
  const at = lines.findIndex(
    (line) => /\b(?:from|import|require)\b/.test(line) && line.includes(name),
  )
  return at === -1 ? undefined : { line: at + 1 }
}

/** The line of a syntax error, which only `node --check` reports. */
async function checkedPlace(file: string): Promise<Place | undefined> {
  const options = { env: { PATH: process.env["PATH"] }, timeout: CHECK_TIMEOUT, windowsHide: true }
  const stderr = await new Promise<string>((resolve) => {
    execFile(process.execPath, ["--check", file], options, (_error, _out, text) => resolve(text))
  })
  const line = /:(\d+)\r?$/m.exec(stderr)?.[1]
  return line === undefined ? undefined : { line: Number(line) }
}
