import { CallError } from "../../core/errors.ts"
import { nodeBuiltin } from "../../internal/node-builtin.ts"
import type { FileReader } from "./load-file.ts"

interface NodeFiles {
  readFile(path: string, encoding: "utf8"): Promise<string>
  realpath(path: string): Promise<string>
}

/** Node's file system, loaded when it is first needed. */
export async function platformFS(): Promise<FileReader> {
  let fs: NodeFiles
  let host: { cwd(): string }
  try {
    fs = await nodeBuiltin("fs/promises")
    host = await nodeBuiltin("process")
  } catch (cause) {
    throw new CallError(
      "UNAVAILABLE",
      "FromOpenAPIFile(path, config, fs): this platform has no file system of Node. Pass fs, or load the text yourself and use FromOpenAPI.",
      { cause, retryable: false },
    )
  }
  return {
    async readFile(path) {
      const text = await fs.readFile(path, "utf8")
      return text.startsWith("\uFEFF") ? text.slice(1) : text
    },
    realpath: (path) => fs.realpath(path),
    cwd: () => host.cwd(),
  }
}
