import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import pino from 'pino'
import { systemClock } from '../../src/examine/system-clock.ts'
import { withDigest } from '../../src/app/jobs/publish-report.ts'
import { commitSha, pullNumber, userId } from '../../src/change/ids.ts'
import { openForge } from '../../src/github/forge.ts'
import { openGitHubApp, type GitHubApp } from '../../src/github/github-app.ts'
import { commentMarker, type ReportedCheck } from '../../src/messages/report.ts'
import { suggestionMarker } from '../../src/messages/suggestions.ts'
import type { Forge, Present } from '../../src/ports/forge.ts'
import type { Pull } from '../../sandbox/github/world.ts'
import {
  full,
  furnish,
  jwt,
  name,
  privateKey,
  secret,
  type Furnished,
} from '../sandbox/github/sample-world.ts'

let it: Furnished
let app: GitHubApp
let forge: Forge
let pull: Pull

beforeAll(async () => {
  it = await furnish({ validateTraffic: true })
  app = openGitHubApp({
    appId: it.app.id,
    privateKey,
    webhookSecret: secret,
    apiUrl: it.github.url,
    throttle: false,
    clock: systemClock,
    log: pino({ level: 'silent' }),
  })
  forge = openForge(await app.octokit(it.installation.id), { owner: name.owner, name: name.repo }, app)
  pull = await it.github.openPull({
    repository: full,
    author: 'alice',
    title: 'Update alpha',
    changes: { 'a.txt': 'a\n' },
  })
})
afterAll(async () => it.stop())
beforeEach(() => it.github.clearFaults())

const here = () => pullNumber(pull.number)
const head = () => commitSha(pull.headSha)

function aCheck(differences: Partial<ReportedCheck> = {}): ReportedCheck {
  return {
    name: 'catalog-bot / ownership',
    status: 'completed',
    conclusion: 'success',
    title: 'Passed',
    summary: 'fine',
    annotations: [],
    ...differences,
  }
}

const anAnnotation = (line: number) => ({
  path: 'a.txt',
  startLine: line,
  endLine: line,
  level: 'failure' as const,
  title: 'rule',
  message: 'wrong',
})

describe('a snapshot', () => {
  test('tells who, from where, to where, and what was said', async () => {
    it.github.review(pull, 'bob', 'approve', 'fine')
    it.github.comment(pull, 'stranger', 'hello')
    const snapshot = await forge.readSnapshot(here())
    expect(snapshot).toMatchObject({
      pull: pull.number,
      state: 'open',
      draft: false,
      author: { login: 'alice', id: it.github.account('alice').id, kind: 'user' },
      head: pull.headSha,
      baseRef: 'main',
      headRepository: { owner: 'alice', name: 'community' },
    })
    expect(snapshot?.reviews.at(-1)).toMatchObject({
      state: 'approved',
      author: { login: 'bob' },
      commit: pull.headSha,
    })
    expect(snapshot?.comments.at(-1)).toMatchObject({ body: 'hello', author: { login: 'stranger' } })
  })

  test('its base is the tip of the branch, also when the branch moved after the pull request was opened', async () => {
    const moved = await it.github.pushToBase(full, { 'moved.txt': 'x\n' })
    expect((await forge.readSnapshot(here()))?.base).toBe(moved)
  })

  test('is nothing when the pull request does not exist', async () => {
    expect(await forge.readSnapshot(pullNumber(9999))).toBeNull()
  })

  test('reads all reviews and comments, however many pages they fill', async () => {
    const other = await it.github.openPull({
      repository: full,
      author: 'bob',
      title: 'Many',
      changes: { 'b.txt': 'b\n' },
    })
    for (let count = 0; count < 101; count++) {
      it.github.review(other, 'alice', 'comment', `review ${count}`)
      it.github.comment(other, 'alice', `comment ${count}`)
    }
    const snapshot = await forge.readSnapshot(pullNumber(other.number))
    expect(snapshot?.reviews).toHaveLength(101)
    expect(snapshot?.comments).toHaveLength(101)
  })

  test('rejects as retryable when GitHub fails, and names the pull request', async () => {
    it.github.fail('POST /graphql', { status: 502 }, 20)
    it.github.fail('GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews', { status: 502 }, 20)
    await expect(forge.readSnapshot(here())).rejects.toMatchObject({ code: 'unavailable', retryable: true })
  }, 180_000)

  test('survives a fork that was deleted and an author who is gone', async () => {
    const lost = await it.github.openPull({
      repository: full,
      author: 'stranger',
      title: 'Gone',
      changes: { 'c.txt': 'c\n' },
    })
    if (lost.headRepo !== null) it.github.deleteFork(lost.headRepo)
    const snapshot = await forge.readSnapshot(pullNumber(lost.number))
    expect(snapshot?.headRepository).toBeNull()
  })
})

