// The issue about a merge that differs from the validated one: maintainers can run its commands unchanged.
import { expect, test } from '@jest/globals'
import { renderTreeMismatchIssue } from '../../src/report/base-branch-issues.ts'
import { toCommitSha, toPullNumber, toTreeSha } from '../../src/pull-request/ids.ts'

test('the command that unfreezes the branch names the repository and the branch, which it requires', () => {
  const mismatch = {
    repository: 'acme/catalog',
    pull: toPullNumber(7),
    branch: 'main',
    base: toCommitSha('b'.repeat(40)),
    head: toCommitSha('a'.repeat(40)),
    commit: toCommitSha('c'.repeat(40)),
    tree: toTreeSha('d'.repeat(40)),
    differs: 'another tree',
  }
  const { body } = renderTreeMismatchIssue(mismatch, { kind: 'none', why: 'the branch does not exist' })
  expect(body).toContain('`catalog-bot merging unfreeze --repository acme/catalog --branch main --audit`')
})
