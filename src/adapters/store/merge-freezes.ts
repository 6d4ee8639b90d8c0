import { toPullNumber } from '../../pull-request/ids.ts'
import { toRepositoryKey } from '../../pull-request/snapshot.ts'
import type {
  MergeFreeze,
  FreezeAuthor,
  FreezeEvent,
  FreezeKind,
  FreezeRequest,
} from '../../policy/merge-freeze.ts'
import {
  type Database,
  type SqlQueryExecutor,
  type Transaction,
  queryRecords,
  toStorableText,
} from './database.ts'
import { databaseSchemaName } from './migrations.ts'
import type { MergeFreezeStore, RejectedPullRecord, UnfreezeRequest } from '../../ports/merge-records.ts'

/** Means all branches, because a branch name cannot be empty. */
const allBranchesKey = ''

const freezeSqlColumns = `json_build_object('owner', owner_as_written, 'name', name_as_written) AS repository,
  nullif(branch, '${allBranchesKey}') AS branch, kind, reason, made_by::json AS by, pull, cause AS commit,
  try_again_at AS "tryAgainAt", rules, (extract(epoch FROM since) * 1000)::double precision AS since, times`

export function createMergeFreezeStore(database: Database): MergeFreezeStore {
  return { ...createFreezeAndEventStore(database), ...createRejectedPullStore(database) }
}

function createFreezeAndEventStore(database: Database) {
  return {
    freezeMerges: (order) => database.transaction((sql) => insertFreeze(sql, order)),

    unfreezeMerges: (request) => database.transaction((sql) => deleteFreezes(sql, request)),

    allowMergeAttempt: async ({ repository, branch }) => {
      await database.query(
        `UPDATE ${databaseSchemaName}.stop SET try_again_at = 0 WHERE repository = $1 AND branch = $2 AND kind = 'refused'`,
        [toRepositoryKey(repository), branch],
      )
    },

    listFreezes: (repository) =>
      queryRecords<MergeFreeze>(
        database,
        `SELECT ${freezeSqlColumns} FROM ${databaseSchemaName}.stop WHERE $1::text IS NULL OR repository = $1
         ORDER BY stop.since, stop.repository, stop.branch, kind`,
        [repository === undefined ? null : toRepositoryKey(repository)],
      ),

    listFreezeEvents: async (repository, limit) => {
      const events = await queryRecords<Omit<FreezeEvent, 'repository'>>(
        database,
        `SELECT step, nullif(branch, '${allBranchesKey}') AS branch, kind, reason, made_by::json AS by,
           (extract(epoch FROM at) * 1000)::double precision AS at
         FROM ${databaseSchemaName}.stop_event WHERE repository = $1 ORDER BY id DESC LIMIT $2`,
        [toRepositoryKey(repository), limit],
      )
      return events.map((event) => ({ repository, ...event }))
    },
  } satisfies Partial<MergeFreezeStore>
}

function createRejectedPullStore(database: Database) {
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

    parkedPull: async (repository, pull) => {
      const [row] = await database.query<RejectedPullRecord>(
        `SELECT pull, reason, state, times, try_again_at AS "tryAgainAt" FROM ${databaseSchemaName}.parked_pull
         WHERE repository = $1 AND pull = $2`,
        [toRepositoryKey(repository), pull],
      )
      return row
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
  } satisfies Partial<MergeFreezeStore>
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
  // Repeated rejections are counted but not reported again. Another failed merge verification is.
  const isReported = async () =>
    kind !== 'audit' ||
    (await listFreezeRequests(sql, key, branch, kind)).some((one) => one.reason === toStorableText(reason))
  if (before.length === 0 || by.kind !== 'bot' || !(await isReported()))
    await recordFreezeEvent(sql, key, { branch, kind, reason, by }, 'stopped')
  const [freeze] = await queryRecords<MergeFreeze>(
    sql,
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
  return freeze
}

async function deleteFreezes(
  sql: Transaction,
  { repository, branch, kinds, by, reason, requestedAt = Infinity }: UnfreezeRequest,
): Promise<readonly MergeFreeze[]> {
  const key = toRepositoryKey(repository)
  await sql.lock(`stops ${key}`)
  if (await isFreezeCommandExecuted(sql, key, by)) return []
  const stops = await queryRecords<MergeFreeze>(
    sql,
    `SELECT ${freezeSqlColumns} FROM ${databaseSchemaName}.stop
           WHERE repository = $1 AND ($2::text IS NULL OR branch = $2) AND kind = ANY($3::text[])`,
    [key, branch ?? null, kinds],
  )
  const ended: MergeFreeze[] = []
  for (const stop of stops) {
    const { branch: stopBranch = allBranchesKey, kind } = stop
    const repeated = await listFreezeRequests(sql, key, stopBranch, kind)
    if (![stop, ...repeated].every((request) => isFreezeOlderThanRequest(request, by, requestedAt))) continue
    await sql.query(
      `DELETE FROM ${databaseSchemaName}.stop WHERE repository = $1 AND branch = $2 AND kind = $3`,
      [key, stopBranch, kind],
    )
    await recordFreezeEvent(sql, key, { branch: stopBranch, kind, reason, by }, 'resumed')
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

/** The requests since the last freeze of this kind ended. A freeze shows only the first one. */
function listFreezeRequests(sql: SqlQueryExecutor, key: string, branch: string, kind: FreezeKind) {
  return queryRecords<Pick<MergeFreeze, 'by' | 'reason' | 'since'>>(
    sql,
    `SELECT made_by::json AS by, reason, (extract(epoch FROM at) * 1000)::double precision AS since
     FROM ${databaseSchemaName}.stop_event
     WHERE repository = $1 AND branch = $2 AND kind = $3 AND step = 'stopped' AND id > coalesce(
       (SELECT max(id) FROM ${databaseSchemaName}.stop_event
        WHERE repository = $1 AND branch = $2 AND kind = $3 AND step = 'resumed'), 0)`,
    [key, branch, kind],
  )
}

/** Compares comments by id, and other stops by time. */
function isFreezeOlderThanRequest(
  stop: Pick<MergeFreeze, 'by' | 'since'>,
  by: FreezeAuthor,
  requestedAt: number,
): boolean {
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
