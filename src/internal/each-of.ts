/** Runs a function for each item, with limited concurrency. */
export async function eachOf<TItem>(
  items: readonly TItem[],
  concurrency: number,
  run: (item: TItem, index: number) => Promise<void>,
): Promise<void> {
  const rest = items.entries()
  const worker = async (): Promise<void> => {
    for (const [index, item] of rest) await run(item, index)
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker))
}
