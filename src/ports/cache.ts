// The cache: what may be lost at any moment at the price of asking again. Nothing that was done, said or promised
// belongs here; that is State, and the types of the two do not fit each other.

/** A kind of cached value, declared once for all that use it, by `defineCache`. Values are JSON. */
export interface CacheSpace<Value> {
  readonly kind: 'cache'
  /** Name and version: what an older version kept is never looked at again. */
  readonly name: string
  readonly read: (stored: unknown) => Value | undefined
}

/**
 * Declares a kind of cached value. `version` is raised when the shape or the meaning changes. `read` says undefined of
 * what is no such value: it counts as lost.
 */
export function defineCache<Value>(
  name: string,
  { version, read }: { readonly version: number | string; readonly read: CacheSpace<Value>['read'] },
): CacheSpace<Value> {
  return { kind: 'cache', name: `${name} ${version}`, read }
}

export interface Cache {
  /** What is there under these keys and has not expired. */
  getCached<Value>(space: CacheSpace<Value>, keys: readonly string[]): Promise<ReadonlyMap<string, Value>>
  putCached<Value>(
    space: CacheSpace<Value>,
    values: ReadonlyMap<string, NoInfer<Value>>,
    seconds: number,
  ): Promise<void>
}
