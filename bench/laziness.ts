/** Counts what calls make that nobody asked for. */

/** How many of each were made. */
export interface Made {
  readonly abortControllers: number
  readonly timers: number
  readonly proxies: number
  readonly requestIds: number
}

/**
 * Runs something and counts the controllers, timers and proxies made meanwhile.
 *
 * `nextId` gives the number of a fresh request id; ids are counted up, so that their difference is the number of ids.
 */
export async function countMade(
  run: () => Promise<void>,
  nextId: () => Promise<number>,
): Promise<Made> {
  const host = globalThis as unknown as Record<string, unknown>
  const { AbortController, Proxy, setImmediate, setTimeout } = globalThis
  const counts = { abortControllers: 0, timers: 0, proxies: 0 }
  const firstId = await nextId()
  host["AbortController"] = counting(AbortController, () => counts.abortControllers++)
  host["Proxy"] = counting(Proxy, () => counts.proxies++)
  host["setTimeout"] = (...args: Parameters<typeof setTimeout>) => {
    counts.timers++
    return setTimeout(...args)
  }
  host["setImmediate"] = (callback: (...args: unknown[]) => void, ...args: unknown[]) => {
    counts.timers++
    return setImmediate(callback, ...args)
  }
  try {
    await run()
  } finally {
    Object.assign(host, { AbortController, Proxy, setImmediate, setTimeout })
  }
  return { ...counts, requestIds: (await nextId()) - firstId - 1 }
}

function counting(target: object, count: () => void): unknown {
  return new Proxy(target as new (...args: unknown[]) => object, {
    construct(constructor, args, newTarget) {
      count()
      return Reflect.construct(constructor, args, newTarget) as object
    },
  })
}
