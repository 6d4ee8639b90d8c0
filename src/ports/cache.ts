// A cache whose values can be lost at any time, at the cost of another request. Durable records belong in State.
import type { ZodType } from 'zod'

/** A kind of cached value, declared once with `defineCacheNamespace`. Values are JSON. */
export interface CacheNamespace<Value> {
  readonly kind: 'cache'
  /** Name and version. Values of other versions are never read. */
  readonly name: string
  readonly read: (stored: unknown) => Value | undefined
}

/**
 * Declares a kind of cached value. Increment `version` when the shape or the meaning changes. `read` is a schema or a function. A
 * value that does not match the schema, or for which the function returns undefined, counts as lost.
 */
export function defineCacheNamespace<Value>(
  name: string,
  version: number | string,
  read: CacheNamespace<Value>['read'] | ZodType<Value>,
): CacheNamespace<Value> {
  const parse = typeof read === 'function' ? read : (stored: unknown) => read.safeParse(stored).data
  return { kind: 'cache', name: `${name} ${version}`, read: parse }
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
