import { expect, test } from '@jest/globals'
import type { Finding, Severity } from '../../src/findings/finding.ts'
import { mostImportant } from '../../src/findings/most-important.ts'

const of = (severity: Severity, rule: string): Finding => ({ rule, severity, what: '', why: '', fix: '' })
const all = [of('info', 'a'), of('error', 'b'), of('warning', 'c'), of('error', 'd'), of('warning', 'e')]
const rules = (most: number) =>
  mostImportant(all, most)
    .findings.map(({ rule }) => rule)
    .join('')

test('errors stay before warnings and warnings before notes, each in its place', () => {
  expect([0, 1, 2, 3, 4, 5, 9].map(rules)).toEqual(['', 'b', 'bd', 'bcd', 'bcde', 'abcde', 'abcde'])
  expect(mostImportant(all, 2).leftOut).toBe(3)
  expect(mostImportant(all, 5).leftOut).toBe(0)
})
