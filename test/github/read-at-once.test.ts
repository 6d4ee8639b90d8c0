// A look at a pull request takes two requests. It sees what a look list by list sees, and whatever the one request cannot tell,
// or tells otherwise than a moment before, is read list by list.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import pino from 'pino'
import type { Pull } from '../../sandbox/github/world.ts'
import { withDigest } from '../../src/app/jobs/publish-report.ts'
import { pullNumber } from '../../src/change/ids.ts'
import type { Snapshot } from '../../src/change/snapshot.ts'
import { systemClock } from '../../src/examine/system-clock.ts'
import { openForge } from '../../src/github/forge.ts'
import { openGitHubApp } from '../../src/github/github-app.ts'
import { shownPullFragment } from '../../src/github/shown-pull.ts'
import { commentMarker } from '../../src/messages/report.ts'
import type { Forge, Present } from '../../src/ports/forge.ts'
import { full, furnish, name, privateKey, secret, type Furnished } from '../sandbox/github/sample-world.ts'

let it: Furnished
let forge: Forge
let count = 0
beforeAll(async () => {
  it = await furnish({ validateTraffic: true })
  const app = openGitHubApp({
    appId: it.app.id,
    privateKey,
    webhookSecret: secret,
    apiUrl: it.github.url,
    throttle: false,
    clock: systemClock,
    log: pino({ level: 'silent' }),
  })
  // Asked for once in the life of a process.
  await app.login()
  forge = openForge(await app.octokit(it.installation.id), { owner: name.owner, name: name.repo }, app)
})
afterAll(async () => {
  expect(it.github.violations).toEqual([])
  await it.stop()
})
beforeEach(() => it.github.clearFaults())

const open = (author = 'alice'): Promise<Pull> =>
  it.github.openPull({
    repository: full,
    author,
    title: `Update ${(count += 1)}`,
    changes: { [`at-once-${count}.txt`]: 'x\n' },
  })

const isAtOnce = ({ operation }: { readonly operation?: string }) => operation === 'PullAtOnce'

async function read({
  number,
}: Pull): Promise<{ snapshot: Snapshot | null; present: Present | undefined; requests: number }> {
  const before = it.github.requests.length
  let present: Present | undefined
  const snapshot = await forge.readSnapshot(pullNumber(number), { onPresent: (told) => (present = told) })
  return { snapshot, present, requests: it.github.requests.length - before }
}

async function readListByList(pull: Pull): Promise<Snapshot | null> {
  const take = it.github.fail(isAtOnce, { status: 502 })
  const { snapshot, present } = await read(pull)
  take()
  expect(present).toBeUndefined()
  return snapshot
}

test('all of it is seen as it is list by list, by two requests', async () => {
  const pull = await open()
  await it.github.label(pull, 'catalog')
  it.github.comment(pull, 'bob', '/hold\n\nwith reasons')
  it.github.review(pull, 'bob', 'approve')
  it.github.review(pull, 'stranger', 'changes')
  await it.github.pushToBase(full, { [`meanwhile-${count}.txt`]: 'x\n' })
  await forge.perform({ kind: 'put-comment', pull: pullNumber(pull.number), body: `${commentMarker}\nhello` })
  const { snapshot, requests } = await read(pull)
  expect(requests).toBe(2)
  expect(snapshot).toEqual(await readListByList(pull))
  expect(snapshot?.base).not.toBe(snapshot?.shownBase)
  // What a landing rests on is read as anew by it.
  const before = it.github.requests.length
  expect(await forge.readSnapshot(pullNumber(pull.number), { anew: true })).toEqual(snapshot)
  expect(it.github.requests.length - before).toBe(2)
})

test('what of ours is on it comes with it, and nothing of anybody else', async () => {
  const pull = await open('bob')
  const { head } = (await read(pull)).snapshot ?? {}
  if (head === undefined) throw new Error('no head')
  expect((await read(pull)).present).toMatchObject({ head, checks: [] })
  const run = withDigest({
    name: 'catalog-bot / images',
    status: 'completed',
    conclusion: 'success',
    title: 'Passed',
    summary: 'fine',
    annotations: [],
  })
  await forge.perform({ kind: 'put-check', head, run })
  it.github.comment(pull, 'stranger', `${commentMarker}\nforged`)
  const body = `${commentMarker}\nours\n\n${'long '.repeat(4000)}`
  await forge.perform({ kind: 'put-comment', pull: pullNumber(pull.number), body })
  const { present } = await read(pull)
  expect(present).toMatchObject({
    head,
    checks: [{ name: run.name, digest: run.digest, isOver: true }],
    comment: { body },
  })
  expect(present).toMatchObject(
    await forge.present(pullNumber(pull.number), head).then(({ readAt: _, ...rest }) => rest),
  )
  expect(present?.doubled).toBeUndefined()
})

