// Facts by content key. A lost or unreadable value only costs another request.
import type { Cache, CacheNamespace } from '../../ports/cache.ts'
import type { Database } from './database.ts'
import { schemaName } from './migrations.ts'
import { splitIntoBatches, toStoredKey, toStoredRows } from './stored-values.ts'

export function openCache(database: Database): Cache {
  return {
    getCached: async <Value>(space: CacheNamespace<Value>, keys: readonly string[]) => {
      const found = new Map<string, Value>()
      for (const part of splitIntoBatches([...new Set(keys)])) {
        const asked = new Map(part.map((key) => [toStoredKey(key), key]))
        const rows = await database.query<{ key: string; value: string }>(
          `SELECT key, value FROM ${schemaName}.cache
           WHERE space = $1 AND key IN (SELECT json_array_elements_text($2::json))
             AND (expires_at IS NULL OR expires_at > clock_timestamp())`,
          [space.name, JSON.stringify([...asked.keys()])],
        )
        for (const row of rows) {
          const key = asked.get(row.key)
          const value = space.read(JSON.parse(row.value))
          if (key !== undefined && value !== undefined) found.set(key, value)
        }
      }
      return found
    },

    putCached: async (space, values, seconds) => {
      for (const part of splitIntoBatches(toStoredRows(values)))
        await database.query(
          `INSERT INTO ${schemaName}.cache (space, key, value, expires_at)
           SELECT $1, row->>'key', row->>'value', clock_timestamp() + $3::float8 * interval '1 second'
           FROM json_array_elements($2::json) AS row
           ON CONFLICT (space, key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at`,
          [space.name, JSON.stringify(part), seconds],
        )
    },
  }
}
