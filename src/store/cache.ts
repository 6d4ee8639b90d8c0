// Facts kept by their content's key. Losing one costs asking again; a value that cannot be read back counts as lost.
import { createHash } from 'node:crypto'
import type { Database } from './database.ts'
import { schema } from './migrations.ts'

/** As many as one statement takes at a time. */
const batch = 1000
/** An index entry has at most about 2700 bytes; longer keys are kept by their digest. */
const longestKey = 500

export function openCache(database: Database) {
  return {
    getCached: async (space: string, keys: readonly string[]): Promise<ReadonlyMap<string, unknown>> => {
      const found = new Map<string, unknown>()
      for (const part of batches([...new Set(keys)])) {
        const asked = new Map(part.map((key) => [storedKey(key), key]))
        const rows = await database.query<{ key: string; value: string }>(
          `SELECT key, value FROM ${schema}.cache
           WHERE space = $1 AND key IN (SELECT json_array_elements_text($2::json))
             AND (expires_at IS NULL OR expires_at > clock_timestamp())`,
          [space, JSON.stringify([...asked.keys()])],
        )
        for (const row of rows) {
          const key = asked.get(row.key)
          if (key !== undefined) found.set(key, JSON.parse(row.value))
        }
      }
      return found
    },

    putCached: async (
      space: string,
      values: ReadonlyMap<string, unknown>,
      ttlSeconds?: number,
    ): Promise<void> => {
      // In one order everywhere, so that two instances that write the same keys do not wait for each other crosswise.
      const rows = [...values]
        .map(([key, value]) => ({ key: storedKey(key), value: JSON.stringify(value ?? null) }))
        .sort((a, b) => (a.key < b.key ? -1 : 1))
      for (const part of batches(rows))
        await database.query(
          `INSERT INTO ${schema}.cache (space, key, value, expires_at)
           SELECT $1, row->>'key', row->>'value', clock_timestamp() + $3::float8 * interval '1 second'
           FROM json_array_elements($2::json) AS row
           ON CONFLICT (space, key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at`,
          [space, JSON.stringify(part), ttlSeconds ?? null],
        )
    },
  }
}

/** JSON's spelling of the key: image references from authors' files may hold what Postgres text cannot (NUL). */
function storedKey(key: string): string {
  const text = JSON.stringify(key)
  return text.length <= longestKey ? text : `sha256:${createHash('sha256').update(text).digest('hex')}`
}

function* batches<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < items.length; at += batch) yield items.slice(at, at + batch)
}
