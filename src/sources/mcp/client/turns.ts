/** Does things one after the other for each name, and for different names at the same time. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>()

  async take<TResult>(name: string, run: () => Promise<TResult>): Promise<TResult> {
    const before = this.#last.get(name)
    const turn = before === undefined ? run() : before.then(run, run)
    this.#last.set(name, turn)
    try {
      return await turn
    } finally {
      if (this.#last.get(name) === turn) this.#last.delete(name)
    }
  }

  /** Settles when everything that was begun is over, well or not. */
  async over(): Promise<void> {
    await Promise.allSettled([...this.#last.values()])
  }
}

/** Does something for each of several things, some of them at the same time. */
export async function eachOf<TItem>(
  items: readonly TItem[],
  concurrency: number,
  run: (item: TItem) => Promise<void>,
): Promise<void> {
  const rest = items.values()
  const worker = async (): Promise<void> => {
    for (const item of rest) await run(item)
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker))
}
