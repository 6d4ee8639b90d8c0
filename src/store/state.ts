// Persistent values without a table of their own. An unreadable value is an error, never treated as absent.
import type { State } from '../ports/state.ts'
import type { Database } from './database.ts'
import { repositoryKey } from '../change/repository-key.ts'
import { schema } from './migrations.ts'
import { StoreError } from './store-error.ts'
import { batches, storedKey, storedRows } from './stored-values.ts'

export function openState(database: Database): State {
  return {
    readState: async (space, repository, key) => {
      const [row] = await database.query<{ version: number; value: string }>(
        `SELECT version, value FROM ${schema}.state WHERE space = $1 AND repository = $2 AND key = $3`,
        [space.name, repositoryKey(repository), storedKey(key)],
      )
      if (!row) return undefined
      const what = `the state "${space.name}" of ${repositoryKey(repository)}`
      if (row.version > space.version)
        throw new StoreError(
          'too-new',
          `${what} has version ${row.version}, this program knows ${space.version}`,
        )
      const value = space.read(JSON.parse(row.value), row.version)
      if (value === undefined)
        throw new StoreError('unreadable', `${what} is none of version ${row.version}: ${shown(row.value)}`)
      return value
    },

    writeState: (space, repository, values) =>
      database.transaction(async (sql) => {
        for (const part of batches(storedRows(values)))
          await sql.query(
            `INSERT INTO ${schema}.state (space, repository, key, version, value)
             SELECT $1, $2, row->>'key', $3::integer, row->>'value' FROM json_array_elements($4::json) AS row
             ON CONFLICT (space, repository, key) DO UPDATE SET version = excluded.version, value = excluded.value`,
            [space.name, repositoryKey(repository), space.version, JSON.stringify(part)],
          )
      }),

    retainState: async (space, repository, keys) => {
      await database.query(
        `DELETE FROM ${schema}.state WHERE space = $1 AND repository = $2
           AND key NOT IN (SELECT json_array_elements_text($3::json))`,
        [space.name, repositoryKey(repository), JSON.stringify(keys.map(storedKey))],
      )
    },
  }
}

function shown(value: string): string {
  return value.length <= 200 ? value : `${value.slice(0, 200)}…`
}
