// State: what must survive the process and has no table of its own. Losing it would lose work that is owed, or say
// something twice. It has no expiry: whoever writes it says when it is of no use any more.
import type { RepositoryName } from '../change/snapshot.ts'

/** A kind of state, declared once for all that use it, by `defineState`. Values are JSON. */
export interface StateSpace<Value> {
  readonly kind: 'state'
  readonly name: string
  readonly version: number
  readonly read: (stored: unknown, version: number) => Value | undefined
}

/**
 * Declares a kind of state. `name` is what its rows are found by: it is never used for anything else. `version` is
 * raised when the shape changes; `read` makes a value of what was stored under this or an earlier version, and says
 * undefined of what is none.
 */
export function defineState<Value>(
  name: string,
  { version, read }: Pick<StateSpace<Value>, 'version' | 'read'>,
): StateSpace<Value> {
  return { kind: 'state', name, version, read }
}

export interface State {
  /**
   * A repository's state under a key; undefined when there is none. Rejects when there is one that this program cannot
   * read: to go on as if there were none would lose it.
   */
  readState<Value>(
    space: StateSpace<Value>,
    repository: RepositoryName,
    key: string,
  ): Promise<Value | undefined>
  /** All of these or, where it fails, none of them. */
  writeState<Value>(
    space: StateSpace<Value>,
    repository: RepositoryName,
    values: ReadonlyMap<string, NoInfer<Value>>,
  ): Promise<void>
  /** Forgets what the repository has in this space, except for what is under these keys. */
  retainState(space: StateSpace<unknown>, repository: RepositoryName, keys: readonly string[]): Promise<void>
}
