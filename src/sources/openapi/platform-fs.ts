import { CallError } from "../../core/errors.ts"
import type { FileReader } from "./load-file.ts"

/** The parts of Node's modules that reading a document needs. */
interface NodeModules {
  readonly fs: {
    readFile(path: string, encoding: "utf8"): Promise<string>
    realpath(path: string): Promise<string>
  }
  readonly host: { cwd(): string }
}

/**
 * Node's file system, loaded when it is first needed.
 *
 * The module names are built at run time: otherwise bundlers for platforms without these modules would
 * fail on code that never runs there.
 */
export async function platformFS(): Promise<FileReader> {
  const load = async (name: string): Promise<unknown> =>
    await import(/* @vite-ignore */ `node:${name}`)
  let modules: NodeModules
  try {
    modules = {
      fs: (await load("fs/promises")) as NodeModules["fs"],
      host: ((await load("process")) as { default: NodeModules["host"] }).default,
    }
  } catch (cause) {
    throw new CallError(
      "UNAVAILABLE",
      "FromOpenAPIFile(path, config, fs): this platform has no file system of Node. Pass fs, or load the text yourself and use FromOpenAPI.",
      { cause, retryable: false },
    )
  }
  const { fs, host } = modules
  return {
    async readFile(path) {
      const text = await fs.readFile(path, "utf8")
      return text.startsWith("\uFEFF") ? text.slice(1) : text
    },
    realpath: (path) => fs.realpath(path),
    cwd: () => host.cwd(),
  }
}
