// State without its own table that must outlive the process and does not expire.
import type { ZodType } from 'zod'
import type { RepositoryName } from '../pull-request/snapshot.ts'

/** A kind of state, declared once with `defineStateNamespace`. Values are JSON. */
export interface StateNamespace<Value> {
  readonly kind: 'state'
  readonly name: string
  readonly version: number
  readonly read: (stored: unknown, version: number) => Value | undefined
}

/**
 * Declares a kind of state. `name` identifies its rows and must not be reused. Increment `version` when the shape changes. `read`
 * is a schema, or converts values of this or an earlier version and returns undefined for an invalid one.
 */
export function defineStateNamespace<Value>(
  name: string,
  version: number,
  read: StateNamespace<Value>['read'] | ZodType<Value>,
): StateNamespace<Value> {
  const parse = typeof read === 'function' ? read : (stored: unknown) => read.safeParse(stored).data
  return { kind: 'state', name, version, read: parse }
}

export interface StateStore {
  /** Undefined if there is no value. Rejects if the value is unreadable, because continuing without it would lose it. */
  readState<Value>(
    space: StateNamespace<Value>,
    repository: RepositoryName,
    key: string,
  ): Promise<Value | undefined>
  /** Writes all of these values or none. */
  writeState<Value>(
    space: StateNamespace<Value>,
    repository: RepositoryName,
    values: ReadonlyMap<string, NoInfer<Value>>,
  ): Promise<void>
  /** Deletes the repository's values in this space, except those with these keys. */
  retainState(
    space: StateNamespace<unknown>,
    repository: RepositoryName,
    keys: readonly string[],
  ): Promise<void>
}

export function writeStateValue<Value>(
  store: Pick<StateStore, 'writeState'>,
  space: StateNamespace<Value>,
  repository: RepositoryName,
  key: string,
  value: NoInfer<Value>,
): Promise<void> {
  return store.writeState(space, repository, new Map([[key, value]]))
}