describe('how a check of another App stands', () => {
  const name = 'build'
  const question = (app: number, commit = head()) => ({ kind: 'check-run', commit, app, name }) as const

  test('counts from that App alone, under that name, in each of its suites', async () => {
    const own = { repository: full, author: 'bob', title: 'Built', changes: { 'built.txt': 'x' } }
    const { headSha } = await it.github.openPull(own)
    const permissions = { checks: 'write' } as const
    const { app: other, installations } = it.github.installApp(
      { slug: 'ci', privateKey, webhookSecret: secret, events: [], permissions },
      [full],
    )
    const asOther = it.client(jwt({ iss: other.id }))
    const installation_id = installations[0]?.id ?? 0
    const { data } = await asOther.rest.apps.createInstallationAccessToken({ installation_id })
    const ci = it.client(data.token)
    const put = async (client: typeof ci, more: object, title = name) =>
      (await client.rest.checks.create({ ...repo, name: title, head_sha: headSha, ...more })).data.id
    const repo = { owner: 'catalogs', repo: 'community' }

    await put(it.octokit, { conclusion: 'success' })
    await put(ci, { conclusion: 'success' }, 'Build')
    expect(await forge.answer(question(other.id, commitSha(headSha)))).toEqual({ kind: 'missing' })
    const id = await put(ci, { status: 'in_progress' })
    expect(await forge.answer(question(other.id, commitSha(headSha)))).toEqual({ kind: 'running' })
    const output = { title: 'All tests passed', summary: 'Whatever it says of itself.' }
    const end = (conclusion: 'success' | 'timed_out' | 'neutral') =>
      ci.rest.checks.update({ ...repo, check_run_id: id, status: 'completed', conclusion, output })
    for (const conclusion of ['neutral', 'success'] as const) {
      await end(conclusion)
      expect(await forge.answer(question(other.id, commitSha(headSha)))).toEqual({ kind: 'green' })
    }
    await end('timed_out')
    expect(await forge.answer(question(other.id, commitSha(headSha)))).toEqual({
      kind: 'red',
      conclusion: 'timed_out',
    })
  })

  test('is unknown while GitHub does not answer', async () => {
    it.github.fail('GET /repos/{owner}/{repo}/commits/{ref}/check-runs', { status: 403 })
    expect(await forge.answer(question(1))).toMatchObject({ kind: 'unknown' })
  })
})

test('what the App may do here is told as it is now', async () => {
  expect(await forge.permissions()).toMatchObject({ contents: 'write', checks: 'write' })
})

describe('whether a comment was edited (T29)', () => {
  const asked = async (body: string, edit?: string) => {
    const comment = it.github.comment(pull, 'bob', body)
    if (edit !== undefined) it.github.editComment(comment, `${body} `, edit)
    const snapshot = await forge.readSnapshot(here())
    const { id, node } = snapshot?.comments.find((each) => each.id === comment.id) ?? { id: 0 }
    return forge.answer({ kind: 'comment', comment: id, ...(node !== undefined && { node }) })
  }
  test('is no, until somebody does, be it its author', async () => {
    expect(await asked('/approve one')).toEqual({ kind: 'unedited' })
    expect(await asked('/approve two', 'bob')).toEqual({ kind: 'edited' })
    expect(it.github.violations).toEqual([])
  })
  test('is yes when a maintainer did within the second of its creation, of which its times tell nothing', async () => {
    const second = Date.now()
    const comment = it.github.comment(pull, 'bob', 'fine')
    it.github.editComment(comment, '/approve', 'alice')
    const snapshot = await forge.readSnapshot(here())
    const seen = snapshot?.comments.find(({ id }) => id === comment.id)
    if (Date.now() - second < 500) expect(seen?.body).toBe('/approve')
    expect(await forge.answer({ kind: 'comment', comment: comment.id, node: seen?.node ?? '' })).toEqual({
      kind: 'edited',
    })
  })
  test('is not known when GitHub does not say', async () => {
    expect(await forge.answer({ kind: 'comment', comment: 1 })).toMatchObject({ kind: 'unknown' })
    expect(await forge.answer({ kind: 'comment', comment: 1, node: 'bm8=' })).toMatchObject({
      kind: 'unknown',
    })
    const edits = ({ operation }: { operation?: string }) => operation === 'EditsOfComment'
    it.github.fail(edits, { status: 502 }, 1)
    expect(await asked('/approve three')).toMatchObject({ kind: 'unknown', retryAfter: 60 })
    it.github.fail(edits, { status: 200, body: { data: { node: { __typename: 'IssueComment' } } } }, 1)
    expect(await asked('/approve four')).toMatchObject({ kind: 'unknown' })
    // What GitHub could not find out is null, and an error beside it says so.
    const node = { __typename: 'IssueComment', lastEditedAt: null, includesCreatedEdit: false, editor: null }
    const errors = [
      { type: 'SERVICE_UNAVAILABLE', message: 'Something went wrong', path: ['node', 'editor'] },
    ]
    const heal = it.github.fail('POST /graphql', { status: 200, body: { data: { node }, errors } }, 20)
    expect(await asked('/approve five')).toMatchObject({ kind: 'unknown' })
    heal()
  })
})

