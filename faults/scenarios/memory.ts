/** What a process had in memory at most, and how much more that was than at the beginning; bytes. */
export interface MemoryUse {
  readonly most: number
  readonly growth: number
}

/** Looks at the memory of processes until it is ended. */
export function watchMemory(sources: readonly (readonly [string, () => number])[]): {
  end(): Readonly<Record<string, MemoryUse>>
} {
  const uses = sources.map(([name, read]) => {
    const first = read()
    return { name, read, first, most: first }
  })
  const timer = setInterval(() => {
    for (const use of uses) use.most = Math.max(use.most, use.read())
  }, 100)
  return {
    end() {
      clearInterval(timer)
      return Object.fromEntries(
        uses.map(({ name, first, most }) => [name, { most, growth: most - first }]),
      )
    },
  }
}

/** Bytes, as a person reads them. */
export function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`
}
