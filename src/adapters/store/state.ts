// Persistent values without a dedicated table. An unreadable value is an error, never treated as absent.
import type { StateStore } from '../../ports/state.ts'
import type { Database } from './database.ts'
import { toRepositoryKey } from '../../pull-request/repository-key.ts'
import { schemaName } from './migrations.ts'
import { StoreError } from './store-error.ts'
import { splitIntoBatches, toStoredKey, toStoredRows } from './stored-values.ts'

export function openState(database: Database): StateStore {
  return {
    readState: async (space, repository, key) => {
      const [row] = await database.query<{ version: number; value: string }>(
        `SELECT version, value FROM ${schemaName}.state WHERE space = $1 AND repository = $2 AND key = $3`,
        [space.name, toRepositoryKey(repository), toStoredKey(key)],
      )
      if (!row) return undefined
      const description = `the state "${space.name}" of ${toRepositoryKey(repository)}`
      if (row.version > space.version)
        throw new StoreError(
          'too-new',
          `${description} has version ${row.version}, but this version of catalog-bot supports only version ${space.version}`,
        )
      const value = space.read(JSON.parse(row.value), row.version)
      if (value === undefined)
        throw new StoreError(
          'unreadable',
          `${description} is not valid for version ${row.version}: ${toExcerpt(row.value)}`,
        )
      return value
    },

    writeState: (space, repository, values) =>
      database.transaction(async (sql) => {
        for (const part of splitIntoBatches(toStoredRows(values)))
          await sql.query(
            `INSERT INTO ${schemaName}.state (space, repository, key, version, value)
             SELECT $1, $2, row->>'key', $3::integer, row->>'value' FROM json_array_elements($4::json) AS row
             ON CONFLICT (space, repository, key) DO UPDATE SET version = excluded.version, value = excluded.value`,
            [space.name, toRepositoryKey(repository), space.version, JSON.stringify(part)],
          )
      }),

    retainState: async (space, repository, keys) => {
      await database.query(
        `DELETE FROM ${schemaName}.state WHERE space = $1 AND repository = $2
           AND key NOT IN (SELECT json_array_elements_text($3::json))`,
        [space.name, toRepositoryKey(repository), JSON.stringify(keys.map(toStoredKey))],
      )
    },
  }
}

function toExcerpt(value: string): string {
  return value.length <= 200 ? value : `${value.slice(0, 200)}…`
}
