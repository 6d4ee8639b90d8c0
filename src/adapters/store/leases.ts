// Leases with fencing tokens. Uses the database's time, so that instances with different clocks agree.
import type { Leases } from '../../ports/leases.ts'
import type { Database } from './database.ts'
import { schemaName } from './migrations.ts'

export function openLeases(database: Database): Leases {
  return {
    acquireLease: async (name, seconds) => {
      const [row] = await database.query<{ fence: number }>(
        `INSERT INTO ${schemaName}.lease AS lease (name, fence, expires_at)
         VALUES ($1, 1, clock_timestamp() + $2::float8 * interval '1 second')
         ON CONFLICT (name) DO UPDATE SET fence = lease.fence + 1, expires_at = excluded.expires_at
         WHERE lease.expires_at IS NULL OR lease.expires_at <= clock_timestamp()
         RETURNING fence`,
        [name, seconds],
      )
      return row && { name, fence: row.fence }
    },
    // An expired lease that no other instance took is still ours: its fence is the newest.
    renewLease: async ({ name, fence }, seconds) => {
      const rows = await database.query(
        `UPDATE ${schemaName}.lease SET expires_at = clock_timestamp() + $3::float8 * interval '1 second'
         WHERE name = $1 AND fence = $2 AND expires_at IS NOT NULL RETURNING name`,
        [name, fence, seconds],
      )
      return rows.length === 1
    },
    releaseLease: async ({ name, fence }) => {
      await database.query(
        `UPDATE ${schemaName}.lease SET expires_at = NULL WHERE name = $1 AND fence = $2`,
        [name, fence],
      )
    },
  }
}

/** Releases all leases when the only process starts, because their holders are dead. Fences keep growing. */
export async function releaseAllLeases(database: Database): Promise<void> {
  await database.query(`UPDATE ${schemaName}.lease SET expires_at = NULL WHERE expires_at IS NOT NULL`)
}