const changes: readonly (readonly [string, (pull: Pull) => unknown])[] = [
  ['a label', (pull) => it.github.label(pull, 'wait')],
  ['a comment', (pull) => it.github.comment(pull, 'bob', '/hold')],
  ['another title', (pull) => (pull.title = 'Other')],
  ['a draft', (pull) => (pull.draft = true)],
  ['another head', (pull) => (pull.headSha = pull.baseSha)],
  ['a deleted fork', (pull) => (pull.headRepo = null)],
  ['its end', (pull) => (pull.state = 'closed')],
]

test.each(changes)(
  'T45: %s between the two requests is never mixed with what was there before',
  async (_, change) => {
    const pull = await open('bob')
    let isChanged = false
    const take = it.github.fail(
      (asked) => {
        if (isAtOnce(asked) && !isChanged) {
          isChanged = true
          change(pull)
        }
        return false
      },
      { status: 502 },
    )
    const { snapshot, requests } = await read(pull)
    take()
    expect(requests).toBeGreaterThan(2)
    expect(snapshot).toEqual(await readListByList(pull))
  },
)

describe('what one request does not tell is read list by list', () => {
  test('more than a page', async () => {
    const pull = await open()
    for (let at = 0; at < 31; at++) it.github.review(pull, 'bob', 'comment', `review ${at}`)
    const { snapshot, requests } = await read(pull)
    expect(snapshot?.reviews).toHaveLength(31)
    expect(requests).toBeGreaterThan(2)
  })

  test('a server that lags behind, and knows less of what was said than the pull request counts', async () => {
    const pull = await open()
    it.github.comment(pull, 'bob', 'first')
    const answer = await answerNow(pull)
    it.github.comment(pull, 'bob', '/hold')
    it.github.fail(isAtOnce, { status: 200, body: answer })
    const { snapshot } = await read(pull)
    expect(snapshot?.comments.map(({ body }) => body)).toEqual(['first', '/hold'])
  })

  test.each(['not found', 'an error beside it'])('an answer that is %s', async (what) => {
    const pull = await open()
    it.github.comment(pull, 'bob', 'hello')
    const answer = await answerNow(pull)
    const errors = [{ type: 'FORBIDDEN', path: ['repository'], message: 'Resource not accessible' }]
    const body = what === 'not found' ? { data: { repository: null } } : { ...answer, errors }
    it.github.fail(isAtOnce, { status: 200, body })
    const { snapshot, present } = await read(pull)
    expect(snapshot?.comments.map(({ body: text }) => text)).toEqual(['hello'])
    expect(present).toBeUndefined()
  })
})

/** What GitHub answers to the one request now. */
async function answerNow(pull: Pull): Promise<{ data: unknown }> {
  const query = `query ($owner: String!, $name: String!, $pull: Int!, $head: GitObjectID!) {
    repository(owner: $owner, name: $name) {
      defaultBranchRef { name }
      ref(qualifiedName: "refs/heads/main") { target { oid } }
      object(oid: $head) { ... on Commit { checkSuites(filterBy: { appId: 1 }) { totalCount nodes { id } } } }
      pullRequest(number: $pull) { ...ShownPull }
    }
  }
  ${shownPullFragment}`
  const asked = { owner: name.owner, name: name.repo, pull: pull.number, head: pull.headSha }
  return { data: await it.octokit.graphql(query, asked) }
}

test('the default branch is asked for once a minute, and anew where it is told so', async () => {
  const pull = await open()
  await read(pull)
  const before = it.github.requests.length
  expect(await forge.defaultBranch({ kept: true })).toBe('main')
  expect(it.github.requests.length - before).toBe(0)
  expect(await forge.defaultBranch()).toBe('main')
  expect(it.github.requests.length - before).toBe(1)
})

test('an account that is gone is nobody, whoever is asked', async () => {
  const pull = await open()
  it.github.comment(pull, 'stranger', 'bye')
  const stranger = it.github.account('stranger')
  stranger.deleted = true
  try {
    expect((await read(pull)).snapshot).toEqual(await readListByList(pull))
  } finally {
    stranger.deleted = false
  }
})
