// Memoization is the only state that pure code may keep: a stored value depends only on what it was computed from.

/** Computes the value on first use. */
export function memoizeOnce<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}

/** The value of the key, which `make` creates if the map does not have it. */
export function getOrCreate<Key, Value>(map: Map<Key, Value>, key: Key, make: () => NoInfer<Value>): Value {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}

/** Recomputes the value only if one of the arguments differs from the last call. */
export function memoizeLastResult<Given extends object, Value>(
  parts: readonly (keyof Given)[],
  make: (given: Given) => Value,
): (given: Given) => Value {
  let last: { readonly given: Given; readonly value: Value } | undefined
  return (given) => {
    if (!last || parts.some((part) => last?.given[part] !== given[part])) last = { given, value: make(given) }
    return last.value
  }
}

/**
 * Computes the value once per object and keeps it as long as the object exists. Use it only for immutable objects, such as a catalog
 * or a file that many pull requests share.
 */
export function memoizePerObject<Key extends object, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const made = new WeakMap<Key, { readonly value: Value }>()
  return (key) => {
    const known = made.get(key)
    if (known) return known.value
    const value = make(key)
    made.set(key, { value })
    return value
  }
}
