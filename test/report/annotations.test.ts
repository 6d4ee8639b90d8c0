import { expect, test } from '@jest/globals'
import type { Finding } from '../../packages/findings/src/finding.ts'
import { decideVerdict } from '../../src/policy/decide.ts'
import { renderPullReport } from '../../src/report/report.ts'
import {
  createVerdictInput,
  createOutcomesForAllChecks,
  createPassedCheckOutcome,
} from '../policy/verdict-inputs.ts'

test('an annotation is on the first line of its finding, even if the finding spans several lines', () => {
  const found: Finding = {
    ...{ rule: 'self-edge', severity: 'error', what: 'x', why: '', fix: '' },
    at: { file: 'c.yaml', line: 7, column: 3, endLine: 19, endColumn: 4 },
  }
  const outcomes = createOutcomesForAllChecks(createPassedCheckOutcome('validation', { findings: [found] }))
  const { checks } = renderPullReport(decideVerdict(createVerdictInput({ outcomes })), { changeLines: [] })
  expect(checks.flatMap(({ annotations }) => annotations)).toMatchObject([
    { path: 'c.yaml', startLine: 7, endLine: 7 },
  ])
})
