// The page about data retention documents what each table holds and what removes its rows. No table is missing or invented.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'

const projectRoot = join(import.meta.dirname, '..', '..')
const readProjectFile = (path: string) => readFileSync(join(projectRoot, path), 'utf8')

const retentionSectionText = readProjectFile('docs/reference/data-retention.md')
const documentedDatabaseTables = retentionSectionText
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => {
    const [names = '', holds = '', removed = ''] = line.split('|').slice(1)
    return {
      tables: [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
      holds,
      removed: removed.trim(),
    }
  })

test('the page lists every table of the schema once, with what removes its rows', () => {
  const migrations = readProjectFile('src/adapters/store/migrations.ts')
  const created = migrations.matchAll(/CREATE TABLE (?:IF NOT EXISTS )?\$\{databaseSchemaName\}\.(\w+)/g)
  const tables = [...created].map(([, name = '']) => name)
  expect(tables.length).toBeGreaterThan(20)
  expect(documentedDatabaseTables.flatMap((row) => row.tables).toSorted()).toEqual(tables.toSorted())
  for (const { removed } of documentedDatabaseTables) expect(removed).not.toBe('')
})

test('the page documents what the hourly cleanup removes, with the retention in days', () => {
  const prune = readProjectFile('src/adapters/store/prune.ts')
  const days = [...prune.matchAll(/^const \w+RetentionDays = (\d+)$/gm)].map(([, count]) => Number(count))
  expect(days.length).toBeGreaterThan(4)
  const documentedText = retentionSectionText.replaceAll('2 years', '730 days')
  for (const count of days) expect(documentedText).toMatch(new RegExp(`\\b${count} days`))
  for (const { tables, removed } of documentedDatabaseTables)
    for (const table of tables) {
      const named = new RegExp(`\\{databaseSchemaName\\}\\.${table}\\b|'${table}'`).test(prune)
      // An intent is removed when it completes; prune.ts removes only those of merged pull requests.
      if (named && table !== 'intent')
        expect([table, removed]).not.toEqual([table, expect.stringMatching(/^never/)])
    }
})
