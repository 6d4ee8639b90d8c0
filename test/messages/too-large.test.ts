import { expect, test } from '@jest/globals'
import { refuseTooLarge } from '../../src/gate/decide.ts'
import { composeReport, ownChecks } from '../../src/messages/report.ts'
import { aGateInput } from '../gate/build.ts'

const verdict = refuseTooLarge(aGateInput(), 'it has 30 changed paths; at most 20 are checked')

test('what is too large to check is refused for good, without a permit and without asking again', () => {
  expect(verdict).toMatchObject({ kind: 'blocked', reasons: [{ code: 'too-large' }] })
  expect([verdict.permit, verdict.retryAfter]).toEqual([undefined, undefined])
})

test('its checks fail, and its comment says the numbers and what to do', () => {
  const { checks, comment } = composeReport(verdict, { changeLines: [] })
  expect(checks.map(({ conclusion }) => conclusion)).toEqual(ownChecks.map(() => 'failure'))
  expect(comment).toContain('it has 30 changed paths; at most 20 are checked')
  expect(comment).toContain('Split it')
})
