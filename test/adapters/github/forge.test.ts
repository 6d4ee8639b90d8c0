import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { systemClock } from '../../../src/adapters/system-clock.ts'
import { addCheckRunDigest } from '../../../src/jobs/publish-report.ts'
import { toCommitSha, toPullNumber, toUserId } from '../../../src/pull-request/ids.ts'
import { GitHubForge } from '../../../src/adapters/github/forge.ts'
import { commentMarker } from '../../../src/report/comment.ts'
import type { ReportedCheck } from '../../../src/report/report-options.ts'
import { reviewSuggestionMarker } from '../../../src/report/report.ts'
import type { BotCommentAndCheckRuns, Forge, ObservedBotComment } from '../../../src/ports/forge.ts'
import type { MockPull } from '../../../sandbox/github/github-data.ts'
import {
  fullRepositoryName,
  startGitHubFixture,
  signJwt,
  repo,
  privateKey,
  webhookSecret,
} from '../../sandbox/github/github-fixture.ts'
import { createTestGitHubApp } from '../../jobs/job-context.ts'

const fixture = await startGitHubFixture({ validateTraffic: true })
const { github, installation, octokit } = fixture
const githubApp = createTestGitHubApp(fixture, systemClock)
const repository = { owner: repo.owner, name: repo.repo }
const createForge = async (app: ConstructorParameters<typeof GitHubForge>[2]): Promise<Forge> =>
  new GitHubForge(await githubApp.octokit(installation.id), repository, app)
const openPull = (author: string, title: string, changes: Record<string, string>) =>
  github.openPull({ repository: fullRepositoryName, author, title, changes })
const forge = await createForge(githubApp)
const mockPull = await openPull('alice', 'Update alpha', { 'a.txt': 'a\n' })
afterAll(async () => fixture.stop())
beforeEach(() => github.clearFaults())

const getPullNumber = () => toPullNumber(mockPull.number)
const getHeadSha = () => toCommitSha(mockPull.headSha)
const readOwnReports = () => forge.readOwnReports(getPullNumber(), getHeadSha())

