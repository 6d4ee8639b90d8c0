import { expect, test } from '@jest/globals'
import { checkCodeSizeBudgets } from '../../scripts/code-size-budgets.ts'

const createSourceFiles = (count: number, text: string) =>
  new Map(Array.from({ length: count }, (_, index) => [`src/merge/file-${index}.ts`, text]))

test('a project within all limits passes', () => {
  expect(checkCodeSizeBudgets(createSourceFiles(3, 'export const one = 1\n')).exceeded).toEqual([])
})

test('too many files and too long functions are named', () => {
  const longFunction = `export function run() {\n${'  call()\n'.repeat(130)}}\n`
  const { exceeded, table } = checkCodeSizeBudgets(createSourceFiles(200, longFunction))
  expect(exceeded).toEqual([
    expect.stringMatching(/^lines of evaluate, policy, merge: 26400, but at most \d+ are allowed$/),
    expect.stringMatching(/^files of evaluate, policy, merge: 200, but at most \d+ are allowed$/),
    expect.stringMatching(/^functions above 60 lines: 200, but at most \d+ are allowed$/),
    expect.stringMatching(/^functions above 120 lines: 200, but at most \d+ are allowed$/),
  ])
  expect(table).toMatch(/^ +26400 {2}limit +\d+ {2}target +88000 {2}lines of packages and src$/m)
})
