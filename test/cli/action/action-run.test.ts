// Which events the action runs on, and which data it reads from them.
import { describe, expect, test } from '@jest/globals'
import { planGitHubActionRun } from '../../../src/cli/action.ts'

const headSha = 'a'.repeat(40)
const pullRequestEventPayload = {
  pull_request: {
    number: 7,
    user: { login: 'mallory', id: 66 },
    head: { sha: headSha },
    base: { ref: 'main' },
  },
}

describe('the events of a workflow', () => {
  test('a pull_request event plans a check of that pull request', () => {
    expect(planGitHubActionRun('pull_request', pullRequestEventPayload)).toEqual({
      kind: 'check',
      pull: 7,
      author: 'mallory:66',
      baseRef: 'main',
      head: headSha,
    })
  })

  test.each(['push', 'merge_group', 'schedule', 'workflow_dispatch'])(
    '%s validates all catalogs',
    (event) => {
      expect(planGitHubActionRun(event, {})).toEqual({ kind: 'validate' })
    },
  )

  test.each([
    'pull_request_target',
    'workflow_run',
    'issue_comment',
    'pull_request_review',
    'repository_dispatch',
    'Pull_Request',
    '',
    undefined,
  ])('%s is rejected, even with a valid payload', (event) => {
    expect(planGitHubActionRun(event, pullRequestEventPayload)).toMatchObject({ kind: 'refused' })
  })

  test.each([
    ['no pull request', {}],
    ['an author login that looks like an option', { user: { login: '--upload-pack=x', id: 1 } }],
    ['an author login with a colon', { user: { login: 'a:1', id: 1 } }],
    ['a head that is not a commit SHA', { head: { sha: '--all' } }],
    ['a head SHA followed by another line', { head: { sha: `${headSha}\n--all` } }],
  ])('a payload with %s is rejected', (_what, changed) => {
    const pull = { ...pullRequestEventPayload.pull_request, ...changed }
    const given = Object.keys(changed).length === 0 ? {} : { pull_request: pull }
    expect(planGitHubActionRun('pull_request', given)).toMatchObject({ kind: 'refused' })
  })
})
