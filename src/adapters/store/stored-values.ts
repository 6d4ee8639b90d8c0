// Stores keys and values of state and cache as JSON text, with many rows per statement.
import { createHash } from 'node:crypto'

const maxBatchRows = 1000
/** An index entry is limited to about 2700 bytes; longer keys are stored as their digest. */
const maxStoredKeyLength = 500

/** JSON text, because untrusted image references may hold characters that Postgres rejects (NUL). */
export function toStoredKey(key: string): string {
  const text = JSON.stringify(key)
  return text.length <= maxStoredKeyLength
    ? text
    : `sha256:${createHash('sha256').update(text).digest('hex')}`
}

/** Sorted, so that two instances that write the same keys cannot deadlock. */
export function toStoredRows(values: ReadonlyMap<string, unknown>) {
  return [...values]
    .map(([key, value]) => ({ key: toStoredKey(key), value: JSON.stringify(value ?? null) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
}

export function* splitIntoBatches<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < items.length; at += maxBatchRows) yield items.slice(at, at + maxBatchRows)
}
