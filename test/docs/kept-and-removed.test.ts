// Whoever runs the bot can read what each table holds and what empties it: none is left out, and none is made up.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'

const root = join(import.meta.dirname, '..', '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

const section =
  /\n## What is kept, and what is removed when\n([^]*?)\n## /.exec(read('docs/operating.md'))?.[1] ?? ''
const rowsOfTables = section
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

test('every table of the schema stands on the page once, with what removes its rows', () => {
  const made = [
    ...read('src/store/migrations.ts').matchAll(/CREATE TABLE (?:IF NOT EXISTS )?\$\{schema\}\.(\w+)/g),
  ]
  const tables = made.map(([, name = '']) => name)
  expect(tables.length).toBeGreaterThan(20)
  expect(rowsOfTables.flatMap((row) => row.tables).toSorted()).toEqual(tables.toSorted())
  for (const { removed } of rowsOfTables) expect(removed).not.toBe('')
})

test('what the hourly tidying removes is said to be removed, and with its days', () => {
  const prune = read('src/store/prune.ts')
  const days = [...prune.matchAll(/^const keep\w+Days = (\d+)$/gm)].map(([, count]) => Number(count))
  expect(days.length).toBeGreaterThan(4)
  const said = section.replaceAll('2 years', '730 days')
  for (const count of days) expect(said).toMatch(new RegExp(`\\b${count} days`))
  for (const { tables, removed } of rowsOfTables)
    for (const table of tables) {
      const named = new RegExp(`\\{schema\\}\\.${table}\\b|'${table}'`).test(prune)
      // State is removed where it is done, and that of merged pull requests here.
      if (named && table !== 'intent')
        expect([table, removed]).not.toEqual([table, expect.stringMatching(/^never/)])
    }
})
