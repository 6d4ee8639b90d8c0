// Durable data that an older program left in the cache is state after the migration, under its current names and keys.
// Also covers what is deleted over time.
import { afterAll, expect, test } from '@jest/globals'
import { readScanState } from '../../../src/image-scan/scan-state.ts'
import { openEmbeddedDatabase } from '../../../src/adapters/store/embedded-database.ts'
import { migrateDatabase, databaseSchemaName } from '../../../src/adapters/store/migrations.ts'
import { pruneStore } from '../../../src/adapters/store/prune.ts'
import { createNamespacedStateStore } from '../../../src/adapters/store/store.ts'

const repository = { owner: 'Coast', name: 'Operators' }
const legacyImageScanState = { dueAt: 5, missingImages: {}, report: { issue: 7, digest: 'd', told: [] } }
const legacyBranchState = {
  seen: 'a'.repeat(40),
  rebuilds: [{ commit: 'b'.repeat(40), catalogs: ['v4.20'] }],
}
const longImageReference = `registry.test/${'a'.repeat(600)}:v1`

const database = await openEmbeddedDatabase(undefined, { timeoutMs: 0, problem: () => undefined })
await migrateDatabase(database, 4)
const legacyRows: readonly (readonly [space: string, key: string, value: unknown, expires: string | null])[] =
  [
    ['image scans', '"coast/operators"', legacyImageScanState, null],
    ['branches', '"Coast/Operators release/v1 \\"x\\""', legacyBranchState, null],
    ['review requests Coast/Operators', '"12"', ['bob'], '1 day'],
    ['scan parts coast/operators', '"5 0"', [{ reference: 'a', tries: 1 }], '1 day'],
    ['scan tags coast/operators', JSON.stringify(longImageReference), true, '1 day'],
    ['scan tags coast/operators', '"gone"', true, '-1 day'],
    ['sweep Coast/Operators', '"12"', 'head tip', '1 day'],
    ['facts 4', `"${'c'.repeat(40)}"`, { bytes: 1 }, null],
    ['image-answers 2', '"x"', { kind: 'missing', reason: '' }, '1 day'],
  ]
for (const [space, key, value, expires] of legacyRows)
  await database.query(
    `INSERT INTO ${databaseSchemaName}.cache (space, key, value, expires_at)
     VALUES ($1, $2, $3, clock_timestamp() + $4::text::interval)`,
    [space, key, JSON.stringify(value), expires],
  )
await migrateDatabase(database)
afterAll(() => database.close())

test('moves durable data out of the cache', async () => {
  const rows = await database.query(
    `SELECT space, repository, key, version, value FROM ${databaseSchemaName}.state ORDER BY space`,
  )
  const of = { repository: 'coast/operators', version: 0 }
  expect(rows).toEqual([
    { ...of, space: 'branch', key: '"release/v1 \\"x\\""', value: JSON.stringify(legacyBranchState) },
    { ...of, space: 'image scan', key: '""', value: JSON.stringify(legacyImageScanState) },
    { ...of, space: 'requested reviews', key: '"12"', value: '["bob"]' },
    { ...of, space: 'scan part', key: '"5 0"', value: '[{"reference":"a","tries":1}]' },
    { ...of, space: 'tag of digest', key: JSON.stringify(longImageReference), value: 'true' },
  ])
})

test('the current reader of the state reads it', async () => {
  expect(await readScanState(createNamespacedStateStore(database), repository)).toEqual(legacyImageScanState)
})

test('keeps reusable cache rows, with an expiry within a month', async () => {
  const rows = await database.query(
    `SELECT space FROM ${databaseSchemaName}.cache WHERE expires_at < clock_timestamp() + interval '31 days' ORDER BY space`,
  )
  expect(rows).toEqual([{ space: 'facts 4' }, { space: 'image-answers 2' }])
  expect(await database.query(`SELECT count(*)::int AS rows FROM ${databaseSchemaName}.cache`)).toEqual([
    { rows: 2 },
  ])
})