describe('a check run', () => {
  test('is found again by its digest', async () => {
    const run = withDigest(aCheck())
    await forge.perform({ kind: 'put-check', head: head(), run })
    const url = expect.stringMatching(/^http.*\/runs\/\d+$/)
    expect((await forge.present(here(), head())).checks).toEqual([
      { name: run.name, digest: run.digest, isOver: true, conclusion: 'success', url },
    ])
    expect(await forge.checksOn(head())).toMatchObject([{ name: run.name, digest: run.digest }])
  })

  test('carries more annotations than one request takes, each once', async () => {
    const annotations = Array.from({ length: 120 }, (_, index) => anAnnotation(index + 1))
    const run = withDigest(aCheck({ name: 'catalog-bot / validation', conclusion: 'failure', annotations }))
    await forge.perform({ kind: 'put-check', head: head(), run })
    const shown = it.github.checkRuns(pull).find((candidate) => candidate.name === run.name)
    expect(shown?.annotations).toHaveLength(120)
  })

  test('a new result replaces the old one without repeating its annotations', async () => {
    const first = withDigest(
      aCheck({ name: 'catalog-bot / images', conclusion: 'failure', annotations: [anAnnotation(1)] }),
    )
    const second = withDigest(
      aCheck({ name: 'catalog-bot / images', conclusion: 'failure', annotations: [anAnnotation(2)] }),
    )
    await forge.perform({ kind: 'put-check', head: head(), run: first })
    await forge.perform({ kind: 'put-check', head: head(), run: second })
    const latest = it.github
      .checkRuns(pull)
      .filter((candidate) => candidate.name === first.name)
      .at(-1)
    expect(latest?.annotations).toHaveLength(1)
    expect((await forge.present(here(), head())).checks).toContainEqual(
      expect.objectContaining({ name: second.name, digest: second.digest }),
    )
  })

  test('goes with the others of its commit in one request, and each that GitHub did not take by itself', async () => {
    const other = await it.github.openPull({
      repository: full,
      author: 'bob',
      title: 'Together',
      changes: { 'together.txt': 'x\n' },
    })
    const commit = commitSha(other.headSha)
    const runs = ['one', 'two', 'three', 'four'].map((id) =>
      withDigest(aCheck({ name: `catalog-bot / ${id}`, annotations: id === 'two' ? [anAnnotation(1)] : [] })),
    )
    await forge.readSnapshot(pullNumber(other.number))
    const since = it.github.requests.length
    const { urls } = await forge.perform({ kind: 'put-checks', head: commit, runs, present: [] })
    expect(it.github.requests.slice(since)).toMatchObject([{ operation: 'CreateCheckRuns', writes: 4 }])
    const shown = () => it.github.checkRuns(other)
    expect(shown()).toMatchObject(
      runs.map(({ name: called, digest, annotations }) => ({
        name: called,
        externalId: digest,
        conclusion: 'success',
        annotations: annotations.map(() => ({
          start_line: 1,
          annotation_level: 'failure',
          message: 'wrong',
        })),
      })),
    )
    const { checks } = await forge.present(pullNumber(other.number), commit)
    expect(new Map(checks.map(({ name: called, url }) => [called, url]))).toEqual(urls)

    // One that is over is made anew, and of what is under way nothing is known but that it is there.
    const again = runs.map((run) => withDigest({ ...run, summary: 'other' }))
    const present = checks.map((one, at) => ({ ...one, isOver: at > 0 }))
    it.github.fail(({ operation }) => operation === 'CreateCheckRuns', { applyThenFail: 502 })
    await forge.perform({ kind: 'put-checks', head: commit, runs: again, present })
    expect(shown().length).toBe(8)
    // A GitHub that does not know how.
    it.github.fail(
      'POST /graphql',
      { status: 200, body: { errors: [{ message: "Field doesn't exist" }] } },
      5,
    )
    const last = runs.map((run) => withDigest({ ...run, summary: 'last' }))
    await forge.perform({ kind: 'put-checks', head: commit, runs: last, present })
    expect(shown().slice(8)).toMatchObject(last.map(({ digest }) => ({ externalId: digest })))
    expect(it.github.violations).toEqual([])
  })

  test('of another App is never taken for ours', async () => {
    await it.octokit.rest.checks.create({
      ...name,
      name: 'catalog-bot / rebuild',
      head_sha: pull.headSha,
      status: 'completed',
      conclusion: 'success',
    })
    const foreign = openForge(
      await app.octokit(it.installation.id),
      { owner: name.owner, name: name.repo },
      { appId: it.app.id + 1, login: async () => 'another[bot]' },
    )
    expect(await foreign.checksOn(head())).toEqual([])
  })
})

