// How values lie in the tables of state and cache: keys and values as JSON's text, many rows in one statement.
import { createHash } from 'node:crypto'

/** As many as one statement takes at a time. */
const batch = 1000
/** An index entry has at most about 2700 bytes; longer keys are kept by their digest. */
const longestKey = 500

/** JSON's spelling of the key: image references from authors' files may hold what Postgres text cannot (NUL). */
export function storedKey(key: string): string {
  const text = JSON.stringify(key)
  return text.length <= longestKey ? text : `sha256:${createHash('sha256').update(text).digest('hex')}`
}

/** In one order everywhere, so that two instances that write the same keys do not wait for each other crosswise. */
export function storedRows(values: ReadonlyMap<string, unknown>) {
  return [...values]
    .map(([key, value]) => ({ key: storedKey(key), value: JSON.stringify(value ?? null) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
}

export function* batches<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < items.length; at += batch) yield items.slice(at, at + batch)
}
