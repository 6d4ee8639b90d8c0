// Removes expired cache rows, old deliveries and verdicts, data about merged pull requests, and queue places of
// repositories that we left. Never removes intents or commands, because no command may run twice. docs/operating.md
// names every table, and a test compares.
import type { Database } from './database.ts'
import { schema } from './migrations.ts'

/** GitHub can redeliver for three days; operators look at deliveries for longer. */
const keepDeliveriesDays = 14
/** The bot checks parked pull requests hourly: one not checked for so long is closed. */
const keepParkedDays = 30
/** Ready pull requests merge or are checked again within minutes: an older one is in a repository that we left. */
const keepReadyDays = 30
const keepVerdictsDays = 90
/** People ask why a change was merged as long as users have it. */
const keepMergedDays = 730
/** Images that no scan has seen for so long are no longer referenced. */
const keepImagesDays = 180

/**
 * Data that decisions on a pull request depend on. A merged one cannot be reopened. A closed one can, so its data
 * stays: agreements must remain bound to what was shown.
 */
const decidedBy = [
  'epoch',
  'shown_head',
  'review_seen',
  'approval_seen',
  'push_seen',
  'described_change',
] as const

/** State of one pull request, by its number: see the files of src/app/jobs that declare it. */
const stateOfPulls = {
  whileDecided: 'requested reviews',
  whileQueued: 'merge queue removal',
  whileShown: 'publication of a pull request',
} as const

/** Milliseconds since the epoch. */
const before = (days: string) =>
  `1000 * extract(epoch FROM clock_timestamp() - ${days}::float8 * interval '1 day')`

/** SQL condition: row `old` belongs to a pull request merged so many days ago; `is` compares its number. */
const mergedBefore = (days: string, is: (pull: string) => string) =>
  `(EXISTS (SELECT 1 FROM ${schema}.pull_seen AS seen WHERE seen.repository = old.repository AND ${is('seen.pull')}
      AND seen.state = 'merged' AND seen.ended_at < ${before(days)})
    OR EXISTS (SELECT 1 FROM ${schema}.intent AS done WHERE done.repository = old.repository AND ${is('done.pull')}
      AND done.outcome = 'landed' AND done.ended_at < clock_timestamp() - ${days}::float8 * interval '1 day'))`

export async function prune(database: Database): Promise<void> {
  await database.query(`DELETE FROM ${schema}.cache WHERE expires_at <= clock_timestamp()`)
  await database.query(
    `DELETE FROM ${schema}.delivery WHERE received_at < clock_timestamp() - $1::float8 * interval '1 day'`,
    [keepDeliveriesDays],
  )
  for (const [table, at] of [
    ['verdict', 'decided_at'],
    ['verdict_change', 'at'],
  ] as const)
    await database.query(
      `DELETE FROM ${schema}.${table} AS old WHERE ${at} < ${before('$1')} AND (${at} < ${before('$2')} OR NOT EXISTS (
         SELECT 1 FROM ${schema}.intent WHERE intent.repository = old.repository AND intent.pull = old.pull
           AND outcome = 'landed' AND landing->>'head' = old.head))`,
      [keepVerdictsDays, keepMergedDays],
    )
  for (const table of decidedBy)
    await database.query(
      `DELETE FROM ${schema}.${table} AS old
       WHERE ${mergedBefore('$1', (pull) => `old.pull = ${pull}`)}`,
      [keepVerdictsDays],
    )
  for (const [space, days] of [
    [stateOfPulls.whileDecided, keepVerdictsDays],
    [stateOfPulls.whileQueued, keepVerdictsDays],
    [stateOfPulls.whileShown, keepMergedDays],
  ] as const)
    await database.query(
      `DELETE FROM ${schema}.state AS old WHERE space = $2
         AND ${mergedBefore('$1', (pull) => `old.key = '"' || ${pull} || '"'`)}`,
      [days, space],
    )
  await database.query(
    `DELETE FROM ${schema}.pull_seen WHERE ended_at < ${before('$1')}
       AND (state <> 'merged' OR ended_at < ${before('$2')})`,
    [keepVerdictsDays, keepMergedDays],
  )
  await database.query(
    `DELETE FROM ${schema}.rule_met WHERE day < floor(extract(epoch FROM clock_timestamp()) / 86400) - $1::float8`,
    [keepVerdictsDays],
  )
  await database.query(`DELETE FROM ${schema}.seen_image WHERE seen_at < ${before('$1')}`, [keepImagesDays])
  await database.query(
    `DELETE FROM ${schema}.parked_pull WHERE parked_at < clock_timestamp() - $1::float8 * interval '1 day'`,
    [keepParkedDays],
  )
  await database.query(
    `DELETE FROM ${schema}.ready_pull WHERE ready_at < clock_timestamp() - $1::float8 * interval '1 day'`,
    [keepReadyDays],
  )
}
