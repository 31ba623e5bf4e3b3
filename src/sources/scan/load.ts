import { MAX_TIMER_DELAY } from "../../internal/clock.ts"
import { eachOf } from "../../internal/each-of.ts"
import { reasonOf } from "../../internal/message-text.ts"
import { deferred, withTimeout } from "../../internal/wait.ts"
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
  await eachOf(urls, MAX_CONCURRENT, async (url, index) => {
    loaded[index] = await loadOne(url, importModule, timeout, signal)
  })
  return loaded
}

async function loadOne(
  url: string,
  importModule: (url: string) => Promise<unknown>,
  timeout: number,
  signal: AbortSignal | undefined,
): Promise<Loaded> {
  if (signal?.aborted) throw aborted(signal)
  const stop = deferred()
  const onAbort = (): void => stop.resolve()
  signal?.addEventListener("abort", onAbort)
  try {
    const loading = Promise.race([attempt(importModule, url), stop.promise])
    const tooSlow = (): Loaded => ({
      reason: `did not finish loading within ${timeout} ms: look for a top-level await that never ends, or raise importTimeout`,
    })
    const isLimited = timeout <= MAX_TIMER_DELAY
    const loaded = await (isLimited ? withTimeout(loading, timeout, tooSlow) : loading)
    if (loaded === undefined) throw aborted(signal!)
    return loaded
  } finally {
    signal?.removeEventListener("abort", onAbort)
  }
}

async function attempt(
  importModule: (url: string) => Promise<unknown>,
  url: string,
): Promise<Loaded> {
  try {
    return { module: await importModule(url) }
  } catch (cause) {
    return { reason: `cannot be loaded: ${reasonOf(cause)}`, cause }
  }
}
