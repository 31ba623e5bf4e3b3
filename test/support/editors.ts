import { spawn } from "node:child_process"
import { writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import type ts from "typescript-6.0"

/** What an editor asks of a language service about one file. Positions are offsets into its text. */
export interface Editor extends AsyncDisposable {
  /** The texts of the lines that "go to definition" leads to. */
  definition(at: number): Promise<string[]>
  /** The offsets of all references. */
  references(at: number): Promise<number[]>
  hover(at: number): Promise<string>
  completions(at: number): Promise<string[]>
}

/** An editor with a file open in a folder. */
export type OpenEditor = (folder: string, text: string) => Promise<Editor>

const OPTIONS = { strict: true, target: "ES2022", module: "NodeNext", types: [], noEmit: true }

/** With the language service of a compiler that is JavaScript. */
export function inProcess(compiler: string): OpenEditor {
  return (folder, text) => {
    const compilers = createRequire(import.meta.url)(compiler) as typeof ts
    const file = join(folder, "program.ts")
    const { options } = compilers.convertCompilerOptionsFromJson(OPTIONS, folder)
    const { sys } = compilers
    const service = compilers.createLanguageService({
      fileExists: (path) => sys.fileExists(path),
      readFile: (path) => sys.readFile(path),
      directoryExists: (path) => sys.directoryExists(path),
      realpath: (path) => sys.realpath?.(path) ?? path,
      getCompilationSettings: () => options,
      getScriptFileNames: () => [file],
      getScriptVersion: () => "1",
      getScriptSnapshot: (path) => {
        const content = path === file ? text : sys.readFile(path)
        return content === undefined ? undefined : compilers.ScriptSnapshot.fromString(content)
      },
      getCurrentDirectory: () => folder,
      getDefaultLibFileName: (settings) => compilers.getDefaultLibFilePath(settings),
    })
    return Promise.resolve({
      definition: (at) =>
        Promise.resolve(
          (service.getDefinitionAtPosition(file, at) ?? []).map(({ fileName, textSpan }) =>
            fileName === file ? lineAt(text, textSpan.start) : fileName,
          ),
        ),
      references: (at) =>
        Promise.resolve(
          (service.getReferencesAtPosition(file, at) ?? []).map(({ textSpan }) => textSpan.start),
        ),
      hover: (at) => {
        const info = service.getQuickInfoAtPosition(file, at)
        const parts = [...(info?.displayParts ?? []), ...(info?.documentation ?? [])]
        return Promise.resolve(parts.map((part) => part.text).join(""))
      },
      completions: (at) =>
        Promise.resolve(
          (service.getCompletionsAtPosition(file, at, {})?.entries ?? []).map(({ name }) => name),
        ),
      [Symbol.asyncDispose]: async () => service.dispose(),
    })
  }
}

interface Position {
  readonly line: number
  readonly character: number
}

interface Location {
  readonly uri: string
  readonly range: { readonly start: Position }
}

/** With the language server of the native compiler. */
export const overProtocol: OpenEditor = async (folder, text) => {
  const file = join(folder, "program.ts")
  await writeFile(file, text)
  await writeFile(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions: OPTIONS, files: ["program.ts"] }),
  )
  const manifest = createRequire(import.meta.url).resolve("typescript/package.json")
  const child = spawn(process.execPath, [resolve(manifest, "../bin/tsc"), "--lsp", "--stdio"], {
    cwd: folder,
    stdio: ["pipe", "pipe", "ignore"],
  })
  const pending = new Map<number, (result: unknown) => void>()
  const send = (message: object): void => {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message })
    child.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  }
  let buffer = Buffer.alloc(0)
  child.stdout.on("data", (chunk: Buffer) => {
    buffer = Buffer.concat([buffer, chunk])
    for (;;) {
      const end = buffer.indexOf("\r\n\r\n")
      const length = Number(/Content-Length: (\d+)/i.exec(buffer.toString("latin1", 0, end))?.[1])
      if (end < 0 || buffer.length < end + 4 + length) return
      const message = JSON.parse(buffer.toString("utf8", end + 4, end + 4 + length)) as {
        id?: number
        method?: string
        result?: unknown
      }
      buffer = buffer.subarray(end + 4 + length)
      // A request of the server, such as for its settings: it goes on without.
      if (message.method !== undefined && message.id !== undefined) {
        send({ id: message.id, result: null })
      } else if (message.id !== undefined) {
        pending.get(message.id)?.(message.result)
        pending.delete(message.id)
      }
    }
  })
  let count = 0
  const ask = <TResult>(method: string, params: object): Promise<TResult> =>
    new Promise((settle) => {
      count += 1
      pending.set(count, settle as (result: unknown) => void)
      send({ id: count, method, params })
    })
  const uri = pathToFileURL(file).href
  const at = (offset: number): object => ({
    textDocument: { uri },
    position: {
      line: text.slice(0, offset).split("\n").length - 1,
      character: offset - (text.lastIndexOf("\n", offset - 1) + 1),
    },
  })
  const offsetOf = ({ line, character }: Position): number =>
    text.split("\n").slice(0, line).join("\n").length + (line > 0 ? 1 : 0) + character
  await ask("initialize", {
    processId: process.pid,
    rootUri: pathToFileURL(folder).href,
    capabilities: { textDocument: { hover: { contentFormat: ["markdown"] } } },
  })
  send({ method: "initialized", params: {} })
  send({
    method: "textDocument/didOpen",
    params: { textDocument: { uri, languageId: "typescript", version: 1, text } },
  })
  return {
    definition: async (offset) => {
      const found = await ask<Location | Location[] | null>("textDocument/definition", at(offset))
      return [found ?? []]
        .flat()
        .map((location) =>
          location.uri === uri ? lineAt(text, offsetOf(location.range.start)) : location.uri,
        )
    },
    references: async (offset) => {
      const found = await ask<Location[] | null>("textDocument/references", {
        ...at(offset),
        context: { includeDeclaration: true },
      })
      return (found ?? []).map(({ range }) => offsetOf(range.start))
    },
    hover: async (offset) => JSON.stringify(await ask("textDocument/hover", at(offset))),
    completions: async (offset) => {
      type Items = readonly { readonly label: string }[]
      const found = await ask<Items | { readonly items: Items } | null>(
        "textDocument/completion",
        at(offset),
      )
      return ("items" in (found ?? []) ? (found as { items: Items }).items : (found as Items)).map(
        ({ label }) => label,
      )
    },
    [Symbol.asyncDispose]: async () => {
      const ended = new Promise((settle) => child.once("exit", settle))
      child.kill()
      await ended
    },
  }
}

function lineAt(text: string, offset: number): string {
  const start = text.lastIndexOf("\n", offset - 1) + 1
  return text.slice(start, text.indexOf("\n", offset)).trim()
}
