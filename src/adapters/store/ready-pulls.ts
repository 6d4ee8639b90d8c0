import { toPullNumber } from '../../pull-request/ids.ts'
import type { PullSnapshot } from '../../pull-request/snapshot.ts'
import type { ReadyPulls } from '../../ports/ready-pulls.ts'
import type { Database } from './database.ts'
import { toRepositoryKey } from '../../pull-request/repository-key.ts'
import { schemaName } from './migrations.ts'
import { toStorableJson } from './storable-text.ts'

export function openReadyPulls(database: Database): ReadyPulls {
  return {
    putReady: async (snapshot) => {
      const { repository, baseRef, pull } = snapshot
      // A waiting pull request keeps its place unless its target branch changed.
      await database.query(
        `INSERT INTO ${schemaName}.ready_pull AS ready (repository, branch, pull, snapshot)
         VALUES ($1, $2, $3, $4::jsonb)
         ON CONFLICT (repository, pull) DO UPDATE SET branch = excluded.branch, snapshot = excluded.snapshot,
           ready_at = CASE WHEN ready.branch = excluded.branch THEN ready.ready_at ELSE excluded.ready_at END`,
        [toRepositoryKey(repository), baseRef, pull, toStorableJson(snapshot)],
      )
    },

    readyPulls: async (repository, branch) => {
      const rows = await database.query<{ pull: number; snapshot: PullSnapshot; at: number }>(
        `SELECT pull, snapshot, extract(epoch FROM ready_at)::float8 * 1000 AS at FROM ${schemaName}.ready_pull
         WHERE repository = $1 AND branch = $2 ORDER BY ready_at, pull`,
        [toRepositoryKey(repository), branch],
      )
      return rows.map(({ pull, snapshot, at }) => ({ pull: toPullNumber(pull), snapshot, readyAt: at }))
    },

    dropReady: async (repository, pulls) => {
      await database.query(
        `DELETE FROM ${schemaName}.ready_pull
         WHERE repository = $1 AND pull IN (SELECT json_array_elements_text($2::json)::integer)`,
        [toRepositoryKey(repository), JSON.stringify(pulls)],
      )
    },
  }
}
