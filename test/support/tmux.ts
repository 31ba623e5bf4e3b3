/** A terminal for tests: what a person would see, and the keys they press. */
import { execFile } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { promisify } from "node:util"
import { PATIENCE } from "./patience.ts"
import { provideProgram, TMUX } from "./programs.ts"

const run = promisify(execFile)

/** Whether there is a tmux. */
export async function provideTmux(): Promise<boolean> {
  return provideProgram(TMUX) !== undefined
}

export interface ScreenOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** Default: 100. */
  readonly columns?: number
}

/** One program in a terminal of its own. Whoever opens one closes it. */
export class Screen implements AsyncDisposable {
  readonly #folder: string

  private constructor(folder: string) {
    this.#folder = folder
  }

  /** Starts a command; when it has ended, `exit <code>` stands below what it wrote. */
  static async open(command: readonly string[], options: ScreenOptions = {}): Promise<Screen> {
    const screen = new Screen(await mkdtemp(join(tmpdir(), "operations-tmux-")))
    const line = command.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(" ")
    const env = Object.entries({ NO_COLOR: "", CI: "", ...options.env })
    await screen.#tmux(
      "new-session",
      ...[
        "-d",
        "-x",
        String(options.columns ?? 100),
        "-y",
        "40",
        "-c",
        options.cwd ?? process.cwd(),
      ],
      ...env.flatMap(([name, value]) => ["-e", `${name}=${value}`]),
      `${line}; printf '\\nexit %s\\n' $?; exec cat`,
    )
    return screen
  }

  /** Presses keys, by tmux's names: `Enter`, `C-c`, `Tab`. */
  async press(...keys: readonly string[]): Promise<void> {
    await this.#tmux("send-keys", ...keys)
  }

  /** Types a text. */
  async write(text: string): Promise<void> {
    await this.#tmux("send-keys", "-l", "--", text)
  }

  /** Types a text, and Enter. */
  async type(text: string): Promise<void> {
    await this.write(text)
    await this.press("Enter")
  }

  /** What is to be seen, and what was before. */
  async text(): Promise<string> {
    return (await this.#tmux("capture-pane", "-p", "-S", "-500")).trimEnd()
  }

  /** What is to be seen, with the escape sequences of its colours. */
  async colours(): Promise<string> {
    return await this.#tmux("capture-pane", "-p", "-e")
  }

  /** Waits until something is to be seen; gives all that is. */
  async until(what: string | RegExp): Promise<string> {
    const end = Date.now() + PATIENCE
    for (;;) {
      const text = await this.text()
      if (typeof what === "string" ? text.includes(what) : what.test(text)) return text
      if (Date.now() > end) throw new Error(`${String(what)} does not appear. There is:\n${text}`)
      await sleep(50)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#tmux("kill-server").catch(() => undefined)
    await rm(this.#folder, { recursive: true })
  }

  async #tmux(...args: readonly string[]): Promise<string> {
    // A server of its own: nothing of the user's is touched.
    const { stdout } = await run("tmux", [
      "-S",
      join(this.#folder, "s"),
      "-f",
      "/dev/null",
      ...args,
    ])
    return stdout
  }
}