test('keeps old verdicts of merged pull requests for two years', async () => {
  const day = 24 * 3600_000
  const now = Date.now()
  const [old, ancient] = [now - 100 * day, now - 800 * day]
  const head = (pull: number) => String(pull).padStart(40, '0')
  const rows = [
    [1, now],
    [2, old],
    [3, old],
    [4, ancient],
  ] as const
  for (const [pull, at] of rows) {
    await database.query(
      `INSERT INTO ${databaseSchemaName}.verdict (repository, pull, head, base, config, owner_as_written, name_as_written, verdict, report, decided_at)
       VALUES ('a/b', $1, $2, '', '', 'a', 'b', 'merge', 'null', $3::float8)`,
      [pull, head(pull), at],
    )
    await database.query(
      `INSERT INTO ${databaseSchemaName}.verdict_change (repository, pull, at, head, base, config, base_ref, verdict, shown)
       VALUES ('a/b', $1, $3::float8, $2, '', '', 'main', 'merge', '{}')`,
      [pull, head(pull), at],
    )
    // All but the second were merged.
    await database.query(
      `INSERT INTO ${databaseSchemaName}.pull_seen (repository, pull, state, verdict, opened_at, since, looked_at, ended_at, head, base_ref, shown)
       VALUES ('a/b', $1, $4, 'merge', 0, 0, 0, $3::float8, $2, 'main', '{}')`,
      [pull, head(pull), at, pull === 2 ? 'closed' : 'merged'],
    )
    if (pull !== 2)
      await database.query(
        `INSERT INTO ${databaseSchemaName}.intent (lease, fence, repository, pull, landing, outcome)
         VALUES ('x', 1, 'a/b', $1, jsonb_build_object('head', $2::text), 'landed')`,
        [pull, head(pull)],
      )
  }
  await database.query(
    `INSERT INTO ${databaseSchemaName}.rule_met (repository, day, rule, pull, severity, owner)
     VALUES ('a/b', $1, 'x', 1, 'error', ''), ('a/b', $2, 'x', 1, 'error', '')`,
    [Math.floor(now / day), Math.floor(old / day)],
  )
  await database.query(
    `INSERT INTO ${databaseSchemaName}.seen_image (repository, reference, seen_at) VALUES ('a/b', 'x', $1::float8), ('a/b', 'y', $2::float8)`,
    [now, ancient],
  )
  await pruneStore(database)
  for (const table of ['verdict', 'verdict_change', 'pull_seen']) {
    const kept = await database.query(`SELECT pull FROM ${databaseSchemaName}.${table} ORDER BY pull`)
    expect([table, kept]).toEqual([table, [{ pull: 1 }, { pull: 3 }]])
  }
  expect(await database.query(`SELECT rule FROM ${databaseSchemaName}.rule_met`)).toHaveLength(1)
  expect(await database.query(`SELECT reference FROM ${databaseSchemaName}.seen_image`)).toEqual([
    { reference: 'x' },
  ])
})

test('deletes the inputs of decisions a quarter after the merge, and keeps those that may be needed', async () => {
  const day = 24 * 3600_000
  const now = Date.now()
  // Merged long ago, merged recently, closed long ago (it can be reopened), open, and merged by the bot without a row.
  const pulls = [
    [11, 'merged', now - 100 * day],
    [12, 'merged', now - 80 * day],
    [13, 'closed', now - 100 * day],
    [14, 'open', null],
  ] as const
  for (const [pull, state, at] of pulls)
    await database.query(
      `INSERT INTO ${databaseSchemaName}.pull_seen (repository, pull, state, verdict, opened_at, since, looked_at, ended_at, head, base_ref, shown)
       VALUES ('c/d', $1, $2, 'merge', 0, 0, 0, $3::float8, 'h', 'main', '{}')`,
      [pull, state, at],
    )
  await database.query(
    `INSERT INTO ${databaseSchemaName}.intent (lease, fence, repository, pull, landing, outcome, ended_at)
     VALUES ('x', 1, 'c/d', 15, '{}', 'landed', now() - interval '100 days')`,
  )
  const rows = {
    epoch: `(repository, pull, epoch, head, base_ref, config) VALUES ('c/d', $1, 0, 'h', 'main', 'c')`,
    shown_head: `(repository, pull, epoch, head, at) VALUES ('c/d', $1, 0, 'h', 't')`,
    review_seen: `(repository, pull, review, epoch) VALUES ('c/d', $1, 1, 0)`,
    approval_seen: `(repository, pull, review, change) VALUES ('c/d', $1, 1, 'x')`,
    push_seen: `(repository, pull, head, pusher, login, kind) VALUES ('c/d', $1, 'h', 1, 'a', 'user')`,
    described_change: `(repository, pull, id, covers) VALUES ('c/d', $1, 'x', '[]')`,
    command: `(repository, pull, comment, record) VALUES ('c/d', $1::integer, $1::integer, '{}')`,
  }
  for (const pull of [11, 12, 13, 14, 15]) {
    for (const [table, values] of Object.entries(rows))
      await database.query(`INSERT INTO ${databaseSchemaName}.${table} ${values}`, [pull])
    for (const space of ['requested reviews', 'publication of a pull request', 'another'])
      await database.query(
        `INSERT INTO ${databaseSchemaName}.state (space, repository, key, version, value)
         VALUES ($1, 'c/d', to_json($2::text)::text, 1, '[]')`,
        [space, String(pull)],
      )
  }
  await pruneStore(database)
  const left = async (table: string) =>
    (
      await database.query<{ pull: number }>(
        `SELECT pull FROM ${databaseSchemaName}.${table} WHERE repository = 'c/d' ORDER BY pull`,
      )
    ).map(({ pull }) => pull)
  for (const table of Object.keys(rows).filter((one) => one !== 'command'))
    expect([table, await left(table)]).toEqual([table, [12, 13, 14]])
  // An executed command is never executed again, even when it is old.
  expect(await left('command')).toEqual([11, 12, 13, 14, 15])
  const kept = await database.query(
    `SELECT space, count(*)::int AS rows FROM ${databaseSchemaName}.state WHERE repository = 'c/d' GROUP BY space ORDER BY space`,
  )
  expect(kept).toEqual([
    { space: 'another', rows: 5 },
    { space: 'publication of a pull request', rows: 5 },
    { space: 'requested reviews', rows: 3 },
  ])
})
