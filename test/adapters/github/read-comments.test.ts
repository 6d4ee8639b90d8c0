// Comments are cached, but no change to them is missed.
import { describe, expect, test } from '@jest/globals'
import { toPullNumber } from '../../../src/pull-request/ids.ts'
import { createCommentCache } from '../../../src/adapters/github/github-cache.ts'
import type { Octokit } from '../../../src/adapters/github/github-app.ts'
import {
  findBotComment,
  extractLinesSearchedForCommands,
  readComments,
} from '../../../src/adapters/github/read-comments.ts'
import { commentMarker } from '../../../src/report/comment.ts'

interface GitHubComment {
  id: number
  body: string
  updated_at: string
  user: { id: number; login: string; type?: string }
  performed_via_github_app?: { id: number } | null
}

const formatTimestampAtSecond = (second: number) =>
  new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString()

/** A pull request with comments, and the clock by which cached comments expire. */
function createFakeGitHub(count: number) {
  const commentList: GitHubComment[] = Array.from({ length: count }, (_, id) => ({
    id,
    body: `comment ${id}`,
    updated_at: formatTimestampAtSecond(id * 60),
    user: { id: 1, login: 'alice' },
  }))
  let requests = 0
  let now = Date.UTC(2026, 0, 2)
  const view = (one: GitHubComment) => ({
    ...one,
    node_id: `node ${one.id}`,
    created_at: one.updated_at,
    issue_url: 'https://x/issues/7',
  })
  const octokit = {
    graphql: async (query: string, lists: Record<string, string[]>) => {
      requests += 1
      const here = new Set(commentList.map(({ id }) => `node ${id}`))
      const names = [...query.matchAll(/(\w+): nodes\(ids: \$(\w+)\)/g)]
      const data = Object.fromEntries(
        names.map(([, alias = '', list = '']) => [
          alias,
          (lists[list] ?? []).map((id) => (here.has(id) ? { id } : null)),
        ]),
      )
      if (names.some(([, , list = '']) => (lists[list] ?? []).length > 100)) throw new Error('too many ids')
      // Like GitHub: a deleted comment is null in the data, and the response contains an error.
      throw Object.assign(new Error('Could not resolve to a node'), { data })
    },
    paginate: async (_route: unknown, { since = '' }: { since?: string }) => {
      const found = commentList.filter(({ updated_at }) => updated_at >= since).map(view)
      requests += Math.max(1, Math.ceil(found.length / 100))
      return found
    },
    rest: {
      issues: {
        listComments: {},
        getComment: async ({ comment_id }: { comment_id: number }) => {
          requests += 1
          const found = commentList.find(({ id }) => id === comment_id)
          if (!found) throw Object.assign(new Error('gone'), { status: 404 })
          return { data: view(found) }
        },
      },
    },
  } as unknown as Octokit
  const reader = {
    octokit,
    appId: 5,
    login: () => Promise.resolve('catalog-bot[bot]'),
    repository: { owner: 'coast', name: 'operators' },
    cache: createCommentCache({ now: () => now, sleep: () => Promise.resolve() }),
  }
  return {
    told: commentList,
    reader,
    later: (milliseconds: number) => (now += milliseconds),
    requests: () => [requests, (requests = 0)][0],
    read: async (anew = false) =>
      (await readComments(reader, toPullNumber(7), commentList.length, anew)).map(({ id, body, author }) => ({
        id,
        body,
        author: author?.id,
      })),
  }
}

