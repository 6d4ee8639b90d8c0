import { expect, test } from '@jest/globals'
import { limitFindingsPerRule } from '../../../packages/findings/src/finding-list.ts'
import type { Severity } from '../../../packages/findings/src/finding.ts'
import { createTestFinding } from '../../policy/verdict-inputs.ts'

const createFinding = (rule: string, severity: Severity) => createTestFinding({ rule, severity })

test('every error is shown, and the first of each other rule, in their order', () => {
  const findings = [
    createFinding('a', 'warning'),
    createFinding('b', 'info'),
    createFinding('a', 'warning'),
    createFinding('e', 'error'),
    createFinding('a', 'warning'),
    createFinding('e', 'error'),
    createFinding('a', 'warning'),
    createFinding('e', 'error'),
  ]
  const { shown, more } = limitFindingsPerRule(findings, 2)
  expect(shown.map(({ rule }) => rule)).toEqual(['a', 'b', 'a', 'e', 'e', 'e'])
  expect([...more]).toEqual([['a', 2]])
})

test('nothing is omitted below the limit', () => {
  expect(limitFindingsPerRule([createFinding('a', 'info')], 1).more.size).toBe(0)
})
