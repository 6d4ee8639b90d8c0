import { spawnSync } from 'node:child_process'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { check, resolveConfig } from 'prettier'
import { linkPackages } from '../link-packages.ts'
import { createCheckFiles, writeCheck } from '../../scripts/new-check.ts'
import { defaultConfig } from '../../src/config/config.ts'
import { checkIds as checkIdsBefore } from '../../packages/findings/src/checks.ts'

const projectRoot = join(import.meta.dirname, '../..')
let temporaryDirectory: string

beforeEach(() => {
  temporaryDirectory = mkdtempSync(join(tmpdir(), 'new-check-'))
  for (const part of ['package.json', 'src', 'packages', 'scripts'])
    cpSync(join(projectRoot, part), join(temporaryDirectory, part), { recursive: true })
  linkPackages(projectRoot, temporaryDirectory)
})
afterEach(() => rmSync(temporaryDirectory, { recursive: true }))

test('a copy of the project does not build into the cache of the project', () => {
  expect(existsSync(join(temporaryDirectory, 'node_modules/.cache'))).toBe(false)
})

test('a new check is in every list, passes unrelated changes, and can have rules', async () => {
  writeCheck(temporaryDirectory, 'price-tags', 'Nobody has to pay')
  const load = (path: string): Promise<Record<string, unknown>> =>
    import(pathToFileURL(join(temporaryDirectory, path)).href)
  const { checkIds } = await load('packages/findings/src/checks.ts')
  expect(checkIds).toEqual([...checkIdsBefore, 'price-tags'])
  const { allChecks } = (await load('src/checks/all-checks.ts')) as {
    allChecks: readonly { id: string; judge: (input: object) => unknown }[]
  }
  expect(allChecks.at(-1)?.id).toBe('price-tags')
  expect(allChecks.at(-1)?.judge({ config: defaultConfig })).toMatchObject({
    check: 'price-tags',
    findings: [],
    waiting: [],
  })
  const { writeRule } = (await load('scripts/new-rule.ts')) as {
    writeRule: (root: string, id: string, kind: string) => string[]
  }
  writeRule(temporaryDirectory, 'costs-money', 'price-tags')
  expect(readFileSync(join(temporaryDirectory, 'src/checks/price-tags/rules.ts'), 'utf8')).toMatch(
    /^\/\/ .*\nimport \{ defineRule \} from .*\n\nexport const costsMoneyRule = defineRule/,
  )
  expect(readFileSync(join(temporaryDirectory, 'src/checks/all-rules.ts'), 'utf8')).toContain(
    '  ...Object.values(priceTagsRules),\n',
  )
  expect(() => writeCheck(temporaryDirectory, 'price-tags', 'Nobody has to pay')).toThrow(/already exists/)
})

test.each([
  ['PriceTags', 'Nobody has to pay', /kebab-case/],
  ['price-tags', 'nobody has to pay.', /title/],
])('rejects %s "%s"', (id, title, says) => {
  expect(() => createCheckFiles(id, title)).toThrow(says)
})

test.each([
  [['Price'], /^usage: npm run new-check ID "TITLE"/],
  [['Price', 'Nobody has to pay'], /^new-check: the check ID must be kebab-case, but is "Price"\n$/],
  [['images', 'Nobody has to pay'], /^new-check: src\/checks\/images\/images.ts already exists\n$/],
])('reports %j with one sentence and exit code 2, without a stack trace', (error, says) => {
  const script = join(projectRoot, 'scripts/new-check.ts')
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--no-warnings', script, ...error], {
    encoding: 'utf8',
  })
  expect({ status, stdout, stderr }).toEqual({ status: 2, stdout: '', stderr: expect.stringMatching(says) })
})

test('a title that fills its line is formatted as prettier formats it', async () => {
  const title = `Nobody has to pay ${'a lot '.repeat(10)}for it`
  for (const path of writeCheck(temporaryDirectory, 'price-tags', title)) {
    const text = readFileSync(join(temporaryDirectory, path), 'utf8')
    const options = await resolveConfig(join(projectRoot, path))
    expect({ path, isFormatted: await check(text, { ...options, filepath: path }) }).toEqual({
      path,
      isFormatted: true,
    })
  }
})
