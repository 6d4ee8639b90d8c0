// A snapshot's parts agree: when the pull request changed while its lists were read, it is read again (T45).
import { describe, expect, test } from '@jest/globals'
import { pullNumber } from '../../src/change/ids.ts'
import type { Octokit } from '../../src/github/github-app.ts'
import { readSnapshot } from '../../src/github/read-snapshot.ts'

const head = (digit: string) => digit.repeat(40)

/** A GitHub whose pull request has these heads at the successive reads, and whose lists belong to the last one. */
function github(heads: readonly string[]): Octokit {
  let reads = 0
  const pull = () => {
    const sha = heads[Math.min(reads, heads.length - 1)] ?? head('a')
    reads += 1
    return {
      number: 7,
      state: 'open',
      merged: false,
      draft: false,
      title: 'Update foo',
      user: { id: 1, login: 'alice', type: 'User' },
      head: { sha, repo: null },
      base: { ref: 'main', sha: head('0') },
      labels: [],
      updated_at: `2026-01-01T00:00:0${heads.indexOf(sha)}Z`,
    }
  }
  return {
    paginate: async () => [],
    rest: {
      pulls: { get: async () => ({ data: pull() }), listReviews: {} },
      issues: { listComments: {} },
      git: { getRef: async () => ({ data: { object: { sha: head('b') } } }) },
    },
  } as unknown as Octokit
}
const read = (heads: readonly string[]) =>
  readSnapshot(github(heads), { owner: 'acme', name: 'catalog' }, pullNumber(7))

describe('T45: parts of a read that do not agree', () => {
  test('a push while it is read: the new head is read with its own lists', async () => {
    expect(await read([head('a'), head('c'), head('c'), head('c')])).toMatchObject({
      head: head('c'),
      base: head('b'),
    })
    expect(await read([head('a'), head('a')])).toMatchObject({ head: head('a') })
  })
  test('one that never rests is no snapshot at all', async () => {
    await expect(read(['1', '2', '3', '4', '5', '6', '7', '8'].map(head))).rejects.toMatchObject({
      code: 'inconsistent',
    })
  })
})
