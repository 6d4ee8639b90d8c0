// State that must survive the process and has no dedicated table. Losing it loses owed work or repeats a message. It
// has no expiry.
import type { RepositoryName } from '../change/snapshot.ts'

/** Declared once by `defineState`. Values are JSON. */
export interface StateNamespace<Value> {
  readonly kind: 'state'
  readonly name: string
  readonly version: number
  readonly read: (stored: unknown, version: number) => Value | undefined
}

/**
 * Declares a kind of state. `name` identifies its rows; don't reuse it. Raise `version` when the shape changes. `read`
 * converts values of this or an earlier version; undefined means invalid.
 */
export function defineState<Value>(
  name: string,
  { version, read }: Pick<StateNamespace<Value>, 'version' | 'read'>,
): StateNamespace<Value> {
  return { kind: 'state', name, version, read }
}

export interface StateStore {
  /** Undefined: no value. Rejects for an unreadable value, because continuing without it would lose it. */
  readState<Value>(
    space: StateNamespace<Value>,
    repository: RepositoryName,
    key: string,
  ): Promise<Value | undefined>
  /** Writes all of these or none. */
  writeState<Value>(
    space: StateNamespace<Value>,
    repository: RepositoryName,
    values: ReadonlyMap<string, NoInfer<Value>>,
  ): Promise<void>
  /** Deletes the repository's values in this space, except those under these keys. */
  retainState(
    space: StateNamespace<unknown>,
    repository: RepositoryName,
    keys: readonly string[],
  ): Promise<void>
}
