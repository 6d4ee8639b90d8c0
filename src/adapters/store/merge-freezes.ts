import { toCommitSha, toPullNumber, type PullNumber } from '../../pull-request/ids.ts'
import { type RepositoryName, toRepositoryKey } from '../../pull-request/snapshot.ts'
import type {
  MergeFreeze,
  FreezeAuthor,
  FreezeEvent,
  FreezeKind,
  FreezeScope,
  FreezeRequest,
} from '../../policy/merge-freeze.ts'
import { type Database, type SqlQueryExecutor, type Transaction, toStorableText } from './database.ts'
import { databaseSchemaName } from './migrations.ts'
import type { MergeFreezeStore, RejectedPullRecord, UnfreezeRequest } from '../../ports/merge-records.ts'

interface FreezeRow {
  readonly branch: string
  readonly owner: string
  readonly name: string
  readonly kind: FreezeKind
  readonly reason: string
  readonly made_by: string
  readonly pull: number | null
  readonly cause: string | null
  readonly try_again_at: number | null
  readonly rules: string | null
  readonly since: number
  readonly times: number
}

interface FreezeEventRow extends Pick<FreezeRow, 'branch' | 'kind' | 'reason' | 'made_by'> {
  readonly step: FreezeEvent['step']
  readonly at: number
}

const freezeSqlColumns = `branch, owner_as_written AS owner, name_as_written AS name, kind, reason, made_by, pull, cause,
  try_again_at, rules, (extract(epoch FROM since) * 1000)::double precision AS since, times`

/** Means all branches, because a branch name cannot be empty. */
const allBranchesKey = ''

export function createMergeFreezeStore(database: Database): MergeFreezeStore {
  return {
    ...createFreezeAndEventStore(database),
    ...createRejectedPullStore(database),
  }
}

function createFreezeAndEventStore(
  database: Database,
): Pick<
  MergeFreezeStore,
  'freezeMerges' | 'unfreezeMerges' | 'allowMergeAttempt' | 'listFreezes' | 'listFreezeEvents'
> {
  return {
    freezeMerges: (order) => database.transaction((sql) => insertFreeze(sql, order)),

    unfreezeMerges: (request) => database.transaction((sql) => deleteFreezes(sql, request)),

    allowMergeAttempt: async ({ repository, branch }) => {
      await database.query(
        `UPDATE ${databaseSchemaName}.stop SET try_again_at = 0 WHERE repository = $1 AND branch = $2 AND kind = 'refused'`,
        [toRepositoryKey(repository), branch],
      )
    },

    listFreezes: async (repository) => {
      const rows = await database.query<FreezeRow>(
        `SELECT ${freezeSqlColumns} FROM ${databaseSchemaName}.stop WHERE $1::text IS NULL OR repository = $1
         ORDER BY stop.since, repository, branch, kind`,
        [repository === undefined ? null : toRepositoryKey(repository)],
      )
      return rows.map(toMergeFreeze)
    },

    listFreezeEvents: async (repository, limit) => {
      const rows = await database.query<FreezeEventRow>(
        `SELECT step, branch, kind, reason, made_by, (extract(epoch FROM at) * 1000)::double precision AS at
         FROM ${databaseSchemaName}.stop_event WHERE repository = $1 ORDER BY id DESC LIMIT $2`,
        [toRepositoryKey(repository), limit],
      )
      return rows.map(({ step, branch, kind, reason, made_by, at }) => ({
        repository,
        ...toBranchFreezeScope(branch),
        step,
        kind,
        reason,
        by: JSON.parse(made_by) as FreezeAuthor,
        at,
      }))
    },
  }
}