describe('the one comment', () => {
  test('is written once, edited in place, and not touched when it says the same', async () => {
    const body = `${commentMarker}\nfirst`
    const writes = () =>
      it.github.requests.filter(({ method, path }) => method !== 'GET' && path.includes('comments')).length
    await forge.perform({ kind: 'put-comment', pull: here(), body })
    const once = writes()
    await forge.perform({ kind: 'put-comment', pull: here(), body })
    expect(writes()).toBe(once)
    await forge.perform({ kind: 'put-comment', pull: here(), body: `${commentMarker}\nsecond` })
    expect((await forge.present(here(), head())).comment?.body).toBe(`${commentMarker}\nsecond`)
    const { data } = await it.octokit.rest.issues.listComments({ ...name, issue_number: pull.number })
    expect(data.filter((comment) => comment.body?.startsWith(commentMarker))).toHaveLength(1)
  })

  describe('where a process stood still', () => {
    let now = 0
    let slow: Forge
    const standingStill = async (title: string) => {
      slow = openForge(
        await app.octokit(it.installation.id),
        { owner: name.owner, name: name.repo },
        { appId: app.appId, login: () => app.login(), monotonic: () => now },
      )
      const other = await it.github.openPull({
        repository: full,
        author: 'bob',
        title,
        changes: { [`${title}.txt`]: 'x\n' },
      })
      const text = (words: string) => `${commentMarker}\n${words}`
      return {
        pull: pullNumber(other.number),
        text,
        take: () =>
          forge.perform({ kind: 'put-comment', pull: pullNumber(other.number), body: text('newer') }),
        said: () => other.comments.map(({ body }) => body),
        present: { readAt: now },
      }
    }

    test('before it wrote, what took over has written: that is edited', async () => {
      const { pull: at, text, take, said, present } = await standingStill('before')
      await take()
      now += 15_000
      await slow.perform({ kind: 'put-comment', pull: at, body: text('older'), present })
      expect(said()).toEqual([text('older')])
    })

    test('while it wrote, there is one comment at the end, and it is the first', async () => {
      const { pull: at, text, take, said, present } = await standingStill('while')
      await take()
      it.github.fail(
        ({ method, template }) => {
          if (method === 'POST' && template.endsWith('/comments')) now += 15_000
          return false
        },
        { status: 502 },
      )
      const { updatedAt } = await slow.perform({
        kind: 'put-comment',
        pull: at,
        body: text('older'),
        present,
      })
      expect(said()).toEqual([text('newer')])
      expect(updatedAt).toBeUndefined()
    })

    test('for a moment only, nothing is read again', async () => {
      const { pull: at, text, said, present } = await standingStill('moment')
      now += 2000
      const since = it.github.requests.length
      await slow.perform({ kind: 'put-comment', pull: at, body: text('it'), present })
      expect(it.github.requests.slice(since).map(({ method }) => method)).toEqual(['POST'])
      expect(said()).toEqual([text('it')])
    })

    test('and died, whoever reads it next takes the second one away', async () => {
      const { pull: at, text, take, said, present } = await standingStill('died')
      await take()
      await slow.perform({ kind: 'put-comment', pull: at, body: text('second'), present })
      expect(said()).toHaveLength(2)
      let seen: Present | undefined
      await slow.readSnapshot(at, { onPresent: (told) => (seen = told) })
      await slow.perform({
        kind: 'put-comment',
        pull: at,
        body: text('newer'),
        ...(seen && { present: seen }),
      })
      expect(said()).toEqual([text('newer')])
    })

    test('and somebody took the comment away, there is a new one', async () => {
      const { pull: at, text, said } = await standingStill('gone')
      const comment = { id: 1, body: text('old'), updatedAt: '2026-01-01T00:00:00Z' }
      await slow.perform({
        kind: 'put-comment',
        pull: at,
        body: text('new'),
        present: { readAt: now, comment },
      })
      expect(said()).toEqual([text('new')])
    })
  })

  test('of a stranger with our marker is not ours (T56)', async () => {
    const other = await it.github.openPull({
      repository: full,
      author: 'bob',
      title: 'Forged',
      changes: { 'd.txt': 'd\n' },
    })
    it.github.comment(other, 'stranger', `${commentMarker}\nall passed`)
    expect((await forge.present(pullNumber(other.number), commitSha(other.headSha))).comment).toBeUndefined()
  })
})

