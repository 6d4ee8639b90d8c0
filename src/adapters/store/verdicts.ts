// Past verdicts, only for display. No decision depends on them.
import { toCommitSha } from '../../pull-request/ids.ts'
import type { VerdictStore } from '../../ports/verdicts.ts'
import type { Database } from './database.ts'
import { toRepositoryKey } from '../../pull-request/snapshot.ts'
import { databaseSchemaName } from './migrations.ts'

interface VerdictRow {
  readonly owner: string
  readonly name: string
  readonly head: string
  readonly base: string
  readonly config: string
  readonly verdict: string
  readonly report: string
  readonly decided_at: number
}

export function createVerdictStore(database: Database): VerdictStore {
  return {
    recordVerdict: async (record) => {
      const { repository, pull, head, base, config, verdict, report, decidedAt } = record
      await database.query(
        `INSERT INTO ${databaseSchemaName}.verdict
           (repository, pull, head, base, config, owner_as_written, name_as_written, verdict, report, decided_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::float8)
         ON CONFLICT (repository, pull, head, base, config)
         DO UPDATE SET verdict = excluded.verdict, report = excluded.report, decided_at = excluded.decided_at`,
        [
          toRepositoryKey(repository),
          pull,
          head,
          base,
          config,
          repository.owner,
          repository.name,
          verdict,
          JSON.stringify(report ?? null),
          decidedAt,
        ],
      )
    },

    verdicts: async (repository, pull) => {
      const rows = await database.query<VerdictRow>(
        `SELECT owner_as_written AS owner, name_as_written AS name, head, base, config, verdict, report, decided_at
         FROM ${databaseSchemaName}.verdict WHERE repository = $1 AND pull = $2 ORDER BY decided_at DESC, head`,
        [toRepositoryKey(repository), pull],
      )
      return rows.map((row) => ({
        repository: { owner: row.owner, name: row.name },
        pull,
        head: toCommitSha(row.head),
        base: toCommitSha(row.base),
        config: row.config,
        verdict: row.verdict,
        report: JSON.parse(row.report) as unknown,
        decidedAt: row.decided_at,
      }))
    },
  }
}