function createRejectedPullStore(
  database: Database,
): Pick<MergeFreezeStore, 'parkPull' | 'parkedPull' | 'parkedPulls' | 'unparkPull'> {
  return {
    parkPull: async (repository, { pull, reason, state, times, tryAgainAt }) => {
      await database.query(
        `INSERT INTO ${databaseSchemaName}.parked_pull (repository, pull, reason, state, times, try_again_at)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (repository, pull) DO UPDATE SET
           reason = excluded.reason, state = excluded.state, times = excluded.times, try_again_at = excluded.try_again_at, parked_at = clock_timestamp()`,
        [toRepositoryKey(repository), pull, toStorableText(reason), state, times, tryAgainAt],
      )
    },

    parkedPull: async (
      repository: RepositoryName,
      pull: PullNumber,
    ): Promise<RejectedPullRecord | undefined> => {
      const [row] = await database.query<{
        reason: string
        state: string
        times: number
        try_again_at: number
      }>(
        `SELECT reason, state, times, try_again_at FROM ${databaseSchemaName}.parked_pull WHERE repository = $1 AND pull = $2`,
        [toRepositoryKey(repository), pull],
      )
      if (row === undefined) return undefined
      return { pull, reason: row.reason, state: row.state, times: row.times, tryAgainAt: row.try_again_at }
    },

    parkedPulls: async (repository) => {
      const rows = await database.query<{ pull: number }>(
        `SELECT pull FROM ${databaseSchemaName}.parked_pull WHERE repository = $1 ORDER BY pull`,
        [toRepositoryKey(repository)],
      )
      return rows.map(({ pull }) => toPullNumber(pull))
    },

    unparkPull: async (repository, pull) => {
      await database.query(
        `DELETE FROM ${databaseSchemaName}.parked_pull WHERE repository = $1 AND pull = $2`,
        [toRepositoryKey(repository), pull],
      )
    },
  }
}

async function insertFreeze(sql: Transaction, order: FreezeRequest): Promise<MergeFreeze | undefined> {
  const { repository, branch = allBranchesKey, kind, reason, by, pull, commit, tryAgainAt, rules } = order
  const key = toRepositoryKey(repository)
  await sql.lock(`stops ${key}`)
  if (
    (await isFreezeCommandExecuted(sql, key, by)) ||
    (await wasFreezeLiftedByLaterComment(sql, key, branch, by))
  )
    return undefined
  const before = await sql.query(
    `SELECT kind FROM ${databaseSchemaName}.stop WHERE repository = $1 AND branch = $2 AND kind = $3`,
    [key, branch, kind],
  )
  // Repeated rejections are counted but not reported again.
  if (before.length === 0 || by.kind !== 'bot')
    await recordFreezeEvent(sql, key, { branch, kind, reason, by }, 'stopped')
  const [row] = await sql.query<FreezeRow>(
    `INSERT INTO ${databaseSchemaName}.stop
             (repository, owner_as_written, name_as_written, branch, kind, reason, made_by, pull, cause, try_again_at, rules)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
           ON CONFLICT (repository, branch, kind) DO UPDATE SET
             times = stop.times + 1,
             reason = CASE WHEN stop.kind = 'refused' THEN excluded.reason ELSE stop.reason END,
             pull = CASE WHEN stop.kind = 'refused' THEN excluded.pull ELSE stop.pull END,
             rules = CASE WHEN stop.kind = 'refused' THEN excluded.rules ELSE stop.rules END,
             try_again_at = CASE WHEN stop.kind = 'refused' THEN excluded.try_again_at ELSE stop.try_again_at END
           RETURNING ${freezeSqlColumns}`,
    [
      key,
      repository.owner,
      repository.name,
      branch,
      kind,
      toStorableText(reason),
      JSON.stringify(by),
      pull ?? null,
      commit ?? null,
      tryAgainAt ?? null,
      rules ?? null,
    ],
  )
  return row && toMergeFreeze(row)
}