describe('an issue of ours', () => {
  const marker = '<!-- catalog-bot:a-test -->'
  const text = (words: string) => `${marker}\n${words}`
  const open = async (words: string) => {
    const { issue } = await forge.perform({ kind: 'open-issue', title: words, body: text(words) })
    if (issue === undefined) throw new Error('no number')
    return issue
  }
  const edit = (issue: number, words: string, state?: 'open' | 'closed') =>
    forge.perform({ kind: 'edit-issue', issue, title: words, body: text(words), ...(state && { state }) })

  test('is found by its number, and without it by its marker', async () => {
    expect(await forge.ownIssue(marker)).toBeUndefined()
    const number = await open('one is gone')
    const found = { number, state: 'open', title: 'one is gone', body: text('one is gone') }
    expect(await forge.ownIssue(marker, number)).toEqual(found)
    expect(await forge.ownIssue(marker)).toEqual(found)
    expect(await forge.ownIssue('<!-- catalog-bot:another -->')).toBeUndefined()
  })

  test('of a stranger with our marker is not ours, nor is a pull request (T56)', async () => {
    const own = await forge.ownIssue(marker)
    const forged = it.github.openIssue(full, 'stranger', 'All is well', text('all is well'))
    expect(await forge.ownIssue(marker, forged.number)).toEqual(own)
    expect(await forge.ownIssue(marker, pull.number)).toEqual(own)
  })

  test('is edited, closed and opened again in place', async () => {
    const number = await open('one is gone')
    await edit(number, 'two are gone')
    expect(await forge.ownIssue(marker, number)).toMatchObject({ state: 'open', title: 'two are gone' })
    await edit(number, 'all are back', 'closed')
    expect(await forge.ownIssue(marker, number)).toMatchObject({
      state: 'closed',
      body: text('all are back'),
    })
    const { data } = await it.octokit.rest.issues.get({ ...name, issue_number: number })
    expect(data.state_reason).toBe('completed')
    await edit(number, 'one is gone again', 'open')
    expect(await forge.ownIssue(marker, number)).toMatchObject({ state: 'open' })
  })

  test('is told one thing once', async () => {
    const number = await open('one is gone')
    const said = '<!-- catalog-bot:said 1 -->'
    const say = () =>
      forge.perform({ kind: 'say-on-issue', issue: number, marker: said, body: 'All is back.' })
    await say()
    await say()
    const { data } = await it.octokit.rest.issues.listComments({ ...name, issue_number: number })
    expect(data.map(({ body }) => body)).toEqual([`${said}\nAll is back.`])
  })

  test('is told one thing whoever else wrote it there with our marker (T56)', async () => {
    const issue = it.github.openIssue(full, 'bob', 'One is gone', '')
    const { number } = issue
    const said = '<!-- catalog-bot:said 2 -->'
    it.github.comment(issue, 'stranger', `${said}\nNothing is back.`)
    await forge.perform({ kind: 'say-on-issue', issue: number, marker: said, body: 'All is back.' })
    const { data } = await it.octokit.rest.issues.listComments({ ...name, issue_number: number })
    expect(data.map(({ body }) => body)).toEqual([`${said}\nNothing is back.`, `${said}\nAll is back.`])
  })

  test('cannot be opened where issues are switched off, and that is no reason to try again', async () => {
    it.github.setIssues(full, false)
    await expect(open('one is gone')).rejects.toMatchObject({ code: 'not-found', retryable: false })
    it.github.setIssues(full, true)
  })
})

