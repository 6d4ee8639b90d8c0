// What of a report is written: what is missing, and only where the repository wants it.
import { describe, expect, test } from '@jest/globals'
import { commitSha, pullNumber } from '../../../src/change/ids.ts'
import { publishReport } from '../../../src/app/jobs/publish-report.ts'
import { decide } from '../../../src/gate/decide.ts'
import { composeReport } from '../../../src/messages/report.ts'
import type { ReportOptions } from '../../../src/messages/report-options.ts'
import type { Action, Forge, Present } from '../../../src/ports/forge.ts'
import { aGateInput, passed, sha } from '../../gate/build.ts'

const waits = [passed('ownership', { waiting: [{ what: 'an owner of foo must approve', who: ['olga'] }] })]

/** The actions that a report leads to, where this stands there already. */
async function written(options: Partial<ReportOptions>, { isWaiting = false, comment = '' } = {}) {
  const done: Action[] = []
  const present: Present = {
    checks: [],
    ...(comment !== '' && { comment: { body: comment, updatedAt: '2026-01-01T00:00:00Z' } }),
    ...{ requestedUsers: [], requestedTeams: [] },
  }
  const forge = {
    present: async () => present,
    perform: async (action: Action) => {
      done.push(action)
      return action.kind === 'put-check'
        ? { url: `https://github.com/run/${action.run.name.split(' ').at(-1) ?? ''}` }
        : { updatedAt: '2026-01-01T00:00:01Z' }
    },
  } as unknown as Forge
  const outcomes = aGateInput().outcomes.map((each) =>
    isWaiting && each.check === 'ownership' ? (waits[0] ?? each) : each,
  )
  const verdict = decide(aGateInput({ outcomes }))
  const shownAt = await publishReport(
    forge,
    (runs) => composeReport(verdict, { changeLines: [], runs, ...options }),
    pullNumber(7),
    commitSha(sha('a')),
  )
  const body = done.flatMap((action) => (action.kind === 'put-comment' ? [action.body] : []))[0]
  return { kinds: [...new Set(done.map(({ kind }) => kind))], body, shownAt }
}

describe('the comment', () => {
  test('links the check runs that were made a moment before', async () => {
    const { body } = await written({})
    expect(body).toContain('[validation](https://github.com/run/validation)')
  })
  test.each([
    ['always', false, '', true],
    ['changes', false, '', false],
    ['changes', true, '', true],
    ['changes', false, 'older words', true],
    ['never', true, '', false],
    ['never', true, 'older words', false],
  ] as const)(
    'wanted %s, people to act: %s, there: %j: written %s',
    async (comment, isWaiting, there, isWritten) => {
      const { kinds, shownAt } = await written({ comment }, { isWaiting, comment: there })
      expect(kinds.includes('put-comment')).toBe(isWritten)
      // Agreements bind to what a comment showed: one that says something else showed nothing of this.
      expect(shownAt !== undefined).toBe(isWritten)
      expect(kinds).toContain('put-check')
    },
  )
})

test('suggestions are put only where the repository wants them', async () => {
  expect((await written({})).kinds).not.toContain('put-suggestions')
  expect((await written({ suggestions: true })).kinds).toContain('put-suggestions')
})