async function deleteFreezes(
  sql: Transaction,
  { repository, branch, kinds, by, reason, requestedAt = Infinity }: UnfreezeRequest,
): Promise<readonly MergeFreeze[]> {
  const key = toRepositoryKey(repository)
  await sql.lock(`stops ${key}`)
  if (await isFreezeCommandExecuted(sql, key, by)) return []
  const rows = await sql.query<FreezeRow>(
    `SELECT ${freezeSqlColumns} FROM ${databaseSchemaName}.stop
           WHERE repository = $1 AND ($2::text IS NULL OR branch = $2) AND kind = ANY($3::text[])`,
    [key, branch ?? null, kinds],
  )
  const ended: MergeFreeze[] = []
  for (const row of rows) {
    const stop = toMergeFreeze(row)
    if (!isFreezeOlderThanRequest(stop, by, requestedAt)) continue
    await sql.query(
      `DELETE FROM ${databaseSchemaName}.stop WHERE repository = $1 AND branch = $2 AND kind = $3`,
      [key, row.branch, row.kind],
    )
    await recordFreezeEvent(sql, key, { branch: row.branch, kind: row.kind, reason, by }, 'resumed')
    ended.push(stop)
  }
  return ended.sort((a, b) => a.since - b.since)
}

/** Returns whether this comment already took effect: a job that died afterwards runs again. */
async function isFreezeCommandExecuted(
  sql: SqlQueryExecutor,
  key: string,
  by: FreezeAuthor,
): Promise<boolean> {
  if (by.kind !== 'person') return false
  const rows = await sql.query(
    `SELECT id FROM ${databaseSchemaName}.stop_event WHERE repository = $1 AND comment = $2 LIMIT 1`,
    [key, by.comment],
  )
  return rows.length > 0
}

/** Returns whether a later comment ended this stop: comments may be read in any order. */
async function wasFreezeLiftedByLaterComment(
  sql: SqlQueryExecutor,
  key: string,
  branch: string,
  by: FreezeAuthor,
): Promise<boolean> {
  if (by.kind !== 'person') return false
  const rows = await sql.query(
    `SELECT id FROM ${databaseSchemaName}.stop_event
     WHERE repository = $1 AND branch = $2 AND step = 'resumed' AND kind = 'frozen' AND comment > $3 LIMIT 1`,
    [key, branch, by.comment],
  )
  return rows.length > 0
}

/** Compares comments by id, and other stops by time. */
function isFreezeOlderThanRequest(stop: MergeFreeze, by: FreezeAuthor, requestedAt: number): boolean {
  if (by.kind === 'person' && stop.by.kind === 'person') return stop.by.comment < by.comment
  return stop.since <= requestedAt
}

async function recordFreezeEvent(
  sql: SqlQueryExecutor,
  key: string,
  { branch, kind, reason, by }: { branch: string; kind: FreezeKind; reason: string; by: FreezeAuthor },
  step: FreezeEvent['step'],
): Promise<void> {
  await sql.query(
    `INSERT INTO ${databaseSchemaName}.stop_event (repository, branch, step, kind, reason, made_by, comment)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [
      key,
      branch,
      step,
      kind,
      toStorableText(reason),
      JSON.stringify(by),
      by.kind === 'person' ? by.comment : null,
    ],
  )
}

function toBranchFreezeScope(branch: string): Pick<FreezeScope, 'branch'> {
  return branch === allBranchesKey ? {} : { branch }
}

function toMergeFreeze(row: FreezeRow): MergeFreeze {
  return {
    repository: { owner: row.owner, name: row.name },
    ...toBranchFreezeScope(row.branch),
    kind: row.kind,
    reason: row.reason,
    by: JSON.parse(row.made_by) as FreezeAuthor,
    ...(row.pull !== null && { pull: toPullNumber(row.pull) }),
    ...(row.cause !== null && { commit: toCommitSha(row.cause) }),
    ...(row.try_again_at !== null && { tryAgainAt: row.try_again_at }),
    ...(row.rules !== null && { rules: row.rules }),
    since: row.since,
    times: row.times,
  }
}
