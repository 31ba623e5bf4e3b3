import { execFile, type ExecFileException, type ExecFileOptions } from "node:child_process"
import { open } from "node:fs/promises"
import { homedir } from "node:os"
import { basename, isAbsolute, join, resolve, sep } from "node:path"

const MAX_BYTES = 1024 * 1024
const COMMAND_TIMEOUT = 30_000

/** Reads a secret from a file, without the line break at its end. */
export async function readSecretFile(path: string, baseDir: string): Promise<string> {
  if (path === "" || path.includes("\0")) throw new Error("uses ${file:…} without a path.")
  const full = expandHome(path, baseDir)
  let text: string
  try {
    text = await readBounded(full)
  } catch (thrown) {
    throw new Error(`the file "${path}" ${fileReason(thrown)}`, { cause: thrown })
  }
  const value = text.replace(/^\uFEFF/, "").replace(/(?:\r?\n)+$/, "")
  if (value === "") throw new Error(`the file "${path}" is empty. Put the secret into it.`)
  return value
}

/**
 * Runs a program and returns its output, without the line break at its end. Its stderr is never shown:
 * it may contain a secret.
 */
export async function runCommand(
  words: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const [program = "", ...args] = words
  const command = `the command "${program} …"`
  const { error, isSlow, text } = await runBounded(program, args, { cwd, env })
  if (isSlow) {
    throw new Error(
      `${command} did not finish within ${COMMAND_TIMEOUT / 1000} s. Does it ask for something?`,
    )
  }
  if (error?.code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER") {
    throw new Error(`${command} printed more than ${MAX_BYTES} bytes.`)
  }
  if (typeof error?.code === "string") {
    throw new Error(`the program "${program}" cannot be started. Is it installed, and in PATH?`)
  }
  const hint = "Run it by hand to see why."
  if (error !== null) {
    const why = error.signal ? `signal ${error.signal}` : `exit code ${error.code}`
    throw new Error(`${command} failed (${why}). ${hint}`)
  }
  const value = text.replace(/(?:\r?\n)+$/, "")
  if (value === "") throw new Error(`${command} printed nothing. ${hint}`)
  return value
}

/** The value of a variable that editors define, such as `workspaceFolder`. */
export function editorPlace(name: string, baseDir: string): string {
  switch (name) {
    case "userHome":
      return homedir()
    case "workspaceFolderBasename":
      return basename(baseDir)
    case "pathSeparator":
    case "/":
      return sep
    default:
      return baseDir
  }
}

interface Outcome {
  readonly error: ExecFileException | null
  readonly isSlow: boolean
  readonly text: string
}

function runBounded(
  program: string,
  args: readonly string[],
  options: Pick<ExecFileOptions, "cwd" | "env">,
): Promise<Outcome> {
  return new Promise((settle) => {
    let isSlow = false
    const limits = { maxBuffer: MAX_BYTES, killSignal: "SIGKILL", windowsHide: true } as const
    const child = execFile(program, args, { ...options, ...limits }, (error, text) => {
      clearTimeout(timer)
      settle({ error, isSlow, text })
    })
    child.stdin?.end()
    const timer = setTimeout(() => {
      isSlow = true
      child.kill("SIGKILL")
      // A child of the program may keep the pipes open.
      child.stdout?.destroy()
      child.stderr?.destroy()
    }, COMMAND_TIMEOUT)
  })
}

async function readBounded(path: string): Promise<string> {
  const file = await open(path, "r")
  try {
    const buffer = Buffer.alloc(MAX_BYTES + 1)
    let size = 0
    for (;;) {
      const { bytesRead } = await file.read(buffer, size, buffer.length - size)
      size += bytesRead
      if (bytesRead === 0) return buffer.toString("utf8", 0, size)
      if (size > MAX_BYTES) throw new Error("too large")
    }
  } finally {
    await file.close()
  }
}

function expandHome(path: string, baseDir: string): string {
  if (path === "~" || path.startsWith("~/") || path.startsWith("~\\")) {
    return join(homedir(), path.slice(1))
  }
  return isAbsolute(path) ? path : resolve(baseDir, path)
}

function fileReason(thrown: unknown): string {
  switch ((thrown as { code?: unknown }).code) {
    case "ENOENT":
    case "ENOTDIR":
      return "does not exist. Paths are relative to the configuration."
    case "EACCES":
    case "EPERM":
      return "may not be read by this user."
    case "EISDIR":
      return "is a folder."
    default:
      return `cannot be read, or is larger than ${MAX_BYTES} bytes.`
  }
}
