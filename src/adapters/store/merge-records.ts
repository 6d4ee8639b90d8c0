// Records catalog-bot's merges before the push, and settles them afterward.
import { toCommitSha, toPullNumber, type CommitSha } from '../../pull-request/ids.ts'
import { toRepositoryKey } from '../../pull-request/snapshot.ts'
import type { PendingMerge, MergeIntent, MergeRecordStore } from '../../ports/merge-records.ts'
import { type Database, type SqlQueryExecutor, StoreError, toStorableJson } from './database.ts'
import { databaseSchemaName } from './migrations.ts'

interface MergeIntentRow {
  readonly id: number
  readonly fence: number
  readonly landing: PendingMerge
}

export function createMergeRecordStore(database: Database) {
  return { ...createMergeIntentStore(database), ...createMergeIntentQueries(database) }
}

function createMergeIntentStore(database: Database) {
  return {
    startMerge: (lease, pending) =>
      database.transaction(async (sql) => {
        // Locks the row until the intent is written, so that no other instance takes over the lease in between.
        const held = await sql.query(
          `SELECT name FROM ${databaseSchemaName}.lease
           WHERE name = $1 AND fence = $2 AND expires_at > clock_timestamp() FOR UPDATE`,
          [lease.name, lease.fence],
        )
        if (held.length === 0) return undefined
        const [row] = await sql.query<{ id: number }>(
          `INSERT INTO ${databaseSchemaName}.intent (lease, fence, repository, pull, landing)
           VALUES ($1, $2, $3, $4, $5::jsonb) RETURNING id`,
          [
            lease.name,
            lease.fence,
            toRepositoryKey(pending.repository),
            pending.pull,
            toStorableJson(pending),
          ],
        )
        return row && { ...pending, id: row.id, fence: lease.fence }
      }),

    /** Settling again with the same outcome changes nothing, because a process may die before it learns the first. */
    finishMerge: (intent, outcome, commit = intent.commit) =>
      database.transaction(async (sql) => {
        // Serializes settlements of one pull request, so that the check below reports what the index would reject.
        await sql.lock(`landing ${toRepositoryKey(intent.repository)}#${intent.pull}`)
        const [row] = await sql.query<{ outcome: string | null }>(
          `SELECT outcome FROM ${databaseSchemaName}.intent WHERE id = $1 FOR UPDATE`,
          [intent.id],
        )
        if (row?.outcome === outcome) return false
        // The next lease holder gave up this push while it was still on its way, but the branch has it.
        const isLate = row?.outcome === 'abandoned' && outcome === 'landed'
        if (!row || (row.outcome !== null && !isLate))
          throw new StoreError(
            'already-settled',
            `merge intent ${intent.id} is ${row ? String(row.outcome) : 'unknown'}`,
          )
        const ends = outcome === 'landed' ? await decideMergeIntentOutcome(sql, intent, commit) : outcome
        if (row.outcome === ends) return false
        await sql.query(
          `UPDATE ${databaseSchemaName}.intent SET outcome = $2, ended_at = clock_timestamp(),
           landing = landing || jsonb_build_object('commit', $3::text) WHERE id = $1`,
          [intent.id, ends, commit],
        )
        return ends === outcome
      }),
  } satisfies Partial<MergeRecordStore>
}

function createMergeIntentQueries(database: Database) {
  return {
    listPendingMerges: async (repository) => {
      const rows = await database.query<MergeIntentRow>(
        `SELECT id, fence, landing FROM ${databaseSchemaName}.intent WHERE repository = $1 AND outcome IS NULL ORDER BY id`,
        [toRepositoryKey(repository)],
      )
      return rows.map(({ id, fence, landing }) => ({ ...landing, id, fence }))
    },

    listAbandonedMerges: async (repository, pull) => {
      const rows = await database.query<MergeIntentRow>(
        `SELECT id, fence, landing FROM ${databaseSchemaName}.intent
         WHERE repository = $1 AND pull = $2 AND outcome = 'abandoned' ORDER BY id DESC LIMIT 10`,
        [toRepositoryKey(repository), pull],
      )
      return rows.map(({ id, fence, landing }) => ({ ...landing, id, fence }))
    },

    findMerge: async (repository, pull) => {
      const [row] = await database.query<MergeIntentRow>(
        `SELECT id, fence, landing FROM ${databaseSchemaName}.intent WHERE repository = $1 AND pull = $2 AND outcome = 'landed'`,
        [toRepositoryKey(repository), pull],
      )
      return row?.landing
    },

    findPullsOfCommits: async (repository, commits, isPending = false) => {
      const rows = await database.query<{ commit: string; pull: number }>(
        `SELECT landing->>'commit' AS commit, pull FROM ${databaseSchemaName}.intent
         WHERE repository = $1 AND (outcome = 'landed' OR ($3 AND outcome IS NULL)) AND landing->>'commit' = ANY($2::text[])`,
        [toRepositoryKey(repository), commits, isPending],
      )
      return new Map(rows.map(({ commit, pull }) => [toCommitSha(commit), toPullNumber(pull)]))
    },
  } satisfies Partial<MergeRecordStore>
}

/** Another intent for the same commit may have been recorded as the merge. */
async function decideMergeIntentOutcome(
  sql: SqlQueryExecutor,
  { repository, pull }: MergeIntent,
  commit: CommitSha,
): Promise<'landed' | 'abandoned'> {
  const [recorded] = await sql.query<{ commit: string }>(
    `SELECT landing->>'commit' AS commit FROM ${databaseSchemaName}.intent
     WHERE repository = $1 AND pull = $2 AND outcome = 'landed'`,
    [toRepositoryKey(repository), pull],
  )
  if (recorded === undefined) return 'landed'
  if (recorded.commit !== commit)
    throw new StoreError('already-landed', `pull request ${pull} was already merged`)
  return 'abandoned'
}
