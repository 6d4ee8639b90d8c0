// Whether a row's pull request is merged as it was validated, once, and by a way that is expected.
import { expect } from '@jest/globals'
import type { ExpectedMergeResult, ObservedMergeMethod } from './table-row.ts'
import { runGit } from '../../sandbox/github/github-fixture.ts'
import type { PreparedMergeTableRow } from './table-fixture.ts'

async function detectMergeMethod({
  github,
  full,
  pull: { repo, merged, number },
}: PreparedMergeTableRow): Promise<ObservedMergeMethod> {
  const sha = merged?.sha ?? ''
  const parents = (await runGit(repo.path, undefined, 'log', '-1', '--format=%P', sha)).split(' ')
  const queued = /^Merge pull request #\d+ from|gh-readonly-queue/.test(
    await runGit(repo.path, undefined, 'log', '-1', '--format=%s', sha),
  )
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
  // The base as it was, the head as it is, nothing else.
  const [first = ''] = (await runGit(repo.path, undefined, 'log', '-1', '--format=%P', sha)).split(' ')
  const isBase = await runGit(repo.path, undefined, 'merge-base', it.base, first)
  expect(isBase).toBe(it.base)
  const predicted = (await runGit(repo.path, undefined, 'merge-tree', '--write-tree', first, headSha)).split(
    '\n',
  )[0]
  expect(await runGit(repo.path, undefined, 'rev-parse', `${sha}^{tree}`)).toBe(predicted)
  // Once: nothing came after it.
  expect(repo.knownRefs.get('refs/heads/main')).toBe(sha)
  expect(author.login).toBe(it.row.pull?.author ?? 'alice')
  expect(expected.by).toContain(await detectMergeMethod(it))
}
