// Records that are only displayed. No decision depends on them.
import type { VerdictKind } from '../../policy/verdict.ts'
import type {
  RecordedRepository,
  MergedPullRecord,
  StatusPageStore,
  EvaluationRecord,
  PullRecord,
  DailyPullCountByRule,
  VerdictChange,
} from '../../ports/status-page-store.ts'
import { type Database, type SqlQueryExecutor, queryRecords } from './database.ts'
import { toRepositoryKey } from '../../pull-request/snapshot.ts'
import { databaseSchemaName } from './migrations.ts'
import { createRecordedCatalogStore } from './recorded-catalogs.ts'

type PullDisplayData = Pick<
  EvaluationRecord,
  'title' | 'author' | 'draft' | 'reasons' | 'checks' | 'approvals' | 'packages'
>

type PullRow = Omit<PullRecord, keyof PullDisplayData> & { readonly shown: string }

interface MergedPullRow extends Pick<MergedPullRecord, 'id' | 'pull' | 'begunAt' | 'mergedAt'> {
  readonly landing: Pick<MergedPullRecord, 'repository' | 'baseRef' | 'head' | 'base' | 'commit'>
  readonly shown: string | null
}

const msPerDay = 24 * 3600_000
const maxTimedPulls = 5000
const pullSqlColumns = `pull, state, verdict, opened_at AS "openedAt", since, looked_at AS "lookedAt", ended_at AS "endedAt",
  head, base_ref AS "baseRef", shown`
const mergedPullSqlColumns = `intent.id, intent.pull, landing, (extract(epoch FROM begun_at) * 1000)::double precision AS "begunAt",
  (extract(epoch FROM intent.ended_at) * 1000)::double precision AS "mergedAt", seen.shown`
const mergedPullFromClause = `${databaseSchemaName}.intent LEFT JOIN ${databaseSchemaName}.pull_seen AS seen
  ON seen.repository = intent.repository AND seen.pull = intent.pull`

export function createStatusPageStore(database: Database): StatusPageStore {
  return {
    ...createRecordedCatalogStore(database),
    ...createRepositoryRecordStore(database),
    ...createPullRecordStore(database),
    ...createVerdictRecordStore(database),
    ...createPullTimeStore(database),
    ...createMergedPullRecordStore(database),
  }
}

function createRepositoryRecordStore(database: Database) {
  return {
    recordRepositories: (repositories) =>
      database.transaction(async (sql) => {
        const rows = repositories.map(({ repository, installation, isPublic, listedAt }) => ({
          repository: toRepositoryKey(repository),
          ...repository,
          installation,
          isPublic,
          listedAt,
        }))
        await sql.query(
          `DELETE FROM ${databaseSchemaName}.listed_repository
           WHERE repository NOT IN (SELECT row->>'repository' FROM json_array_elements($1::json) AS row)`,
          [JSON.stringify(rows)],
        )
        await sql.query(
          `INSERT INTO ${databaseSchemaName}.listed_repository
             (repository, owner_as_written, name_as_written, installation, is_public, listed_at)
           SELECT DISTINCT ON (row->>'repository') row->>'repository', row->>'owner', row->>'name',
             (row->>'installation')::float8, (row->>'isPublic')::boolean, (row->>'listedAt')::float8
           FROM json_array_elements($1::json) AS row
           ON CONFLICT (repository) DO UPDATE SET owner_as_written = excluded.owner_as_written,
             name_as_written = excluded.name_as_written, installation = excluded.installation,
             is_public = excluded.is_public, listed_at = excluded.listed_at`,
          [JSON.stringify(rows)],
        )
      }),

    listedRepositories: () =>
      database.query<RecordedRepository>(
        `SELECT json_build_object('owner', owner_as_written, 'name', name_as_written) AS repository, installation,
           is_public AS "isPublic", listed_at AS "listedAt"
         FROM ${databaseSchemaName}.listed_repository AS listed ORDER BY listed.repository`,
      ),
  } satisfies Partial<StatusPageStore>
}

