import { expect, test } from '@jest/globals'
import type { Severity } from '../../../packages/findings/src/finding.ts'
import { selectMostSevereFindings } from '../../../packages/findings/src/finding-list.ts'
import { createTestFinding } from '../../policy/verdict-inputs.ts'

const createFinding = (severity: Severity, rule: string) => createTestFinding({ rule, severity })
const sampleFindings = [
  createFinding('info', 'a'),
  createFinding('error', 'b'),
  createFinding('warning', 'c'),
  createFinding('error', 'd'),
  createFinding('warning', 'e'),
]
const selectMostSevereRules = (maxFindings: number) =>
  selectMostSevereFindings(sampleFindings, maxFindings)
    .findings.map(({ rule }) => rule)
    .join('')

test('errors are kept before warnings, and warnings before info, in their original order', () => {
  expect([0, 1, 2, 3, 4, 5, 9].map(selectMostSevereRules)).toEqual([
    '',
    'b',
    'bd',
    'bcd',
    'bcde',
    'abcde',
    'abcde',
  ])
  expect(selectMostSevereFindings(sampleFindings, 2).leftOut).toBe(3)
  expect(selectMostSevereFindings(sampleFindings, 5).leftOut).toBe(0)
})
