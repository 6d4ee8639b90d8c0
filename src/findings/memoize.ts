// What is worked out once. The only memory that pure code has: a value that depends on another one alone.

/** Works out its value when it is first asked for. */
export function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}

/** Works out its value again only when one of these parts is another than the last time. */
export function memoizeLast<Given extends object, Value>(
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
 * Works out its value once for each object, and keeps it as long as that object. For objects that nobody changes: the same
 * catalog, or the same file of it, stands under many pull requests.
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