function createPullRecordStore(database: Database) {
  return {
    recordEvaluation: (evaluation) =>
      database.transaction(async (sql) => {
        const key = toRepositoryKey(evaluation.repository)
        await insertVerdictChange(sql, key, evaluation)
        await upsertPullRecord(sql, key, evaluation)
        if (evaluation.findings.length > 0) await insertRuleViolations(sql, key, evaluation)
      }),

    recordPullEnd: async (repository, pull, state, at) => {
      const [row] = await database.query<{ opened_at: number }>(
        `UPDATE ${databaseSchemaName}.pull_seen SET state = $3, ended_at = $4::float8
         WHERE repository = $1 AND pull = $2 AND (state = 'open' OR ($3 = 'merged' AND state = 'closed'))
         RETURNING opened_at`,
        [toRepositoryKey(repository), pull, state, at],
      )
      return row?.opened_at
    },

    retainOpenPulls: async (repository, open, at) => {
      await database.query(
        `UPDATE ${databaseSchemaName}.pull_seen SET state = 'closed', ended_at = $3::float8
         WHERE repository = $1 AND state = 'open' AND NOT (pull = ANY($2::integer[]))`,
        [toRepositoryKey(repository), open, at],
      )
    },

    listOpenPullRecords: async (repository, limit, filter = {}) => {
      const { verdict, after = 0, pulls } = filter
      const rows = await queryRecords<PullRow>(
        database,
        `SELECT ${pullSqlColumns} FROM ${databaseSchemaName}.pull_seen
         WHERE repository = $1 AND state = 'open' AND pull > $3 AND ($4::text IS NULL OR verdict = $4)
           AND ($5::integer[] IS NULL OR pull = ANY($5))
         ORDER BY pull LIMIT $2`,
        [toRepositoryKey(repository), limit, after, verdict ?? null, pulls ?? null],
      )
      return rows.map(toPullRecord)
    },

    findPullRecord: async (repository, pull) => {
      const [row] = await queryRecords<PullRow>(
        database,
        `SELECT ${pullSqlColumns} FROM ${databaseSchemaName}.pull_seen WHERE repository = $1 AND pull = $2`,
        [toRepositoryKey(repository), pull],
      )
      return row && toPullRecord(row)
    },
  } satisfies Partial<StatusPageStore>
}

function createVerdictRecordStore(database: Database) {
  return {
    countOpenPulls: () =>
      database.query<{ repository: string; verdict: VerdictKind; pulls: number }>(
        `SELECT repository, verdict, count(*)::integer AS pulls FROM ${databaseSchemaName}.pull_seen
         WHERE state = 'open' GROUP BY repository, verdict ORDER BY repository, verdict`,
      ),

    verdictChanges: async (repository, pull, limit) => {
      const rows = await database.query<Omit<VerdictChange, 'reasons' | 'checks'> & { shown: string }>(
        `SELECT at, head, base, config, base_ref AS "baseRef", verdict, shown FROM ${databaseSchemaName}.verdict_change
         WHERE repository = $1 AND pull = $2 ORDER BY id DESC LIMIT $3`,
        [toRepositoryKey(repository), pull, limit],
      )
      return rows.map(({ shown, ...change }) => ({
        ...change,
        ...(JSON.parse(shown) as Pick<VerdictChange, 'reasons' | 'checks'>),
      }))
    },

    ruleDays: (repository, sinceDay) =>
      database.query<DailyPullCountByRule>(
        `SELECT day, rule, max(severity) AS severity, owner, count(*)::integer AS pulls FROM ${databaseSchemaName}.rule_met
         WHERE repository = $1 AND day >= $2 GROUP BY day, rule, owner ORDER BY day DESC, rule, owner LIMIT 5000`,
        [toRepositoryKey(repository), sinceDay],
      ),
  } satisfies Partial<StatusPageStore>
}