function createReportedCheck(differences: Partial<ReportedCheck> = {}): ReportedCheck {
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

const createCheckAnnotation = (line: number) => ({
  path: 'a.txt',
  startLine: line,
  endLine: line,
  level: 'failure' as const,
  title: 'rule',
  message: 'wrong',
})

describe('a snapshot', () => {
  test('contains the author, the head, the base, the reviews, and the comments', async () => {
    github.review(mockPull, 'bob', 'approve', 'fine')
    github.comment(mockPull, 'outsider', 'hello')
    const snapshot = await forge.readSnapshot(getPullNumber())
    expect(snapshot).toMatchObject({
      pull: mockPull.number,
      state: 'open',
      draft: false,
      author: { login: 'alice', id: github.account('alice').id, kind: 'user' },
      head: mockPull.headSha,
      baseRef: 'main',
      headRepository: { owner: 'alice', name: 'community' },
    })
    expect(snapshot?.reviews.at(-1)).toMatchObject({
      state: 'approved',
      author: { login: 'bob' },
      commit: mockPull.headSha,
    })
    expect(snapshot?.comments.at(-1)).toMatchObject({ body: 'hello', author: { login: 'outsider' } })
  })

  test('has the tip of the branch as its base, even if the branch moved later', async () => {
    const moved = await github.pushToBase(fullRepositoryName, { 'moved.txt': 'x\n' })
    expect((await forge.readSnapshot(getPullNumber()))?.base).toBe(moved)
  })

  test('is null when the pull request does not exist', async () => {
    expect(await forge.readSnapshot(toPullNumber(9999))).toBeNull()
  })

  test('contains the reviews and comments of all pages', async () => {
    const other = await openPull('bob', 'Many', { 'b.txt': 'b\n' })
    for (let count = 0; count < 101; count++) {
      github.review(other, 'alice', 'comment', `review ${count}`)
      github.comment(other, 'alice', `comment ${count}`)
    }
    const snapshot = await forge.readSnapshot(toPullNumber(other.number))
    expect(snapshot?.reviews).toHaveLength(101)
    expect(snapshot?.comments).toHaveLength(101)
  })

  test('rejects as retryable when GitHub fails', async () => {
    github.fail('POST /graphql', { status: 502 }, 20)
    github.fail('GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews', { status: 502 }, 20)
    await expect(forge.readSnapshot(getPullNumber())).rejects.toMatchObject({
      code: 'unavailable',
      retryable: true,
    })
  })

  test('has no head repository if the fork was deleted', async () => {
    const lost = await openPull('outsider', 'Gone', { 'c.txt': 'c\n' })
    if (lost.headRepo !== null) github.deleteFork(lost.headRepo)
    expect((await forge.readSnapshot(toPullNumber(lost.number)))?.headRepository).toBeNull()
  })
})

describe('the state of a check by another App', () => {
  const name = 'build'
  const question = (app: number, commit = getHeadSha()) => ({ kind: 'check-run', commit, app, name }) as const

  test('is read only from that App, under that exact name', async () => {
    const { headSha } = await openPull('bob', 'Built', { 'built.txt': 'x' })
    const permissions = { checks: 'write' } as const
    const { app: other, installations } = github.installApp(
      { slug: 'ci', privateKey, webhookSecret, events: [], permissions },
      [fullRepositoryName],
    )
    const asOther = fixture.client(signJwt({ iss: other.id }))
    const installation_id = installations[0]?.id ?? 0
    const { data } = await asOther.rest.apps.createInstallationAccessToken({ installation_id })
    const ci = fixture.client(data.token)
    const put = async (client: typeof ci, more: object, title = name) =>
      (await client.rest.checks.create({ ...repo, name: title, head_sha: headSha, ...more })).data.id

    await put(octokit, { conclusion: 'success' })
    await put(ci, { conclusion: 'success' }, 'Build')
    expect(await forge.answer(question(other.id, toCommitSha(headSha)))).toEqual({ kind: 'missing' })
    const id = await put(ci, { status: 'in_progress' })
    expect(await forge.answer(question(other.id, toCommitSha(headSha)))).toEqual({ kind: 'running' })
    const output = { title: 'All tests passed', summary: 'Whatever it says of itself.' }
    const end = (conclusion: 'success' | 'timed_out' | 'neutral') =>
      ci.rest.checks.update({ ...repo, check_run_id: id, status: 'completed', conclusion, output })
    for (const conclusion of ['neutral', 'success'] as const) {
      await end(conclusion)
      expect(await forge.answer(question(other.id, toCommitSha(headSha)))).toEqual({ kind: 'green' })
    }
    await end('timed_out')
    expect(await forge.answer(question(other.id, toCommitSha(headSha)))).toEqual({
      kind: 'red',
      conclusion: 'timed_out',
    })
  })

  test('is unknown if GitHub returns an error', async () => {
    github.fail('GET /repos/{owner}/{repo}/commits/{ref}/check-runs', { status: 403 })
    expect(await forge.answer(question(1))).toMatchObject({ kind: 'unknown' })
  })
})

test('the permissions of the App are read', async () => {
  expect(await forge.permissions()).toMatchObject({ contents: 'write', checks: 'write' })
})

describe('whether a comment was edited (T29)', () => {
  const checkComment = async (body: string, edit?: string) => {
    const comment = github.comment(mockPull, 'bob', body)
    if (edit !== undefined) github.editComment(comment, `${body} `, edit)
    const snapshot = await forge.readSnapshot(getPullNumber())
    const { id, node } = snapshot?.comments.find((each) => each.id === comment.id) ?? { id: 0 }
    return forge.answer({ kind: 'comment', comment: id, ...(node !== undefined && { node }) })
  }
  test('is no until an account edits it, even its author', async () => {
    expect(await checkComment('/approve one')).toEqual({ kind: 'unedited' })
    expect(await checkComment('/approve two', 'bob')).toEqual({ kind: 'edited' })
    expect(github.violations).toEqual([])
  })
  test('is yes after an edit within the second of its creation, which timestamps do not show', async () => {
    const second = Date.now()
    const comment = github.comment(mockPull, 'bob', 'fine')
    github.editComment(comment, '/approve', 'alice')
    const snapshot = await forge.readSnapshot(getPullNumber())
    const seen = snapshot?.comments.find(({ id }) => id === comment.id)
    if (Date.now() - second < 500) expect(seen?.body).toBe('/approve')
    expect(await forge.answer({ kind: 'comment', comment: comment.id, node: seen?.node ?? '' })).toEqual({
      kind: 'edited',
    })
  })
  test('is unknown if GitHub does not report it', async () => {
    expect(await forge.answer({ kind: 'comment', comment: 1 })).toMatchObject({ kind: 'unknown' })
    expect(await forge.answer({ kind: 'comment', comment: 1, node: 'bm8=' })).toMatchObject({
      kind: 'unknown',
    })
    const edits = ({ operation }: { operation?: string }) => operation === 'EditsOfComment'
    github.fail(edits, { status: 502 }, 1)
    expect(await checkComment('/approve three')).toMatchObject({ kind: 'unknown', retryAfter: 60 })
    github.fail(edits, { status: 200, body: { data: { node: { __typename: 'IssueComment' } } } }, 1)
    expect(await checkComment('/approve four')).toMatchObject({ kind: 'unknown' })
    // GitHub returns null for a field that failed, and an error for its path.
    const node = { __typename: 'IssueComment', lastEditedAt: null, includesCreatedEdit: false, editor: null }
    const errors = [
      { type: 'SERVICE_UNAVAILABLE', message: 'Something went wrong', path: ['node', 'editor'] },
    ]
    const heal = github.fail('POST /graphql', { status: 200, body: { data: { node }, errors } }, 20)
    expect(await checkComment('/approve five')).toMatchObject({ kind: 'unknown' })
    heal()
  })
})

describe('a check run', () => {
  test('is found with its digest', async () => {
    const run = addCheckRunDigest(createReportedCheck())
    await forge.perform({ kind: 'put-check', head: getHeadSha(), run })
    const url = expect.stringMatching(/^http.*\/runs\/\d+$/)
    expect((await readOwnReports()).checks).toEqual([
      { name: run.name, digest: run.digest, isOver: true, conclusion: 'success', url },
    ])
    expect(await forge.readOwnChecks(getHeadSha())).toMatchObject([{ name: run.name, digest: run.digest }])
  })

  test('can have more annotations than one request accepts, each once', async () => {
    const annotations = Array.from({ length: 120 }, (_, index) => createCheckAnnotation(index + 1))
    const run = addCheckRunDigest(
      createReportedCheck({ name: 'catalog-bot / validation', conclusion: 'failure', annotations }),
    )
    await forge.perform({ kind: 'put-check', head: getHeadSha(), run })
    const shown = github.checkRuns(mockPull).find((candidate) => candidate.name === run.name)
    expect(shown?.annotations).toHaveLength(120)
  })

  test('a new result replaces the old one without repeating its annotations', async () => {
    const name = 'catalog-bot / images'
    const digests: string[] = []
    for (const line of [1, 2]) {
      const annotations = [createCheckAnnotation(line)]
      const run = addCheckRunDigest(createReportedCheck({ name, conclusion: 'failure', annotations }))
      await forge.perform({ kind: 'put-check', head: getHeadSha(), run })
      digests.push(run.digest)
    }
    const latest = github.checkRuns(mockPull).findLast((candidate) => candidate.name === name)
    expect(latest?.annotations).toHaveLength(1)
    expect((await readOwnReports()).checks).toContainEqual(
      expect.objectContaining({ name, digest: digests[1] }),
    )
  })

  test('is sent with the others of its commit, or alone if GitHub did not accept that', async () => {
    const other = await openPull('bob', 'Together', { 'together.txt': 'x\n' })
    const commit = toCommitSha(other.headSha)
    const runs = ['one', 'two', 'three', 'four'].map((id) =>
      addCheckRunDigest(
        createReportedCheck({
          name: `catalog-bot / ${id}`,
          annotations: id === 'two' ? [createCheckAnnotation(1)] : [],
        }),
      ),
    )
    await forge.readSnapshot(toPullNumber(other.number))
    const since = github.requests.length
    const { urls } = await forge.perform({ kind: 'put-checks', head: commit, runs, present: [] })
    expect(github.requests.slice(since)).toMatchObject([{ operation: 'CreateCheckRuns', writes: 4 }])
    const shown = () => github.checkRuns(other)
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
    const { checks } = await forge.readOwnReports(toPullNumber(other.number), commit)
    expect(new Map(checks.map(({ name: called, url }) => [called, url]))).toEqual(urls)

    // A completed check run is replaced by a new one; of a running one, only its existence is known.
    const again = runs.map((run) => addCheckRunDigest({ ...run, summary: 'other' }))
    const present = checks.map((one, at) => ({ ...one, isOver: at > 0 }))
    github.fail(({ operation }) => operation === 'CreateCheckRuns', { applyThenFail: 502 })
    await forge.perform({ kind: 'put-checks', head: commit, runs: again, present })
    expect(shown().length).toBe(8)
    // A GitHub server that does not support the mutation.
    github.fail('POST /graphql', { status: 200, body: { errors: [{ message: "Field doesn't exist" }] } }, 5)
    const last = runs.map((run) => addCheckRunDigest({ ...run, summary: 'last' }))
    await forge.perform({ kind: 'put-checks', head: commit, runs: last, present })
    expect(shown().slice(8)).toMatchObject(last.map(({ digest }) => ({ externalId: digest })))
    expect(github.violations).toEqual([])
  })

  test('of another App is never treated as ours', async () => {
    await octokit.rest.checks.create({
      ...repo,
      name: 'catalog-bot / rebuild',
      head_sha: mockPull.headSha,
      status: 'completed',
      conclusion: 'success',
    })
    const foreign = await createForge({ appId: fixture.app.id + 1, login: async () => 'another[bot]' })
    expect(await foreign.readOwnChecks(getHeadSha())).toEqual([])
  })
})

describe('the comment of catalog-bot', () => {
  test('is created once, edited in place, and not changed if the text is the same', async () => {
    const body = `${commentMarker}\nfirst`
    const writes = () =>
      github.requests.filter(({ method, path }) => method !== 'GET' && path.includes('comments')).length
    await forge.perform({ kind: 'put-comment', pull: getPullNumber(), body })
    const once = writes()
    await forge.perform({ kind: 'put-comment', pull: getPullNumber(), body })
    expect(writes()).toBe(once)
    await forge.perform({ kind: 'put-comment', pull: getPullNumber(), body: `${commentMarker}\nsecond` })
    expect((await readOwnReports()).comment?.body).toBe(`${commentMarker}\nsecond`)
    const { data } = await octokit.rest.issues.listComments({ ...repo, issue_number: mockPull.number })
    expect(data.filter((comment) => comment.body?.startsWith(commentMarker))).toHaveLength(1)
  })

  describe('if a process stalled', () => {
    let now = 0
    let slow: Forge
    const openStalledScenario = async (title: string) => {
      slow = await createForge({
        appId: githubApp.appId,
        login: () => githubApp.login(),
        monotonic: () => now,
      })
      const other = await openPull('bob', title, { [`${title}.txt`]: 'x\n' })
      const pull = toPullNumber(other.number)
      const text = (content: string) => `${commentMarker}\n${content}`
      return {
        pull,
        text,
        take: () => forge.perform({ kind: 'put-comment', pull, body: text('newer') }),
        writeSlowly: (content: string, present?: ObservedBotComment) =>
          slow.perform({ kind: 'put-comment', pull, body: text(content), ...(present && { present }) }),
        bodies: () => other.comments.map(({ body }) => body),
        present: { readAt: now },
      }
    }

    test('before its write, it edits the comment of the process that took over', async () => {
      const { text, writeSlowly, take, bodies, present } = await openStalledScenario('before')
      await take()
      now += 15_000
      await writeSlowly('older', present)
      expect(bodies()).toEqual([text('older')])
    })

    test('during its write, only the first comment remains', async () => {
      const { text, writeSlowly, take, bodies, present } = await openStalledScenario('while')
      await take()
      github.fail(
        ({ method, template }) => {
          if (method === 'POST' && template.endsWith('/comments')) now += 15_000
          return false
        },
        { status: 502 },
      )
      const { updatedAt } = await writeSlowly('older', present)
      expect(bodies()).toEqual([text('newer')])
      expect(updatedAt).toBeUndefined()
    })

    test('only briefly, it reads nothing again', async () => {
      const { text, writeSlowly, bodies, present } = await openStalledScenario('moment')
      now += 2000
      const since = github.requests.length
      await writeSlowly('it', present)
      expect(github.requests.slice(since).map(({ method }) => method)).toEqual(['POST'])
      expect(bodies()).toEqual([text('it')])
    })

    test('and died, the next reader deletes the second comment', async () => {
      const { pull: at, text, writeSlowly, take, bodies, present } = await openStalledScenario('died')
      await take()
      await writeSlowly('second', present)
      expect(bodies()).toHaveLength(2)
      let seen: BotCommentAndCheckRuns | undefined
      await slow.readSnapshot(at, { onOwnReports: (reports) => (seen = reports) })
      await writeSlowly('newer', seen)
      expect(bodies()).toEqual([text('newer')])
    })

    test('and its comment was deleted, it creates a new one', async () => {
      const { text, writeSlowly, bodies } = await openStalledScenario('gone')
      const comment = { id: 1, body: text('old'), updatedAt: '2026-01-01T00:00:00Z' }
      await writeSlowly('new', { readAt: now, comment })
      expect(bodies()).toEqual([text('new')])
    })
  })

  test('by another account with our marker is not ours (T56)', async () => {
    const other = await openPull('bob', 'Forged', { 'd.txt': 'd\n' })
    github.comment(other, 'outsider', `${commentMarker}\nall passed`)
    expect(
      (await forge.readOwnReports(toPullNumber(other.number), toCommitSha(other.headSha))).comment,
    ).toBeUndefined()
  })
})

describe('an issue of ours', () => {
  const marker = '<!-- catalog-bot:a-test -->'
  const text = (content: string) => `${marker}\n${content}`
  const open = async (content: string) => {
    const { issue } = await forge.perform({ kind: 'open-issue', title: content, body: text(content) })
    if (issue === undefined) throw new Error('no number')
    return issue
  }
  const edit = (issue: number, content: string, state?: 'open' | 'closed') =>
    forge.perform({ kind: 'edit-issue', issue, title: content, body: text(content), ...(state && { state }) })

  test('is found by its number, and without it by its marker', async () => {
    expect(await forge.findOwnIssue(marker)).toBeUndefined()
    const number = await open('one is gone')
    const found = { number, state: 'open', title: 'one is gone', body: text('one is gone') }
    expect(await forge.findOwnIssue(marker, number)).toEqual(found)
    expect(await forge.findOwnIssue(marker)).toEqual(found)
    expect(await forge.findOwnIssue('<!-- catalog-bot:another -->')).toBeUndefined()
  })

  test('by another account with our marker is not ours, nor is a pull request (T56)', async () => {
    const own = await forge.findOwnIssue(marker)
    const forged = github.openIssue(fullRepositoryName, 'outsider', 'All is well', text('all is well'))
    expect(await forge.findOwnIssue(marker, forged.number)).toEqual(own)
    expect(await forge.findOwnIssue(marker, mockPull.number)).toEqual(own)
  })

  test('is edited, closed, and reopened in place', async () => {
    const number = await open('one is gone')
    await edit(number, 'two are gone')
    expect(await forge.findOwnIssue(marker, number)).toMatchObject({ state: 'open', title: 'two are gone' })
    await edit(number, 'all are back', 'closed')
    expect(await forge.findOwnIssue(marker, number)).toMatchObject({
      state: 'closed',
      body: text('all are back'),
    })
    const { data } = await octokit.rest.issues.get({ ...repo, issue_number: number })
    expect(data.state_reason).toBe('completed')
    await edit(number, 'one is gone again', 'open')
    expect(await forge.findOwnIssue(marker, number)).toMatchObject({ state: 'open' })
  })

  test('gets a comment with the same marker once', async () => {
    const number = await open('one is gone')
    const issueMarker = '<!-- catalog-bot:said 1 -->'
    const commentOnIssue = () =>
      forge.perform({ kind: 'say-on-issue', issue: number, marker: issueMarker, body: 'All is back.' })
    await commentOnIssue()
    await commentOnIssue()
    const { data } = await octokit.rest.issues.listComments({ ...repo, issue_number: number })
    expect(data.map(({ body }) => body)).toEqual([`${issueMarker}\nAll is back.`])
  })

  test('gets a comment even if another account used its marker (T56)', async () => {
    const issue = github.openIssue(fullRepositoryName, 'bob', 'One is gone', '')
    const { number } = issue
    const issueMarker = '<!-- catalog-bot:said 2 -->'
    github.comment(issue, 'outsider', `${issueMarker}\nNothing is back.`)
    await forge.perform({ kind: 'say-on-issue', issue: number, marker: issueMarker, body: 'All is back.' })
    const { data } = await octokit.rest.issues.listComments({ ...repo, issue_number: number })
    expect(data.map(({ body }) => body)).toEqual([
      `${issueMarker}\nNothing is back.`,
      `${issueMarker}\nAll is back.`,
    ])
  })

  test('cannot be opened if issues are disabled, and the error is not retryable', async () => {
    github.setIssues(fullRepositoryName, false)
    await expect(open('one is gone')).rejects.toMatchObject({ code: 'not-found', retryable: false })
    github.setIssues(fullRepositoryName, true)
  })
})

test('the branches are listed', async () => {
  await github.pushToBase(fullRepositoryName, {}, { branch: 'release/4.19' })
  expect(await forge.branches()).toEqual(expect.arrayContaining(['main', 'release/4.19']))
})

describe('questions about people', () => {
  test('a login is an account with its id, or `nobody`', async () => {
    const bob = github.account('bob')
    expect(await forge.answer({ kind: 'user', login: 'bob' })).toEqual({
      kind: 'person',
      person: { id: bob.id, login: 'bob', kind: 'user' },
    })
    expect(await forge.answer({ kind: 'user', login: 'no-such-login' })).toEqual({ kind: 'nobody' })
  })

  test('a role on this repository is unknown if the id does not match the login (T25)', async () => {
    const bob = github.account('bob')
    expect(await forge.answer({ kind: 'role', login: 'bob', user: toUserId(bob.id) })).toMatchObject({
      kind: 'role',
    })
    expect(await forge.answer({ kind: 'role', login: 'bob', user: toUserId(bob.id + 1) })).toMatchObject({
      kind: 'unknown',
    })
  })

  test('an answer that GitHub does not give is unknown, never no (T27)', async () => {
    github.fail('GET /users/{username}', { status: 500 }, 20)
    expect(await forge.answer({ kind: 'user', login: 'bob' })).toMatchObject({ kind: 'unknown' })
    const bob = github.account('bob')
    const membership = {
      kind: 'team-member',
      organization: 'catalogs',
      team: 'no-such-team',
      login: 'alice',
      user: toUserId(bob.id),
    } as const
    expect(await forge.answer(membership)).toMatchObject({ kind: 'unknown' })
  })
})

describe('writes', () => {
  test('of a check run are found if their response was lost, and done once', async () => {
    const pauses: number[] = []
    const patient = await createForge({
      appId: githubApp.appId,
      login: () => githubApp.login(),
      pause: async (milliseconds) => void pauses.push(milliseconds),
    })
    const run = addCheckRunDigest(createReportedCheck({ name: 'catalog-bot / lost answer' }))
    const shown = () => github.checkRuns(mockPull).filter((candidate) => candidate.name === run.name)
    github.fail('POST /repos/{owner}/{repo}/check-runs', { applyThenFail: 502 })
    await patient.perform({ kind: 'put-check', head: getHeadSha(), run, present: [] })
    expect([shown().length, pauses.length]).toEqual([1, 1])
    // Without a `pause` function, the retry is left to the queue.
    github.fail('POST /repos/{owner}/{repo}/check-runs', { status: 502 })
    const other = addCheckRunDigest(createReportedCheck({ name: 'catalog-bot / other' }))
    await expect(forge.perform({ kind: 'put-check', head: getHeadSha(), run: other })).rejects.toMatchObject({
      retryable: true,
    })
  })

  test('are not repeated by the client after an inconclusive response to a comment', async () => {
    const before = github.requests.length
    github.fail('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', { status: 502 }, 5)
    const other = await openPull('bob', 'Once', { 'e.txt': 'e\n' })
    await expect(
      forge.perform({ kind: 'put-comment', pull: toPullNumber(other.number), body: commentMarker }),
    ).rejects.toMatchObject({ retryable: true })
    const posts = github.requests
      .slice(before)
      .filter(({ method, template }) => method === 'POST' && template.endsWith('/comments'))
    expect(posts).toHaveLength(1)
  })

  test('request reviews, add reactions, and dispatch events', async () => {
    await forge.perform({ kind: 'request-reviews', pull: getPullNumber(), users: ['maintainer'], teams: [] })
    expect(mockPull.requestedUsers.map(({ login }) => login)).toContain('maintainer')
    const comment = github.comment(mockPull, 'bob', '/recheck')
    await forge.perform({ kind: 'react', comment: comment.id, reaction: 'eyes' })
    await forge.perform({ kind: 'dispatch-event', event: 'catalog-changed', payload: { commit: 'x' } })
  })
})

test('the git token of a repository is cached', async () => {
  const countTokenRequests = () =>
    github.requests.filter(({ path }) => path.endsWith('/access_tokens')).length
  const token = await githubApp.gitToken(installation.id, repository)
  const after = countTokenRequests()
  expect(await githubApp.gitToken(installation.id, repository)).toBe(token)
  expect(countTokenRequests()).toBe(after)
})

test('the App lists where it is installed', async () => {
  expect(await githubApp.installedRepositories()).toEqual([
    { installation: installation.id, repository, isPublic: true },
  ])
})

test('the App knows where it is not installed', async () => {
  expect(await githubApp.isInstalledOn(repository)).toBe(true)
  expect(await githubApp.isInstalledOn({ owner: repo.owner, name: 'another' })).toBe(false)
})

test('all requests and responses match the documentation of GitHub, and none of them is a merge', () => {
  expect(github.violations).toEqual([])
  expect(github.requests.filter(({ template }) => template.endsWith('/merge'))).toEqual([])
})

describe('suggestions', () => {
  const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}`)
  const suggestion = (first: number, last: number, text: string) => ({
    ...{ path: 's.yaml', first, last },
    body: `${reviewSuggestionMarker}\n\nwrong\n\n\`\`\`suggestion\n${text}\n\`\`\``,
  })
  let suggested: MockPull
  const put = (...suggestions: ReturnType<typeof suggestion>[]) =>
    forge.perform({
      kind: 'put-suggestions',
      pull: toPullNumber(suggested.number),
      head: toCommitSha(suggested.headSha),
      suggestions,
    })
  const shown = () =>
    suggested.reviewComments.map(({ line, startLine, body }) => [startLine ?? line, line, body])
  beforeAll(async () => {
    await github.pushToBase(fullRepositoryName, { 's.yaml': `${lines(40).join('\n')}\n` })
    const changed = lines(40).map((line, at) => (at === 19 ? 'changed' : line))
    suggested = await openPull('alice', 'Suggest', { 's.yaml': `${changed.join('\n')}\n` })
  })

  test('are placed on their lines, in one review, once', async () => {
    const wanted = [suggestion(20, 20, 'better'), suggestion(22, 23, 'a\nb')]
    await put(...wanted)
    await put(...wanted)
    expect(shown()).toEqual(wanted.map(({ first, last, body }) => [first, last, body]))
    expect(suggested.reviews).toHaveLength(1)
  })
  test('that are outdated are deleted together with their review', async () => {
    await put(suggestion(20, 20, 'best'))
    expect(shown()).toEqual([[20, 20, suggestion(20, 20, 'best').body]])
    await put()
    expect([shown(), suggested.reviews]).toEqual([[], []])
  })
  test('that have replies are minimized instead, once', async () => {
    await put(suggestion(20, 20, 'better'))
    const [first] = suggested.reviewComments
    if (first) github.answerReviewComment(suggested, first, 'bob', 'why?')
    await put()
    await put()
    expect(suggested.reviewComments.map(({ isMinimized }) => isMinimized)).toEqual([true, false])
    expect(suggested.reviewComments[0]?.body).toContain('better')
    suggested.reviewComments = []
  })
  test('outside the diff make GitHub reject all of them, which is not an error', async () => {
    await put(suggestion(20, 20, 'better'), suggestion(30, 30, 'worse'))
    expect(shown()).toEqual([])
  })
  test('of other accounts with our marker are not deleted', async () => {
    await put(suggestion(20, 20, 'better'))
    const [ours] = suggested.reviewComments
    if (ours) suggested.reviewComments = [{ ...ours, author: github.account('outsider') }]
    await put()
    expect(shown()).toHaveLength(1)
  })
})
