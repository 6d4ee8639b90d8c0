// The issue about a problem of a repository: when it is opened, edited, closed, and reopened.
import { describe, expect, test } from '@jest/globals'
import { decideIssueAction } from '../../src/jobs/tracked-issue.ts'

describe('the issue', () => {
  const wanted = { title: 'two are gone', body: 'both' }
  const open = { state: 'open', title: 'one is gone', body: 'one' } as const
  const closed = { ...open, state: 'closed' } as const

  test('is opened if it does not exist', () => {
    expect(decideIssueAction(undefined, wanted, 'reopen')).toBe('open')
  })
  test('is edited if its text differs, and is not changed otherwise', () => {
    expect(decideIssueAction(open, wanted, 'reopen')).toBe('edit')
    expect(decideIssueAction({ ...open, ...wanted }, wanted, 'nothing')).toBe('nothing')
  })
  test('is closed when the problem is solved, and stays closed', () => {
    expect(decideIssueAction(open, undefined, 'nothing')).toBe('close')
    expect(decideIssueAction(closed, undefined, 'nothing')).toBe('nothing')
    expect(decideIssueAction(undefined, undefined, 'nothing')).toBe('nothing')
  })
  test('that a person closed is reopened only where the kind of issue wants it', () => {
    expect(decideIssueAction(closed, wanted, 'nothing')).toBe('nothing')
    expect(decideIssueAction(closed, wanted, 'reopen')).toBe('reopen')
  })
})
