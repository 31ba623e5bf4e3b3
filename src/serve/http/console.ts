import type { AnyRegistry } from "../../engine/registry.ts"
import { reasonOf } from "../../internal/message-text.ts"
import type { Clock } from "../../internal/platform.ts"
import type { ExposeOptions } from "../../tools/expose.ts"
import type { Routes } from "./context.ts"
import type { HTTPContext } from "./http-context.ts"
import type { PublicFiles } from "./options.ts"

/** What a console is created for. */
export interface ConsoleTerms {
  /** `""`, or a path with a leading slash and no trailing one. */
  readonly basePath: string
  /** The folder of another console. */
  readonly folder: string | undefined
  /** The title of the page. */
  readonly title: string | undefined
  readonly expose: ExposeOptions | undefined
  readonly clock: Clock
  /** The server also serves WebSockets. */
  readonly websocket: boolean
}

/** The parts of a server that are its console. */
export interface ConsoleParts {
  readonly routes: (context: HTTPContext) => Routes
  readonly files: PublicFiles
  /** Ends the streams of open consoles. */
  readonly close: () => void
}

/** Creates the console of a registry. */
export type CreateConsole = (registry: AnyRegistry, terms: ConsoleTerms) => ConsoleParts

/** The key of `CreateConsole` on `serveHTTP`, which is how it gets from the entry for Node to other entries. */
export const CONSOLE: unique symbol = Symbol.for("@alkdev/operations/console") as never

/** Throws a `TypeError` if a server cannot have a console. */
export function checkConsole(caller: string, gateway: boolean | undefined): void {
  if (gateway === false) {
    throw new TypeError(
      `${caller}(): the console calls operations through the gateway. Omit gateway: false.`,
    )
  }
  if (Reflect.has(globalThis, "process")) return
  throw new TypeError(
    `${caller}(): the console's files are read from a file system, which this platform does not have. Omit console.`,
  )
}

/** Loads the console from the entry for Node. Rejects with the reason if that is not there. */
export async function loadConsole(): Promise<CreateConsole> {
  try {
    const { serveHTTP } = await importLate("@alkdev/operations/node")
    return serveHTTP[CONSOLE]
  } catch (cause) {
    const why = reasonOf(cause)
    const message = `The console is not served, because @alkdev/operations/node cannot be loaded: ${why}. Install the package instead of bundling it, or omit console.`
    throw new Error(message, { cause })
  }
}

/** Imports a module whose name bundlers do not see: they would add the code of Node to bundles for other platforms. */
function importLate(
  name: string,
): Promise<{ readonly serveHTTP: { readonly [CONSOLE]: CreateConsole } }> {
  return import(/* @vite-ignore */ /* webpackIgnore: true */ name)
}
