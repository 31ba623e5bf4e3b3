import { MAX_TIMER_DELAY, systemClock } from "../../internal/clock.ts"
import { reasonOf } from "../../internal/message-text.ts"
import { aborted } from "./walk.ts"

/** A loaded module, or why loading failed. */
export type Loaded =
  | { readonly module: unknown }
  | { readonly reason: string; readonly cause?: unknown }

/** Maximum number of concurrent imports: enough to overlap reading without running out of file handles. */
const MAX_CONCURRENT = 8

/**
 * Loads modules, a few at a time; the results are in the order of the URLs.
 *
 * A module that throws, or does not finish in time, does not keep the others from loading. Rejects only
 * when the signal is aborted, and then at once.
 */
export async function loadModules(
  urls: readonly string[],
  importModule: (url: string) => Promise<unknown>,
  timeout: number,
  signal: AbortSignal | undefined,
): Promise<Loaded[]> {
  const loaded: Loaded[] = []
  let next = 0
  const lane = async (): Promise<void> => {
    for (let index = next++; index < urls.length; index = next++) {
      loaded[index] = await loadOne(urls[index]!, importModule, timeout, signal)
    }
  }
  await Promise.all(Array.from({ length: Math.min(MAX_CONCURRENT, urls.length) }, lane))
  return loaded
}

function loadOne(
  url: string,
  importModule: (url: string) => Promise<unknown>,
  timeout: number,
  signal: AbortSignal | undefined,
): Promise<Loaded> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(aborted(signal))
      return
    }
    const onAbort = (): void => {
      systemClock.clearTimeout(timer)
      reject(aborted(signal!))
    }
    const settle = (loaded: Loaded): void => {
      systemClock.clearTimeout(timer)
      signal?.removeEventListener("abort", onAbort)
      resolve(loaded)
    }
    const timer =
      timeout > MAX_TIMER_DELAY
        ? undefined
        : systemClock.setTimeout(() => settle(tooSlow(timeout)), timeout)
    signal?.addEventListener("abort", onAbort, { once: true })
    // A result after the timeout is ignored; handling it avoids an unhandled rejection.
    attempt(importModule, url).then(
      (module) => settle({ module }),
      (cause: unknown) => settle({ reason: `cannot be loaded: ${reasonOf(cause)}`, cause }),
    )
  })
}

async function attempt(
  importModule: (url: string) => Promise<unknown>,
  url: string,
): Promise<unknown> {
  return await importModule(url)
}

function tooSlow(timeout: number): Loaded {
  return {
    reason: `did not finish loading within ${timeout} ms: look for a top-level await that never ends, or raise importTimeout`,
  }
}
