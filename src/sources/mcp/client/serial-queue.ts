/** Serialises work per name; work for different names runs concurrently. */
export class SerialQueue {
  readonly #last = new Map<string, Promise<unknown>>()

  async run<TResult>(name: string, run: () => Promise<TResult>): Promise<TResult> {
    const before = this.#last.get(name)
    const turn = before === undefined ? run() : before.then(run, run)
    this.#last.set(name, turn)
    try {
      return await turn
    } finally {
      if (this.#last.get(name) === turn) this.#last.delete(name)
    }
  }

  /** Resolves when all work has ended, successfully or not. */
  async idle(): Promise<void> {
    await Promise.allSettled([...this.#last.values()])
  }
}

/** Runs a function for each item, with limited concurrency. */
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
