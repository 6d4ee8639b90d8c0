// What lay in the cache of an older program and must survive is state afterwards, under the names and keys of today.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { readScan } from '../../src/app/jobs/scan-state.ts'
import type { Database } from '../../src/store/database.ts'
import { openEmbedded } from '../../src/store/embedded-database.ts'
import { migrate, schema } from '../../src/store/migrations.ts'
import { openState } from '../../src/store/state.ts'

const repository = { owner: 'Coast', name: 'Operators' }
const scan = { dueAt: 5, missingImages: {}, report: { issue: 7, digest: 'd', told: [] } }
const branch = { seen: 'a'.repeat(40), rebuilds: [{ commit: 'b'.repeat(40), catalogs: ['v4.20'] }] }
const long = `registry.test/${'a'.repeat(600)}:v1`

let database: Database
beforeAll(async () => {
  database = await openEmbedded(undefined, { patience: 0, problem: () => undefined })
  await migrate(database, 4)
  const rows: readonly (readonly [space: string, key: string, value: unknown, expires: string | null])[] = [
    ['image scans', '"coast/operators"', scan, null],
    ['branches', '"Coast/Operators release/v1 \\"x\\""', branch, null],
    ['review requests Coast/Operators', '"12"', ['bob'], '1 day'],
    ['scan parts coast/operators', '"5 0"', [{ reference: 'a', tries: 1 }], '1 day'],
    ['scan tags coast/operators', JSON.stringify(long), true, '1 day'],
    ['scan tags coast/operators', '"gone"', true, '-1 day'],
    ['sweep Coast/Operators', '"12"', 'head tip', '1 day'],
    ['facts 4', `"${'c'.repeat(40)}"`, { bytes: 1 }, null],
    ['image-answers 2', '"x"', { kind: 'missing', reason: '' }, '1 day'],
  ]
  for (const [space, key, value, expires] of rows)
    await database.query(
      `INSERT INTO ${schema}.cache (space, key, value, expires_at)
       VALUES ($1, $2, $3, clock_timestamp() + $4::text::interval)`,
      [space, key, JSON.stringify(value), expires],
    )
  await migrate(database)
}, 60_000)
afterAll(() => database.close())

test('what must survive has moved out of the cache', async () => {
  const rows = await database.query(
    `SELECT space, repository, key, version, value FROM ${schema}.state ORDER BY space`,
  )
  const of = { repository: 'coast/operators', version: 0 }
  expect(rows).toEqual([
    { ...of, space: 'branch', key: '"release/v1 \\"x\\""', value: JSON.stringify(branch) },
    { ...of, space: 'image scan', key: '""', value: JSON.stringify(scan) },
    { ...of, space: 'requested reviews', key: '"12"', value: '["bob"]' },
    { ...of, space: 'scan part', key: '"5 0"', value: '[{"reference":"a","tries":1}]' },
    { ...of, space: 'tag of digest', key: JSON.stringify(long), value: 'true' },
  ])
})

test('and is read by those whose state it is', async () => {
  expect(await readScan(openState(database), repository)).toEqual(scan)
})

test('what may be lost stays where it can be used, and goes within a month', async () => {
  const rows = await database.query(
    `SELECT space FROM ${schema}.cache WHERE expires_at < clock_timestamp() + interval '31 days' ORDER BY space`,
  )
  expect(rows).toEqual([{ space: 'facts 4' }, { space: 'image-answers 2' }])
  expect(await database.query(`SELECT count(*)::int AS rows FROM ${schema}.cache`)).toEqual([{ rows: 2 }])
})