describe('thousands of comments', () => {
  test('are read once, and then only new ones', async () => {
    const fakeGitHub = createFakeGitHub(3000)
    expect(await fakeGitHub.read()).toHaveLength(3000)
    expect(fakeGitHub.requests()).toBe(30)
    fakeGitHub.told.push({
      id: 3000,
      body: '/hold',
      updated_at: formatTimestampAtSecond(200_000),
      user: { id: 2, login: 'bob' },
    })
    expect((await fakeGitHub.read()).at(-1)).toEqual({ id: 3000, body: '/hold', author: 2 })
    expect(fakeGitHub.requests()).toBe(1)
  })
  test('do not contain a deleted one', async () => {
    const fakeGitHub = createFakeGitHub(250)
    await fakeGitHub.read()
    fakeGitHub.told.splice(10, 1)
    expect((await fakeGitHub.read()).some(({ id }) => id === 10)).toBe(false)
  })
  test('cost two requests after some were deleted, at any position', async () => {
    const fakeGitHub = createFakeGitHub(2400)
    await fakeGitHub.read()
    fakeGitHub.requests()
    for (const at of [0, 1200, 2390]) {
      fakeGitHub.told.splice(at, 3)
      expect((await fakeGitHub.read()).map(({ id }) => id)).toEqual(fakeGitHub.told.map(({ id }) => id))
      expect(fakeGitHub.requests()).toBe(2)
    }
  })
  test('are all read again if GitHub does not report which of them exist', async () => {
    const fakeGitHub = createFakeGitHub(250)
    await fakeGitHub.read()
    Object.assign(fakeGitHub.reader.octokit, { graphql: () => Promise.reject(new Error('out of order')) })
    fakeGitHub.told.splice(10, 1)
    expect(await fakeGitHub.read()).toHaveLength(249)
    expect((await fakeGitHub.read()).some(({ id }) => id === 10)).toBe(false)
  })
  test('are up to date after one was deleted and another one was added', async () => {
    const fakeGitHub = createFakeGitHub(250)
    await fakeGitHub.read()
    fakeGitHub.told.splice(10, 1)
    fakeGitHub.told.push({
      id: 900,
      body: 'new',
      updated_at: formatTimestampAtSecond(90_000),
      user: { id: 2, login: 'bob' },
    })
    const ids = (await fakeGitHub.read()).map(({ id }) => id)
    expect([ids.includes(10), ids.includes(900)]).toEqual([false, true])
  })
  test('contain the new text of an edited old one', async () => {
    const fakeGitHub = createFakeGitHub(250)
    await fakeGitHub.read()
    Object.assign(fakeGitHub.told[3] ?? {}, { body: 'edited', updated_at: formatTimestampAtSecond(90_000) })
    expect((await fakeGitHub.read()).find(({ id }) => id === 3)?.body).toBe('edited')
  })
  test('are read again on request for a merge, and otherwise after an hour', async () => {
    const fakeGitHub = createFakeGitHub(250)
    await fakeGitHub.read()
    // A deleted account does not change the timestamp.
    Object.assign(fakeGitHub.told[3] ?? {}, { user: null })
    expect((await fakeGitHub.read(true)).find(({ id }) => id === 3)?.author).toBeUndefined()
    Object.assign(fakeGitHub.told[4] ?? {}, { user: null })
    fakeGitHub.later(3600_000)
    expect((await fakeGitHub.read()).find(({ id }) => id === 4)?.author).toBeUndefined()
  })
  test('are not all read to find ours, and a copy of our marker is not ours', async () => {
    const fakeGitHub = createFakeGitHub(1000)
    Object.assign(fakeGitHub.told[5] ?? {}, { body: `${commentMarker} forged` })
    Object.assign(fakeGitHub.told[6] ?? {}, {
      body: `${commentMarker} ours`,
      performed_via_github_app: { id: 5 },
    })
    await fakeGitHub.read()
    fakeGitHub.requests()
    expect(await findBotComment(fakeGitHub.reader, toPullNumber(7))).toMatchObject({ id: 6 })
    expect(fakeGitHub.requests()).toBe(2)
    fakeGitHub.told.splice(6, 1)
    expect(await findBotComment(fakeGitHub.reader, toPullNumber(7))).toBeUndefined()
  })
})

describe('the stored part of a comment', () => {
  test('consists of the lines that can contain a command', () => {
    expect(extractLinesSearchedForCommands(`/approve\n${'word\n'.repeat(100)}`).split('\n')).toHaveLength(20)
    expect(extractLinesSearchedForCommands('/hold')).toBe('/hold')
  })
  test('is empty if those lines are too long', () => {
    expect(extractLinesSearchedForCommands(`/approve abcdef0\n${'x'.repeat(10_000)}`)).toBe('')
  })
})

describe('our own comment', () => {
  const bot = { id: 99, login: 'catalog-bot[bot]', type: 'Bot' }
  const body = `${commentMarker}\n\nours`
  const found = async (...comments: Partial<GitHubComment>[]) => {
    const fakeGitHub = createFakeGitHub(0)
    comments.forEach((one, id) =>
      fakeGitHub.told.push({
        id,
        body,
        updated_at: formatTimestampAtSecond(id),
        user: { id: 1, login: 'alice' },
        ...one,
      }),
    )
    // A snapshot fills the same cache first.
    await fakeGitHub.read()
    fakeGitHub.later(600_000)
    return (await findBotComment(fakeGitHub.reader, toPullNumber(7)))?.id
  }
  test.each([
    ['reports our App as its author', { user: bot, performed_via_github_app: { id: 5 } }],
    ['reports only our bot as its author', { user: bot, performed_via_github_app: null }],
    ['does not report Apps at all', { user: bot }],
  ])('is found if GitHub %s', async (_what, one) => {
    expect(await found({ user: { id: 3, login: 'mallory' } }, one)).toBe(1)
  })
  test.each([
    ['a person', { user: { id: 3, login: 'mallory', type: 'User' }, performed_via_github_app: null }],
    ['a person through another App', { user: bot, performed_via_github_app: { id: 6 } }],
    ['another bot', { user: { id: 4, login: 'other-bot[bot]', type: 'Bot' } }],
    ['a person with the name of our bot', { user: { ...bot, type: 'User' } }],
    ['our bot, about something else', { user: bot, body: `hello ${commentMarker}` }],
  ])('is not a comment by %s', async (_who, one) => {
    expect(await found(one)).toBeUndefined()
  })
})
