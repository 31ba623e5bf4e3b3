/** A typed value that middleware provides to handlers and to middleware further in. */
export interface ContextValue<TValue> {
  /** The metadata that carries a value: `next({ metadata: tenant.provide(value) })`. */
  provide(value: TValue): Readonly<Record<string, unknown>>
  /** The value that was provided for a call. Throws an `Error` if there is none. */
  read(context: { readonly metadata?: Readonly<Record<string, unknown>> | undefined }): TValue
}

/**
 * Defines a value that middleware provides and handlers read, with its type.
 *
 * Remote callers cannot set it: its key is a symbol, which is never sent. The name is for messages.
 */
export function defineContextValue<TValue>(name: string): ContextValue<TValue> {
  const key = Symbol(name)
  return {
    provide: (value) => ({ [key]: value }),
    read({ metadata }) {
      if (metadata !== undefined && Object.hasOwn(metadata, key)) {
        return (metadata as Readonly<Record<symbol, unknown>>)[key] as TValue
      }
      throw new Error(
        `The context value "${name}" was not provided. Use a middleware for this operation that calls next({ metadata: value.provide(…) }).`,
      )
    },
  }
}
