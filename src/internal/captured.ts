// One executor for all promises whose functions are read immediately: a closure would be one more object each.
export let capturedResolve: (value: unknown) => void
export let capturedReject: (error: unknown) => void

export function capture(resolve: typeof capturedResolve, reject: typeof capturedReject): void {
  capturedResolve = resolve
  capturedReject = reject
}
