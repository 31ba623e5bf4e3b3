/** A headless Chromium, spoken to in the DevTools protocol over a pair of pipes. */
import { spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Readable, Writable } from "node:stream"

/** A running browser. Whoever launched it closes it. */
export interface Browser {
  readonly pid: number
  /** Its folder for everything it writes. */
  readonly profile: string
  /** Opens a page and waits until its scripts ran. */
  open(url: string): Promise<Page>
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** One open page. */
export interface Page {
  /** Runs an expression; gives its value, awaited and copied through JSON. */
  evaluate(expression: string): Promise<unknown>
  /** Sends a command of the DevTools protocol to the page. */
  send(method: string, params?: object): Promise<Readonly<Record<string, unknown>>>
  /** Errors that nobody caught in the page, and what it wrote with `console.error`. */
  readonly faults: readonly string[]
}

interface Message {
  readonly id?: number
  readonly sessionId?: string
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: { readonly message: string }
}

interface Evaluated {
  readonly result: { readonly value?: unknown }
  readonly exceptionDetails?: Thrown
}

interface Thrown {
  readonly text: string
  readonly exception?: { readonly description?: string; readonly value?: unknown }
}

/**
 * Features of Chromium that no test needs: the popup of the address bar, which is a page with two processes of its own
 * in every window.
 */
export const UNUSED_WEB_UI: readonly string[] = ["WebUIOmniboxPopup", "WebUIOmniboxAimPopup"]

const FLAGS = [
  "--headless",
  "--remote-debugging-pipe",
  "--no-first-run",
  "--no-default-browser-check",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-dev-shm-usage",
  "--disable-extensions",
  "--disable-gpu",
  "--disable-sync",
  // Pages in the background must not be slowed down.
  "--disable-background-timer-throttling",
  "--disable-renderer-backgrounding",
  `--disable-features=${UNUSED_WEB_UI.join(",")}`,
]

/** Starts a browser with a profile of its own, which goes when the browser does. */
export async function launchBrowser(path: string, flags: readonly string[] = []): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), "operations-browser-"))
  // Chromium's sandbox refuses to run as root.
  const root = process.getuid?.() === 0 ? ["--no-sandbox"] : []
  const child = spawn(
    path,
    [...FLAGS, ...flags, ...root, `--user-data-dir=${profile}`, "about:blank"],
    {
      stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"],
      // A process group, so that its helpers end with it.
      detached: true,
    },
  )
  const kill = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL")
    } catch {
      // It is gone already.
    }
  }
  const cleanUp = (): void => {
    kill()
    rmSync(profile, { recursive: true, force: true, maxRetries: 10 })
  }
  process.once("exit", cleanUp)
  const ended = new Promise<void>((resolve) => {
    child.once("close", () => resolve())
    child.once("error", () => resolve())
  })
  const close = async (): Promise<void> => {
    kill()
    await ended
    process.off("exit", cleanUp)
    cleanUp()
  }

  try {
    const devTools = connect(child)
    await devTools.send("Browser.getVersion")
    return {
      pid: child.pid as number,
      profile,
      open: (url) => openPage(devTools, url),
      close,
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function openPage(devTools: DevTools, url: string): Promise<Page> {
  const { targetId } = await devTools.send("Target.createTarget", { url: "about:blank" })
  const attached = await devTools.send("Target.attachToTarget", { targetId, flatten: true })
  const sessionId = attached["sessionId"] as string
  const faults: string[] = []
  const loaded = new Promise<void>((resolve) => {
    devTools.listen((event) => {
      if (event.sessionId !== sessionId) return
      if (event.method === "Page.loadEventFired") resolve()
      if (event.method === "Runtime.exceptionThrown") {
        faults.push(describe(event.params?.["exceptionDetails"] as Thrown))
      }
      if (event.method === "Runtime.consoleAPICalled" && event.params?.["type"] === "error") {
        faults.push(JSON.stringify(event.params["args"]))
      }
    })
  })
  await devTools.send("Runtime.enable", {}, sessionId)
  await devTools.send("Page.enable", {}, sessionId)
  await devTools.send("Page.navigate", { url }, sessionId)
  await loaded
  return {
    faults,
    send: (method, params = {}) => devTools.send(method, params, sessionId),
    async evaluate(expression) {
      const options = { expression, awaitPromise: true, returnByValue: true }
      const answer = await devTools.send("Runtime.evaluate", options, sessionId)
      const { result, exceptionDetails } = answer as unknown as Evaluated
      if (exceptionDetails !== undefined) {
        throw new Error(`${expression} failed in the page: ${describe(exceptionDetails)}`)
      }
      return result.value
    },
  }
}

function describe({ text, exception }: Thrown): string {
  return `${text} ${exception?.description ?? JSON.stringify(exception?.value)}`
}

interface DevTools {
  send(
    method: string,
    params?: object,
    sessionId?: string,
  ): Promise<Readonly<Record<string, unknown>>>
  listen(listener: (event: Message) => void): void
}

/** Messages are JSON, each with a zero byte after it: the browser reads descriptor 3 and writes 4. */
function connect(child: ChildProcess): DevTools {
  const [, , stderr, toBrowser, fromBrowser] = child.stdio as [
    null,
    null,
    Readable,
    Writable,
    Readable,
  ]
  const waiting = new Map<number, (answer: Message) => void>()
  const listeners = new Set<(event: Message) => void>()
  let id = 0
  let buffered = ""
  let lastWords = ""
  let isOver = false
  const end = (): void => {
    isOver = true
    const error = { message: `The browser ended. ${lastWords.slice(-2000)}` }
    for (const settle of waiting.values()) settle({ error })
    waiting.clear()
  }
  stderr.setEncoding("utf8").on("data", (text: string) => {
    lastWords = (lastWords + text).slice(-8000)
  })
  child.once("error", (error) => {
    lastWords += error.message
    end()
  })
  child.once("close", end)
  // What breaks here is a browser that ended, which "close" tells.
  toBrowser.on("error", () => undefined)
  fromBrowser.on("error", () => undefined)
  fromBrowser.setEncoding("utf8").on("data", (text: string) => {
    const messages = (buffered + text).split("\0")
    buffered = messages.pop() ?? ""
    for (const source of messages) {
      const message = JSON.parse(source) as Message
      if (message.id === undefined) {
        for (const listener of listeners) listener(message)
      } else {
        waiting.get(message.id)?.(message)
        waiting.delete(message.id)
      }
    }
  })
  return {
    listen: (listener) => void listeners.add(listener),
    send: (method, params = {}, sessionId) =>
      new Promise((resolve, reject) => {
        const settle = ({ result, error }: Message): void =>
          error === undefined
            ? resolve(result ?? {})
            : reject(new Error(`${method} failed: ${error.message}`))
        if (isOver) return settle({ error: { message: `The browser ended. ${lastWords}` } })
        waiting.set(++id, settle)
        toBrowser.write(`${JSON.stringify({ id, method, params, sessionId })}\0`)
      }),
  }
}
