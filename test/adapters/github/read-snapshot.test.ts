// The parts of a snapshot are consistent: if the pull request changes while its lists are read, all is read again (T45).
import { describe, expect, test } from '@jest/globals'
import { toPullNumber } from '../../../src/pull-request/ids.ts'
import type { Octokit } from '../../../src/adapters/github/github-app.ts'
import { readPullRequestSnapshot } from '../../../src/adapters/github/read-snapshot.ts'

const createHeadSha = (digit: string) => digit.repeat(40)

/** A GitHub whose pull request has these heads at the successive reads, and whose lists belong to the last one. */
function createOctokit(heads: readonly string[]): Octokit {
  let reads = 0
  const pull = () => {
    const sha = heads[Math.min(reads, heads.length - 1)] ?? createHeadSha('a')
    reads += 1
    return {
      number: 7,
      state: 'open',
      merged: false,
      draft: false,
      title: 'Update foo',
      user: { id: 1, login: 'alice', type: 'User' },
      head: { sha, repo: null },
      base: { ref: 'main', sha: createHeadSha('0') },
      labels: [],
      updated_at: `2026-01-01T00:00:0${heads.indexOf(sha)}Z`,
    }
  }
  return {
    paginate: async () => [],
    rest: {
      pulls: { get: async () => ({ data: pull() }), listReviews: {} },
      issues: { listComments: {} },
      git: { getRef: async () => ({ data: { object: { sha: createHeadSha('b') } } }) },
    },
  } as unknown as Octokit
}
const readPullWithChangingHead = (heads: readonly string[]) =>
  readPullRequestSnapshot(createOctokit(heads), { owner: 'acme', name: 'catalog' }, toPullNumber(7))

describe('T45: a pull request that changes while it is read', () => {
  test('is read again after a push, so that the new head has its own lists', async () => {
    expect(
      await readPullWithChangingHead([
        createHeadSha('a'),
        createHeadSha('c'),
        createHeadSha('c'),
        createHeadSha('c'),
      ]),
    ).toMatchObject({ head: createHeadSha('c'), base: createHeadSha('b') })
    expect(await readPullWithChangingHead([createHeadSha('a'), createHeadSha('a')])).toMatchObject({
      head: createHeadSha('a'),
    })
  })
  test('is an error if it changes during every attempt', async () => {
    await expect(
      readPullWithChangingHead(['1', '2', '3', '4', '5', '6', '7', '8'].map(createHeadSha)),
    ).rejects.toMatchObject({ code: 'inconsistent' })
  })
})
