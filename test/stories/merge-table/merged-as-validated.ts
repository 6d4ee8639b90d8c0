// Whether a row's pull request is merged as it was validated, once, and by a way that is expected.
import { expect } from '@jest/globals'
import type { ExpectedMergeResult, ObservedMergeMethod } from './table-row.ts'
import { runGit } from '../../sandbox/github/github-fixture.ts'
import type { PreparedMergeTableRow } from './table-fixture.ts'

function detectMergeMethod(
  { github, full, pull: { number } }: PreparedMergeTableRow,
  parents: readonly string[],
  subject: string,
): ObservedMergeMethod {
  const queued = /^Merge pull request #\d+ from|gh-readonly-queue/.test(subject)
  const byApi = github.requests.some(
    ({ method, path, status }) =>
      method === 'PUT' && path.endsWith(`/${full}/pulls/${number}/merge`) && status === 200,
  )
  if (parents.length === 1) return 'linear'
  if (byApi) return 'merge'
  const signed = github.requests.some(
    ({ method, path, status }) =>
      method === 'POST' && path.endsWith(`/${full}/git/commits`) && status === 201,
  )
  return signed ? 'signed' : queued ? 'queue' : 'push'
}

export async function expectMergedAsValidated(
  it: PreparedMergeTableRow,
  expected: ExpectedMergeResult,
): Promise<void> {
  const { repo, merged, headSha, author } = it.pull
  expect(merged).not.toBeNull()
  const sha = merged?.sha ?? ''
  const git = (...args: string[]) => runGit(repo.path, undefined, ...args)
  // The base as it was, the head as it is, nothing else.
  const commit = await git('log', '-1', '--format=%T%n%P%n%s', sha)
  const [tree, parentIds = '', subject = ''] = commit.split('\n')
  const parents = parentIds.split(' ')
  const [first = ''] = parents
  if (first !== it.base) expect(await git('merge-base', it.base, first)).toBe(it.base)
  const [predicted] = (await git('merge-tree', '--write-tree', first, headSha)).split('\n')
  expect(tree).toBe(predicted)
  // Once: nothing came after it.
  expect(repo.knownRefs.get('refs/heads/main')).toBe(sha)
  expect(author.login).toBe(it.row.pull?.author ?? 'alice')
  expect(expected.by).toContain(detectMergeMethod(it, parents, subject))
}
