/** Samples the memory of processes until it is stopped; returns the maximum of each in bytes. */
export function watchMemory(sources: readonly (readonly [string, () => number])[]): {
  readonly end: () => Readonly<Record<string, number>>
} {
  const uses = sources.map(([name, read]) => ({ name, read, most: read() }))
  const timer = setInterval(() => {
    for (const use of uses) use.most = Math.max(use.most, use.read())
  }, 50)
  return {
    end: () => {
      clearInterval(timer)
      return Object.fromEntries(uses.map(({ name, most }) => [name, most]))
    },
  }
}

/** Bytes, as a person reads them. */
export function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`
}
