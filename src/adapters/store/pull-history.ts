import { toUserId, type UserId } from '../../pull-request/ids.ts'
import type { ApprovalCoverage } from '../../checks/ownership/approvals.ts'
import type { CommandRecord } from '../../policy/command-records.ts'
import type { ReportedPullHead } from '../../policy/commands.ts'
import type { PullHistoryStore, RecordedHeadPush } from '../../ports/pull-history.ts'
import { type Database, queryRecords } from './database.ts'
import { type GitHubAccount, toRepositoryKey } from '../../pull-request/snapshot.ts'
import { databaseSchemaName } from './migrations.ts'
import type { VerdictStore } from '../../ports/status-page-store.ts'

export function createDatabasePullRequestHistoryStore(database: Database): Required<PullHistoryStore> {
  return {
    ...createReportedPullHeadStore(database),
    ...createApprovalStore(database),
    ...createCommandRecordStore(database),
    ...createAccountActivityStore(database),
  }
}

/** The heads that comments refer to. */
function createReportedPullHeadStore(database: Database) {
  return {
    observe: (repository, pull, { head, baseRef, config }) =>
      database.transaction(async (sql) => {
        const key = toRepositoryKey(repository)
        // Two concurrent checks must not both begin an epoch.
        await sql.lock(`epoch ${key}#${pull}`)
        const [last] = await sql.query<{ epoch: number; head: string; base_ref: string; config: string }>(
          `SELECT epoch, head, base_ref, config FROM ${databaseSchemaName}.epoch
           WHERE repository = $1 AND pull = $2 ORDER BY epoch DESC LIMIT 1`,
          [key, pull],
        )
        if (last && last.head === head && last.base_ref === baseRef && last.config === config)
          return last.epoch
        const epoch = last ? last.epoch + 1 : 0
        await sql.query(
          `INSERT INTO ${databaseSchemaName}.epoch (repository, pull, epoch, head, base_ref, config) VALUES ($1, $2, $3, $4, $5, $6)`,
          [key, pull, epoch, head, baseRef, config],
        )
        return epoch
      }),

    recordShown: async (repository, pull, { head, epoch, at, change }) => {
      // The first time counts: showing a head again does not make older comments stale.
      await database.query(
        `INSERT INTO ${databaseSchemaName}.shown_head (repository, pull, epoch, head, change, at)
         SELECT $1::text, $2::integer, $3::integer, $4::text, $5::text, $6::text
         WHERE NOT EXISTS (
           SELECT 1 FROM (
             SELECT epoch, head, change FROM ${databaseSchemaName}.shown_head
             WHERE repository = $1::text AND pull = $2::integer ORDER BY seq DESC LIMIT 1
           ) AS last
           WHERE last.epoch = $3::integer AND last.head = $4::text AND last.change IS NOT DISTINCT FROM $5::text
         )`,
        [toRepositoryKey(repository), pull, epoch, head, change ?? null, at],
      )
    },

    shownHeads: (repository, pull) =>
      queryRecords<ReportedPullHead>(
        database,
        `SELECT epoch, head, at, change FROM ${databaseSchemaName}.shown_head WHERE repository = $1 AND pull = $2 ORDER BY seq`,
        [toRepositoryKey(repository), pull],
      ),
  } satisfies Partial<PullHistoryStore>
}

/** What approvals covered, and when each was first seen. */
function createApprovalStore(database: Database) {
  return {
    recordChange: async (repository, pull, { id, covers }) => {
      await database.query(
        `INSERT INTO ${databaseSchemaName}.described_change (repository, pull, id, covers) VALUES ($1, $2, $3, $4)
         ON CONFLICT DO NOTHING`,
        [toRepositoryKey(repository), pull, id, JSON.stringify([...covers])],
      )
    },

    readChanges: async (repository, pull, ids) => {
      const stored = new Map<string, ApprovalCoverage>()
      for (const id of new Set(ids)) {
        const [row] = await database.query<{ covers: string }>(
          `SELECT covers FROM ${databaseSchemaName}.described_change WHERE repository = $1 AND pull = $2 AND id = $3`,
          [toRepositoryKey(repository), pull, id],
        )
        if (row) stored.set(id, new Map(JSON.parse(row.covers) as [string, string][]))
      }
      return stored
    },

    firstSeenApprovals: (repository, pull, approvals) =>
      database.transaction(async (sql) => {
        const key = toRepositoryKey(repository)
        for (const [review, change] of approvals)
          await sql.query(
            `INSERT INTO ${databaseSchemaName}.approval_seen (repository, pull, review, change) VALUES ($1, $2, $3::float8, $4)
             ON CONFLICT DO NOTHING`,
            [key, pull, review, change],
          )
        const rows = await sql.query<{ review: number; change: string }>(
          `SELECT review, change FROM ${databaseSchemaName}.approval_seen WHERE repository = $1 AND pull = $2`,
          [key, pull],
        )
        return new Map(rows.map(({ review, change }) => [review, change]))
      }),
  } satisfies Partial<PullHistoryStore>
}

