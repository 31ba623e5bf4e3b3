import { readFile } from "node:fs/promises"
import { dirname, extname, isAbsolute, relative, resolve } from "node:path"
import { ConfigError } from "../../config/error.ts"
import { readJsonc } from "../../internal/jsonc.ts"
import { locateInScript } from "../../config/locate-script.ts"
import { type LocatedData, ParseError } from "../../internal/located.ts"
import type { ResolvedConfig } from "../../config/model.ts"
import { resolveConfig } from "../../config/resolve.ts"
import { validateOptions, type OptionsSchema } from "../../internal/options.ts"
import { editorConfig } from "./editor-config.ts"
import { loadScript } from "./script.ts"

export interface LoadConfigOptions {
  /** Environment variables for a configuration that is a function; default: those of this process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  /** Runs a script again, with what it imports: the file may have changed. */
  readonly fresh?: boolean | undefined
}

export const LOAD_CONFIG_OPTIONS: OptionsSchema<LoadConfigOptions> = {
  env: { secret: { record: "string" } },
  fresh: "boolean",
}

const SCRIPTS = [".ts", ".mts", ".js", ".mjs", ".cjs", ".cts"]
const READABLE = "operations.config.ts, .js, .json or .yaml"

/**
 * Reads a configuration: a script, JSON with comments, or YAML; also the file in which an editor keeps
 * its MCP servers.
 *
 * Throws a `ConfigError` with the file, the line and the fix. It never shows a value.
 */
export async function loadConfig(
  path: string,
  options: LoadConfigOptions = {},
): Promise<ResolvedConfig> {
  validateOptions("loadConfig", options, LOAD_CONFIG_OPTIONS)
  const file = resolve(path)
  const shown = displayPath(file)
  const text = await readText(file, shown)
  const { value, where } = await dataOf(file, shown, text, options)
  const base = { baseDir: dirname(file), file, shown }
  const editors = editorConfig(value, file)
  if (editors === undefined) return resolveConfig(value, { ...base, where })
  return resolveConfig(
    { mcpServers: editors.servers },
    { ...base, where: (keys) => where([...editors.keys, ...keys.slice(1)]) },
  )
}

async function dataOf(
  file: string,
  shown: string,
  text: string,
  options: LoadConfigOptions,
): Promise<LocatedData> {
  const kind = extname(file).toLowerCase()
  if (SCRIPTS.includes(kind)) {
    const context = { env: options.env ?? process.env, baseDir: dirname(file) }
    const value = await loadScript(file, shown, context, options.fresh === true)
    return { value, where: locateInScript(text) }
  }
  try {
    if (kind === ".yaml" || kind === ".yml") {
      // Loaded on use: most configurations are not YAML.
      const { readLocatedYaml } = await import("../../config/located-yaml.ts")
      return readLocatedYaml(text)
    }
    if (kind === ".json" || kind === ".jsonc" || kind === "") return readJsonc(text)
  } catch (thrown) {
    if (thrown instanceof ParseError) throw textError(thrown, shown)
    throw thrown
  }
  throw failed(shown, `is of a kind that is not read. Write ${READABLE}.`)
}

async function readText(file: string, shown: string): Promise<string> {
  try {
    const text = await readFile(file, "utf8")
    return text.startsWith("\uFEFF") ? text.slice(1) : text
  } catch (cause) {
    const { code } = cause as { code?: unknown }
    if (code === "ENOENT" || code === "ENOTDIR") {
      throw failed(
        shown,
        `does not exist. Write one with "npx @alkdev/operations init", or give another path.`,
      )
    }
    if (code === "EISDIR") throw failed(shown, `is a folder. Give the file in it: ${READABLE}.`)
    throw failed(shown, `cannot be read (${String(code)}).`)
  }
}

/** A path for messages: relative to the working folder when it is inside. */
function displayPath(file: string): string {
  const short = relative(process.cwd(), file)
  return short === "" || short.startsWith("..") || isAbsolute(short) ? file : short
}

function textError(issue: ParseError, shown: string): ConfigError {
  const message = `The file ${issue.message}${issue.message.endsWith("?") ? "" : "."}`
  return new ConfigError([{ path: "", message, ...issue.place }], { file: shown })
}

function failed(shown: string, message: string): ConfigError {
  return new ConfigError([{ path: "", message: `The configuration ${message}` }], { file: shown })
}
