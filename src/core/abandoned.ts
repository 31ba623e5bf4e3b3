/** Handlers that run although their call has ended, by the error that it ended with. */
const abandoned = new WeakMap<object, Promise<unknown>>()

/** Notes that a call ended with an error while its handler runs. */
export function noteAbandoned(error: object, handler: Promise<unknown>): void {
  abandoned.set(error, handler)
}

/** The handler that still runs behind the error of its call; `undefined` if there is none. */
export function abandonedBy(error: unknown): Promise<unknown> | undefined {
  return typeof error === "object" && error !== null ? abandoned.get(error) : undefined
}