function createCommandRecordStore(database: Database) {
  return {
    recordCommand: async (repository, pull, record) => {
      const { covers, ...rest } = record
      const added = await database.query(
        `INSERT INTO ${databaseSchemaName}.command (repository, pull, comment, record) VALUES ($1, $2, $3::float8, $4)
         ON CONFLICT DO NOTHING RETURNING comment`,
        [
          toRepositoryKey(repository),
          pull,
          record.comment,
          JSON.stringify({ ...rest, ...(covers && { covers: [...covers] }) }),
        ],
      )
      return added.length === 0 ? 'duplicate' : 'new'
    },

    commands: async (repository, pull) => {
      const rows = await database.query<{ record: string }>(
        `SELECT record FROM ${databaseSchemaName}.command WHERE repository = $1 AND pull = $2 ORDER BY comment`,
        [toRepositoryKey(repository), pull],
      )
      return rows.map(({ record }) => {
        const { covers, ...rest } = JSON.parse(record) as Omit<CommandRecord, 'covers'> & {
          covers?: [string, string][]
        }
        return { ...rest, ...(covers && { covers: new Map(covers) }) }
      })
    },

    recentCommands: async (repository) => {
      const rows = await database.query<{ record: string }>(
        `SELECT record FROM ${databaseSchemaName}.command
         WHERE repository = $1 AND recorded_at > clock_timestamp() - interval '1 hour'`,
        [toRepositoryKey(repository)],
      )
      const counts = new Map<number, number>()
      for (const { record } of rows) {
        const { user } = JSON.parse(record) as Pick<CommandRecord, 'user'>
        counts.set(user, (counts.get(user) ?? 0) + 1)
      }
      return counts
    },
  } satisfies Partial<PullHistoryStore>
}

function createAccountActivityStore(database: Database) {
  return {
    firstSeenReviews: (repository, pull, epoch, reviews) =>
      database.transaction(async (sql) => {
        const key = toRepositoryKey(repository)
        for (const review of reviews)
          await sql.query(
            `INSERT INTO ${databaseSchemaName}.review_seen (repository, pull, review, epoch) VALUES ($1, $2, $3::float8, $4)
             ON CONFLICT DO NOTHING`,
            [key, pull, review, epoch],
          )
        const rows = await sql.query<{ review: number; epoch: number }>(
          `SELECT review, epoch FROM ${databaseSchemaName}.review_seen WHERE repository = $1 AND pull = $2`,
          [key, pull],
        )
        const ids = new Set(reviews)
        return new Map(
          rows.filter(({ review }) => ids.has(review)).map(({ review, epoch: first }) => [review, first]),
        )
      }),

    firstSeenAccounts: (repository, accounts) =>
      database.transaction(async (sql) => {
        const key = toRepositoryKey(repository)
        for (const [login, id] of accounts)
          await sql.query(
            `INSERT INTO ${databaseSchemaName}.account (repository, login, id) VALUES ($1, $2, $3::float8) ON CONFLICT DO NOTHING`,
            [key, login.toLowerCase(), id],
          )
        const rows = await sql.query<{ login: string; id: number }>(
          `SELECT login, id FROM ${databaseSchemaName}.account WHERE repository = $1`,
          [key],
        )
        return new Map(rows.map(({ login, id }): [string, UserId] => [login, toUserId(id)]))
      }),

    listPushers: (repository, pull, head) =>
      database.query<GitHubAccount>(
        `SELECT pusher AS id, login, kind FROM ${databaseSchemaName}.push_seen
         WHERE repository = $1 AND pull = $2 AND head = $3 ORDER BY seen_at, pusher`,
        [toRepositoryKey(repository), pull, head],
      ),

    hasSeenPushes: async (repository, pull) => {
      const [row] = await database.query<{ seen: boolean }>(
        `SELECT EXISTS (SELECT 1 FROM ${databaseSchemaName}.push_seen WHERE repository = $1 AND pull = $2) AS seen`,
        [toRepositoryKey(repository), pull],
      )
      return row?.seen === true
    },
  } satisfies Partial<PullHistoryStore>
}

/** Records who pushed a head, in the delivery's transaction. Idempotent. */
export async function recordHeadPush(
  sql: Pick<Database, 'query'>,
  { repository, pull, head, pusher }: RecordedHeadPush,
): Promise<void> {
  await sql.query(
    `INSERT INTO ${databaseSchemaName}.push_seen (repository, pull, head, pusher, login, kind)
     VALUES ($1, $2, $3, $4::float8, $5, $6) ON CONFLICT DO NOTHING`,
    [toRepositoryKey(repository), pull, head, pusher.id, pusher.login, pusher.kind],
  )
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

    verdictReport: async (repository, pull, of) => {
      const [row] = await database.query<{ report: string; decided_at: number }>(
        `SELECT report, decided_at FROM ${databaseSchemaName}.verdict WHERE repository = $1 AND pull = $2
           AND ($3::text IS NULL OR (head = $3 AND base = $4 AND config = $5))
         ORDER BY decided_at DESC LIMIT 1`,
        [toRepositoryKey(repository), pull, of?.head ?? null, of?.base ?? null, of?.config ?? null],
      )
      return row && { report: JSON.parse(row.report) as unknown, decidedAt: row.decided_at }
    },
  }
}
