// A cache whose values can be lost at any time, at the cost of another request. Durable records belong in State.

/** A kind of cached value, declared once with `defineCacheNamespace`. Values are JSON. */
export interface CacheNamespace<Value> {
  readonly kind: 'cache'
  /** Name and version. Values of other versions are never read. */
  readonly name: string
  readonly read: (stored: unknown) => Value | undefined
}

/**
 * Declares a kind of cached value. Increment `version` when the shape or the meaning changes. A value for which `read` returns
 * undefined counts as lost.
 */
export function defineCacheNamespace<Value>(
  name: string,
  { version, read }: { readonly version: number | string; readonly read: CacheNamespace<Value>['read'] },
): CacheNamespace<Value> {
  return { kind: 'cache', name: `${name} ${version}`, read }
}

export interface Cache {
  /** The unexpired values under these keys. */
  getCached<Value>(space: CacheNamespace<Value>, keys: readonly string[]): Promise<ReadonlyMap<string, Value>>
  putCached<Value>(
    space: CacheNamespace<Value>,
    values: ReadonlyMap<string, NoInfer<Value>>,
    seconds: number,
  ): Promise<void>
}
