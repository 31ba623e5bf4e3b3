/** A function whose result for an object is kept as long as the object. */
export function perObject<TKey extends object, TValue>(
  make: (key: TKey) => TValue,
): (key: TKey) => TValue {
  const kept = new WeakMap<TKey, { readonly value: TValue }>()
  return (key) => {
    let entry = kept.get(key)
    if (entry === undefined) kept.set(key, (entry = { value: make(key) }))
    return entry.value
  }
}

/** The names of an object, listed once: it may have a million of them. */
export const namesOf: (value: object) => readonly string[] = perObject((value) =>
  Object.keys(value),
)