test('the branches are listed', async () => {
  await it.github.pushToBase(full, {}, { branch: 'release/4.19' })
  expect(await forge.branches()).toEqual(expect.arrayContaining(['main', 'release/4.19']))
})

describe('questions about people', () => {
  test('a login is an account with its id, or nobody', async () => {
    const bob = it.github.account('bob')
    expect(await forge.answer({ kind: 'user', login: 'bob' })).toEqual({
      kind: 'person',
      person: { id: bob.id, login: 'bob', kind: 'user' },
    })
    expect(await forge.answer({ kind: 'user', login: 'no-such-login' })).toEqual({ kind: 'nobody' })
  })

  test('a role is the one on this repository, asked for an id and not only for a login (T25)', async () => {
    const bob = it.github.account('bob')
    expect(await forge.answer({ kind: 'role', login: 'bob', user: userId(bob.id) })).toMatchObject({
      kind: 'role',
    })
    expect(await forge.answer({ kind: 'role', login: 'bob', user: userId(bob.id + 1) })).toMatchObject({
      kind: 'unknown',
    })
  })

  test('what GitHub does not say is unknown, never no (T27)', async () => {
    it.github.fail('GET /users/{username}', { status: 500 }, 20)
    expect(await forge.answer({ kind: 'user', login: 'bob' })).toMatchObject({ kind: 'unknown' })
    const bob = it.github.account('bob')
    const membership = {
      kind: 'team-member',
      organization: 'catalogs',
      team: 'no-such-team',
      login: 'alice',
      user: userId(bob.id),
    } as const
    expect(await forge.answer(membership)).toMatchObject({ kind: 'unknown' })
  }, 180_000)
})

describe('writes', () => {
  test('of a check run are found where the answer to them was lost, and done once', async () => {
    const pauses: number[] = []
    const patient = openForge(
      await app.octokit(it.installation.id),
      { owner: name.owner, name: name.repo },
      {
        appId: app.appId,
        login: () => app.login(),
        pause: async (milliseconds) => void pauses.push(milliseconds),
      },
    )
    const run = withDigest(aCheck({ name: 'catalog-bot / lost answer' }))
    const shown = () => it.github.checkRuns(pull).filter((candidate) => candidate.name === run.name)
    it.github.fail('POST /repos/{owner}/{repo}/check-runs', { applyThenFail: 502 })
    await patient.perform({ kind: 'put-check', head: head(), run, present: [] })
    expect([shown().length, pauses.length]).toEqual([1, 1])
    // Without anybody to wait by, it is left to the queue.
    it.github.fail('POST /repos/{owner}/{repo}/check-runs', { status: 502 })
    const other = withDigest(aCheck({ name: 'catalog-bot / other' }))
    await expect(forge.perform({ kind: 'put-check', head: head(), run: other })).rejects.toMatchObject({
      retryable: true,
    })
  })

  test('are never repeated by the client: an unclear answer to a comment gives one request', async () => {
    const before = it.github.requests.length
    it.github.fail('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', { status: 502 }, 5)
    const other = await it.github.openPull({
      repository: full,
      author: 'bob',
      title: 'Once',
      changes: { 'e.txt': 'e\n' },
    })
    await expect(
      forge.perform({ kind: 'put-comment', pull: pullNumber(other.number), body: commentMarker }),
    ).rejects.toMatchObject({ retryable: true })
    const posts = it.github.requests
      .slice(before)
      .filter(({ method, template }) => method === 'POST' && template.endsWith('/comments'))
    expect(posts).toHaveLength(1)
  })

  test('request reviews, react and dispatch as GitHub wants them', async () => {
    await forge.perform({ kind: 'request-reviews', pull: here(), users: ['maintainer'], teams: [] })
    expect(pull.requestedUsers.map(({ login }) => login)).toContain('maintainer')
    const comment = it.github.comment(pull, 'bob', '/recheck')
    await forge.perform({ kind: 'react', comment: comment.id, reaction: 'eyes' })
    await forge.perform({ kind: 'dispatch-event', event: 'catalog-changed', payload: { commit: 'x' } })
  })
})

