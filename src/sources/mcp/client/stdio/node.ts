import { nodeBuiltin } from "../../../../internal/node-builtin.ts"
import { CallError } from "../../../../core/errors.ts"

/** The writable end of a pipe. */
export interface WritableLike {
  write(text: string, done?: (error?: Error | null) => void): boolean
  end(): void
  destroy(): void
  on(event: "error", listener: (error: Error) => void): unknown
  unref?(): void
}

/** The readable end of a pipe. */
export interface ReadableLike {
  destroy(): void
  on(event: "data", listener: (chunk: Uint8Array) => void): unknown
  on(event: "end", listener: () => void): unknown
  on(event: "error", listener: (error: Error) => void): unknown
}

/** A child process; its pipes are missing if the start failed for lack of file descriptors. */
export interface ChildLike {
  readonly pid?: number | undefined
  readonly stdin?: WritableLike | null | undefined
  readonly stdout?: ReadableLike | null | undefined
  readonly stderr?: ReadableLike | null | undefined
  on(event: "spawn" | "close", listener: () => void): unknown
  on(event: "error", listener: (error: Error) => void): unknown
  on(event: "exit", listener: (code: number | null, signal: string | null) => void): unknown
  unref(): void
}

/** The spawn options that are used here. */
export interface SpawnOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly stdio: "ignore" | readonly ("pipe" | "ignore")[]
  readonly shell: false
  readonly detached?: boolean
  readonly windowsHide: true
}

/** The parts of Node that running a child process needs. */
export interface NodeLike {
  readonly host: {
    readonly platform: string
    readonly env: Readonly<Record<string, string | undefined>>
    kill(pid: number, signal: string | 0): boolean
    on(event: "exit", listener: () => void): unknown
    off(event: "exit", listener: () => void): unknown
  }
  spawn(command: string, args: readonly string[], options: SpawnOptions): ChildLike
  spawnSync(command: string, args: readonly string[], options: SpawnOptions): unknown
  stat(path: string): Promise<{ isDirectory(): boolean }>
  readdir(path: string): Promise<readonly string[]>
  readFile(path: string, encoding: "utf8"): Promise<string>
}

/** Node's modules, loaded when they are first needed. */
export async function loadNode(user: string): Promise<NodeLike> {
  try {
    const [host, { spawn, spawnSync }, { stat, readdir, readFile }] = await Promise.all([
      nodeBuiltin<NodeLike["host"]>("process"),
      nodeBuiltin<Pick<NodeLike, "spawn" | "spawnSync">>("child_process"),
      nodeBuiltin<Pick<NodeLike, "stat" | "readdir" | "readFile">>("fs/promises"),
    ])
    return { host, spawn, spawnSync, stat, readdir, readFile }
  } catch (cause) {
    throw new CallError(
      "UNAVAILABLE",
      `${user}: this platform cannot start processes, so "command" does not work here. Run it under Node, or use a server with a "url".`,
      { cause, retryable: false },
    )
  }
}
