import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { filesOfCheck, writeCheck } from '../../scripts/new-check.ts'

const project = join(import.meta.dirname, '../..')
let root: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'new-check-'))
  for (const part of ['package.json', 'src', 'scripts'])
    cpSync(join(project, part), join(root, part), { recursive: true })
  symlinkSync(join(project, 'node_modules'), join(root, 'node_modules'))
})
afterEach(() => rmSync(root, { recursive: true }))

test('a new check is in every list, passes what it does not look at, and can have rules', async () => {
  writeCheck(root, 'price-tags', 'Nobody has to pay')
  const load = (path: string): Promise<Record<string, unknown>> =>
    import(pathToFileURL(join(root, path)).href)
  const { checkIds } = await load('src/findings/checks.ts')
  expect(checkIds).toEqual(['ownership', 'validation', 'images', 'install', 'price-tags'])
  const { allChecks } = (await load('src/checks/all-checks.ts')) as {
    allChecks: readonly { id: string; judge: () => unknown }[]
  }
  expect(allChecks.at(-1)?.id).toBe('price-tags')
  expect(allChecks.at(-1)?.judge()).toMatchObject({ check: 'price-tags', findings: [], waiting: [] })
  const { writeRule } = (await load('scripts/new-rule.ts')) as {
    writeRule: (root: string, id: string, kind: string) => string[]
  }
  writeRule(root, 'costs-money', 'price-tags')
  expect(readFileSync(join(root, 'src/checks/price-tags/rules.ts'), 'utf8')).toContain('= [costsMoney]')
  expect(readFileSync(join(root, 'src/checks/all-rules.ts'), 'utf8')).toContain('  ...priceTagsRules,\n')
  expect(() => writeCheck(root, 'price-tags', 'Nobody has to pay')).toThrow(/exists already/)
})

test.each([
  ['PriceTags', 'Nobody has to pay', /kebab-case/],
  ['price-tags', 'nobody has to pay.', /title/],
])('%s "%s" is refused', (id, title, says) => {
  expect(() => filesOfCheck(id, title)).toThrow(says)
})