test('the token for git is for one repository, and is asked for once an hour', async () => {
  const asked = () => it.github.requests.filter(({ path }) => path.endsWith('/access_tokens')).length
  const token = await app.gitToken(it.installation.id, { owner: name.owner, name: name.repo })
  const after = asked()
  expect(await app.gitToken(it.installation.id, { owner: name.owner, name: name.repo })).toBe(token)
  expect(asked()).toBe(after)
})

test('the App lists where it is installed', async () => {
  expect(await app.installedRepositories()).toEqual([
    {
      installation: it.installation.id,
      repository: { owner: name.owner, name: name.repo },
      isPublic: true,
    },
  ])
})

test('the App knows where it is not installed', async () => {
  expect(await app.isInstalledOn({ owner: name.owner, name: name.repo })).toBe(true)
  expect(await app.isInstalledOn({ owner: name.owner, name: 'another' })).toBe(false)
})

test('nothing we sent or got was other than GitHub documents it, and nothing of it was a merge', () => {
  expect(it.github.violations).toEqual([])
  expect(it.github.requests.filter(({ template }) => template.endsWith('/merge'))).toEqual([])
})

describe('suggestions', () => {
  const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}`)
  const suggestion = (first: number, last: number, text: string) => ({
    ...{ path: 's.yaml', first, last },
    body: `${suggestionMarker}\n\nwrong\n\n\`\`\`suggestion\n${text}\n\`\`\``,
  })
  let suggested: Pull
  const put = (...suggestions: ReturnType<typeof suggestion>[]) =>
    forge.perform({
      ...{ kind: 'put-suggestions', pull: pullNumber(suggested.number) },
      ...{ head: commitSha(suggested.headSha), suggestions },
    })
  const shown = () =>
    suggested.reviewComments.map(({ line, startLine, body }) => [startLine ?? line, line, body])
  beforeAll(async () => {
    await it.github.pushToBase(full, { 's.yaml': `${lines(40).join('\n')}\n` })
    const changed = lines(40).map((line, at) => (at === 19 ? 'changed' : line))
    suggested = await it.github.openPull({
      ...{
        repository: full,
        author: 'alice',
        title: 'Suggest',
        changes: { 's.yaml': `${changed.join('\n')}\n` },
      },
    })
  })

  test('stand on the lines, in one review, once', async () => {
    const wanted = [suggestion(20, 20, 'better'), suggestion(22, 23, 'a\nb')]
    await put(...wanted)
    await put(...wanted)
    expect(shown()).toEqual(wanted.map(({ first, last, body }) => [first, last, body]))
    expect(suggested.reviews).toHaveLength(1)
  })
  test('that are out of date go, and their review with them', async () => {
    await put(suggestion(20, 20, 'best'))
    expect(shown()).toEqual([[20, 20, suggestion(20, 20, 'best').body]])
    await put()
    expect([shown(), suggested.reviews]).toEqual([[], []])
  })
  test('that people have answered are folded instead, once', async () => {
    await put(suggestion(20, 20, 'better'))
    const [first] = suggested.reviewComments
    if (first) it.github.answerReviewComment(suggested, first, 'bob', 'why?')
    await put()
    await put()
    expect(suggested.reviewComments.map(({ isMinimized }) => isMinimized)).toEqual([true, false])
    expect(suggested.reviewComments[0]?.body).toContain('better')
    suggested.reviewComments = []
  })
  test('off the diff are refused by GitHub as a whole, which stops nothing', async () => {
    await put(suggestion(20, 20, 'better'), suggestion(30, 30, 'worse'))
    expect(shown()).toEqual([])
  })
  test('of others with our marker are theirs', async () => {
    await put(suggestion(20, 20, 'better'))
    const [ours] = suggested.reviewComments
    if (ours) suggested.reviewComments = [{ ...ours, author: it.github.account('stranger') }]
    await put()
    expect(shown()).toHaveLength(1)
  })
})
