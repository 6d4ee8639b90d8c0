import { expect, test } from '@jest/globals'
import { fewOfEach } from '../../src/findings/few-of-each.ts'
import type { Finding, Severity } from '../../src/findings/finding.ts'

const found = (rule: string, severity: Severity): Finding => ({ rule, severity, what: '', why: '', fix: '' })

test('every error is shown, and the first of each other rule, in their order', () => {
  const findings = [
    found('a', 'warning'),
    found('b', 'info'),
    found('a', 'warning'),
    found('e', 'error'),
    found('a', 'warning'),
    found('e', 'error'),
    found('a', 'warning'),
    found('e', 'error'),
  ]
  const { shown, more } = fewOfEach(findings, 2)
  expect(shown.map(({ rule }) => rule)).toEqual(['a', 'b', 'a', 'e', 'e', 'e'])
  expect([...more]).toEqual([['a', 2]])
})

test('nothing is left out of few', () => {
  expect(fewOfEach([found('a', 'info')], 1).more.size).toBe(0)
})