function createPullTimeStore(database: Database) {
  return {
    dailyPullTimes: async (repository, sinceDay) => {
      const rows = await database.query<{
        day: number
        merges: number
        merge_ms: number | null
        verdicts: number
        verdict_ms: number | null
      }>(
        `WITH merged AS (
           SELECT intent.pull, extract(epoch FROM intent.ended_at) * 1000 AS at FROM ${databaseSchemaName}.intent
           WHERE repository = $1 AND outcome = 'landed' ORDER BY id DESC LIMIT $3),
         opened AS (
           SELECT pull, opened_at, (SELECT min(at) FROM ${databaseSchemaName}.verdict_change AS change
             WHERE change.repository = $1 AND change.pull = seen.pull) AS verdict_at
           FROM (SELECT pull, opened_at FROM ${databaseSchemaName}.pull_seen WHERE repository = $1
             ORDER BY pull DESC LIMIT $3) AS seen
           WHERE opened_at >= $2::float8 * ${msPerDay}),
         timed AS (
           SELECT merged.at AS at, true AS is_merge, merged.at - seen.opened_at AS ms FROM merged
             LEFT JOIN ${databaseSchemaName}.pull_seen AS seen ON seen.repository = $1 AND seen.pull = merged.pull
           UNION ALL SELECT opened_at, false, verdict_at - opened_at FROM opened WHERE verdict_at IS NOT NULL)
         SELECT floor(at / ${msPerDay})::integer AS day, (count(*) FILTER (WHERE is_merge))::integer AS merges,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) FILTER (WHERE is_merge) AS merge_ms,
           (count(*) FILTER (WHERE NOT is_merge))::integer AS verdicts,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) FILTER (WHERE NOT is_merge) AS verdict_ms
         FROM timed WHERE at >= $2::float8 * ${msPerDay} GROUP BY 1 ORDER BY 1`,
        [toRepositoryKey(repository), sinceDay, maxTimedPulls],
      )
      return rows.map(({ day, merges, merge_ms, verdicts, verdict_ms }) => ({
        day,
        merges,
        ...(merge_ms !== null && { medianMergeMs: Math.max(0, merge_ms) }),
        verdicts,
        ...(verdict_ms !== null && { medianVerdictMs: Math.max(0, verdict_ms) }),
      }))
    },
  } satisfies Partial<StatusPageStore>
}

function createMergedPullRecordStore(database: Database) {
  return {
    mergedPulls: async (repositories, limit, before) => {
      const rows = await database.query<MergedPullRow>(
        `SELECT ${mergedPullSqlColumns} FROM ${mergedPullFromClause}
         WHERE intent.repository = ANY($1::text[]) AND outcome = 'landed' AND ($3::integer IS NULL OR intent.id < $3)
         ORDER BY intent.id DESC LIMIT $2`,
        [repositories.map(toRepositoryKey), limit, before ?? null],
      )
      return rows.map(toMergedPull)
    },

    readRepositoryVersions: async (repositories) => {
      const rows = await database.query<{ repository: string; version: string }>(
        `SELECT repository, concat_ws(' ',
           (SELECT sum(hashtextextended(concat_ws(' ', pull, verdict, head, base_ref, shown), 0))
            FROM ${databaseSchemaName}.pull_seen AS p WHERE p.repository = r.repository AND state = 'open'),
           (SELECT max(id) FROM ${databaseSchemaName}.intent AS i WHERE i.repository = r.repository AND outcome = 'landed'),
           (SELECT string_agg(id::text, ',' ORDER BY id) FROM ${databaseSchemaName}.intent AS i
            WHERE i.repository = r.repository AND outcome IS NULL),
           (SELECT max(id) FROM ${databaseSchemaName}.stop_event AS e WHERE e.repository = r.repository),
           (SELECT sum(hashtextextended(value, 0)) FROM ${databaseSchemaName}.state AS s
            WHERE s.repository = r.repository AND space = 'publication')) AS version
         FROM unnest($1::text[]) AS r (repository)`,
        [repositories.map(toRepositoryKey)],
      )
      return new Map(rows.map(({ repository, version }) => [repository, version]))
    },

    mergedPull: async (repository, pull) => {
      const [row] = await database.query<MergedPullRow>(
        `SELECT ${mergedPullSqlColumns} FROM ${mergedPullFromClause}
         WHERE intent.repository = $1 AND intent.pull = $2 AND outcome = 'landed'`,
        [toRepositoryKey(repository), pull],
      )
      return row && toMergedPull(row)
    },
  } satisfies Partial<StatusPageStore>
}

