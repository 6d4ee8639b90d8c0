// What runs for a change, and the final table of longer runs.
import { expect, test } from '@jest/globals'
import { formatStepTimes } from '../../scripts/step-times.mjs'
import { planTouchedFilesChecks } from '../../scripts/check-changed-files.ts'

test('lints code and runs the tests of its importers', () => {
  const files = ['src/policy/decide.ts', 'bin/catalog-bot.cjs', 'app.yml']
  expect(planTouchedFilesChecks(files)).toEqual({
    lint: ['src/policy/decide.ts', 'bin/catalog-bot.cjs'],
    format: files,
    imported: ['src/policy/decide.ts'],
    tests: ['test/cli/old-node.test.ts', 'test/cli/built-command.test.ts'],
  })
})

test('selects tests by location for files without importers', () => {
  const { lint, imported, tests } = planTouchedFilesChecks([
    'fixtures/rules/two-heads/good/x/catalog.yaml',
    'docs/reference/node-api.md',
  ])
  expect({ lint, imported }).toEqual({ lint: [], imported: [] })
  expect(tests).toEqual(['test/checks/rules.test.ts', 'test/scripts/rule-pages.test.ts', 'test/docs'])
})

test('the final table has a line for each step and a line with the sum', () => {
  const steps = [
    { name: 'lint', clock: 1.25, processor: 2 },
    { name: 'types', clock: 10, processor: 18.5 },
  ]
  expect(formatStepTimes(steps).split('\n').slice(1)).toEqual([
    '       1.3        2.0  lint',
    '      10.0       18.5  types',
    '      11.3       20.5  all',
  ])
  expect(formatStepTimes([{ name: 'lint', clock: 1, processor: undefined }])).toContain('         -  lint')
})
