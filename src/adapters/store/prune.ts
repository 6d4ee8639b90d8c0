// Removes expired cache rows, old deliveries and verdicts, data about merged pull requests, and queue positions of
// repositories without the App. Never removes intents or commands, because no command may run twice.
// docs/reference/data-retention.md names every table, and a test compares.
import type { Database } from './database.ts'
import { databaseSchemaName } from './migrations.ts'

/** GitHub can redeliver for three days; administrators look at deliveries for longer. */
const deliveryRetentionDays = 14
/** catalog-bot checks parked pull requests hourly, so one that was not checked for so long is closed. */
const rejectedPullRetentionDays = 30
/** Ready pull requests are merged or checked again within minutes, so an older one is in a repository without the App. */
const readyPullRetentionDays = 30
const verdictRetentionDays = 90
/** People ask why a change was merged as long as users have it. */
const mergedPullRetentionDays = 730
/** Images that no scan has seen for so long are no longer referenced. */
const imageReferenceRetentionDays = 180

/**
 * Data that decisions on a pull request depend on. A merged one cannot be reopened. A closed one can, so its data
 * stays: agreements must remain bound to what was shown.
 */
const prunedPullRequestTables = [
  'epoch',
  'shown_head',
  'review_seen',
  'approval_seen',
  'push_seen',
  'described_change',
] as const

/** State of one pull request, by its number: see the files of src/evaluate and src/jobs that declare it. */
const prunedPullStateNamespaces = {
  whileDecided: 'requested reviews',
  whileQueued: 'merge queue removal',
  whileShown: 'publication of a pull request',
} as const

/** Milliseconds since the epoch. */
const formatDaysAgoAsEpochMsSql = (days: string) =>
  `1000 * extract(epoch FROM clock_timestamp() - ${days}::float8 * interval '1 day')`

/** SQL condition: row `old` belongs to a pull request merged so many days ago; `is` compares its number. */
const buildMergedBeforeSqlCondition = (days: string, is: (pull: string) => string) =>
  `(EXISTS (SELECT 1 FROM ${databaseSchemaName}.pull_seen AS seen WHERE seen.repository = old.repository AND ${is('seen.pull')}
      AND seen.state = 'merged' AND seen.ended_at < ${formatDaysAgoAsEpochMsSql(days)})
    OR EXISTS (SELECT 1 FROM ${databaseSchemaName}.intent AS done WHERE done.repository = old.repository AND ${is('done.pull')}
      AND done.outcome = 'landed' AND done.ended_at < clock_timestamp() - ${days}::float8 * interval '1 day'))`

export async function pruneStore(database: Database): Promise<void> {
  await database.query(`DELETE FROM ${databaseSchemaName}.cache WHERE expires_at <= clock_timestamp()`)
  await database.query(
    `DELETE FROM ${databaseSchemaName}.delivery WHERE received_at < clock_timestamp() - $1::float8 * interval '1 day'`,
    [deliveryRetentionDays],
  )
  for (const [table, at] of [
    ['verdict', 'decided_at'],
    ['verdict_change', 'at'],
  ] as const)
    await database.query(
      `DELETE FROM ${databaseSchemaName}.${table} AS old WHERE ${at} < ${formatDaysAgoAsEpochMsSql('$1')} AND (${at} < ${formatDaysAgoAsEpochMsSql('$2')} OR NOT EXISTS (
         SELECT 1 FROM ${databaseSchemaName}.intent WHERE intent.repository = old.repository AND intent.pull = old.pull
           AND outcome = 'landed' AND landing->>'head' = old.head))`,
      [verdictRetentionDays, mergedPullRetentionDays],
    )
  for (const table of prunedPullRequestTables)
    await database.query(
      `DELETE FROM ${databaseSchemaName}.${table} AS old
       WHERE ${buildMergedBeforeSqlCondition('$1', (pull) => `old.pull = ${pull}`)}`,
      [verdictRetentionDays],
    )
  for (const [space, days] of [
    [prunedPullStateNamespaces.whileDecided, verdictRetentionDays],
    [prunedPullStateNamespaces.whileQueued, verdictRetentionDays],
    [prunedPullStateNamespaces.whileShown, mergedPullRetentionDays],
  ] as const)
    await database.query(
      `DELETE FROM ${databaseSchemaName}.state AS old WHERE space = $2
         AND ${buildMergedBeforeSqlCondition('$1', (pull) => `old.key = '"' || ${pull} || '"'`)}`,
      [days, space],
    )
  await database.query(
    `DELETE FROM ${databaseSchemaName}.pull_seen WHERE ended_at < ${formatDaysAgoAsEpochMsSql('$1')}
       AND (state <> 'merged' OR ended_at < ${formatDaysAgoAsEpochMsSql('$2')})`,
    [verdictRetentionDays, mergedPullRetentionDays],
  )
  await database.query(
    `DELETE FROM ${databaseSchemaName}.rule_met WHERE day < floor(extract(epoch FROM clock_timestamp()) / 86400) - $1::float8`,
    [verdictRetentionDays],
  )
  await database.query(
    `DELETE FROM ${databaseSchemaName}.seen_image WHERE seen_at < ${formatDaysAgoAsEpochMsSql('$1')}`,
    [imageReferenceRetentionDays],
  )
  await database.query(
    `DELETE FROM ${databaseSchemaName}.parked_pull WHERE parked_at < clock_timestamp() - $1::float8 * interval '1 day'`,
    [rejectedPullRetentionDays],
  )
  await database.query(
    `DELETE FROM ${databaseSchemaName}.ready_pull WHERE ready_at < clock_timestamp() - $1::float8 * interval '1 day'`,
    [readyPullRetentionDays],
  )
}