function toPullDisplayData(evaluation: EvaluationRecord): PullDisplayData {
  const { title, author, draft, reasons, checks, approvals, packages } = evaluation
  return { title, draft, reasons, checks, approvals, packages, ...(author !== undefined && { author }) }
}

function toPullRecord({ shown, ...record }: PullRow): PullRecord {
  return { ...(JSON.parse(shown) as PullDisplayData), ...record }
}

function toMergedPull({ landing, shown, ...merged }: MergedPullRow): MergedPullRecord {
  const { title = '', author } =
    shown === null ? ({} as Partial<PullDisplayData>) : (JSON.parse(shown) as PullDisplayData)
  const { repository, baseRef, head, base, commit } = landing
  return {
    ...merged,
    repository,
    title,
    ...(author !== undefined && { author }),
    baseRef,
    head,
    base,
    commit,
  }
}

async function insertVerdictChange(
  sql: SqlQueryExecutor,
  key: string,
  { pull, verdict, head, base, baseRef, config, at, reasons, checks }: EvaluationRecord,
): Promise<void> {
  const details = JSON.stringify({ reasons, checks })
  // The queue allows only one job per pull request, so this needs no lock.
  const [last] = await sql.query<{ verdict: string; head: string; base_ref: string; shown: string }>(
    `SELECT verdict, head, base_ref, shown FROM ${databaseSchemaName}.verdict_change
     WHERE repository = $1 AND pull = $2 ORDER BY id DESC LIMIT 1`,
    [key, pull],
  )
  const isNews =
    last?.verdict !== verdict || last.head !== head || last.base_ref !== baseRef || last.shown !== details
  if (isNews)
    await sql.query(
      `INSERT INTO ${databaseSchemaName}.verdict_change (repository, pull, at, head, base, config, base_ref, verdict, shown)
       VALUES ($1, $2, $3::float8, $4, $5, $6, $7, $8, $9)`,
      [key, pull, at, head, base, config, baseRef, verdict, details],
    )
}

async function upsertPullRecord(
  sql: SqlQueryExecutor,
  key: string,
  evaluation: EvaluationRecord,
): Promise<void> {
  const { pull, verdict, head, baseRef, at, openedAt = at } = evaluation
  await sql.query(
    `INSERT INTO ${databaseSchemaName}.pull_seen
       (repository, pull, state, verdict, opened_at, since, looked_at, head, base_ref, shown)
     VALUES ($1, $2, 'open', $3, $4::float8, $5::float8, $5::float8, $6, $7, $8)
     ON CONFLICT (repository, pull) DO UPDATE SET state = 'open', ended_at = NULL,
       since = CASE WHEN pull_seen.verdict = excluded.verdict AND pull_seen.state = 'open'
         THEN pull_seen.since ELSE excluded.since END,
       opened_at = least(pull_seen.opened_at, excluded.opened_at),
       verdict = excluded.verdict, looked_at = excluded.looked_at, head = excluded.head,
       base_ref = excluded.base_ref, shown = excluded.shown`,
    [key, pull, verdict, openedAt, at, head, baseRef, JSON.stringify(toPullDisplayData(evaluation))],
  )
}

async function insertRuleViolations(
  sql: SqlQueryExecutor,
  key: string,
  { pull, at, author = '', findings }: EvaluationRecord,
): Promise<void> {
  await sql.query(
    `INSERT INTO ${databaseSchemaName}.rule_met (repository, day, rule, pull, severity, owner)
     SELECT $1, $2, row->>'rule', $3, row->>'severity', $4 FROM json_array_elements($5::json) AS row
     ON CONFLICT DO NOTHING`,
    [key, Math.floor(at / msPerDay), pull, author, JSON.stringify(findings)],
  )
}
