import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import type { MockPull } from '../../../sandbox/github/github-data.ts'
import { fullRepositoryName, startGitHubFixture, repo } from './github-fixture.ts'
import type { GitHubFixture } from './github-fixture.ts'

let fixture: GitHubFixture
beforeEach(async () => {
  fixture = await startGitHubFixture({ validateTraffic: false })
})
afterEach(async () => fixture.stop())

const alphaCatalogPath = 'catalogs/v4.18/alpha/catalog.yaml'
const openPullRequest = async (more: object = {}): Promise<MockPull> =>
  fixture.github.openPull({
    repository: fullRepositoryName,
    author: 'alice',
    title: 'Alpha',
    changes: { [alphaCatalogPath]: 'new: 1\n' },
    ...more,
  })
const readPullFromApi = async (
  pull: MockPull,
): Promise<Awaited<ReturnType<GitHubFixture['octokit']['rest']['pulls']['get']>>['data']> =>
  (await fixture.octokit.rest.pulls.get({ ...repo, pull_number: pull.number })).data
/** The response after GitHub finished what it computes on request. */
const readPullWithMergeability = async (pull: MockPull): ReturnType<typeof readPullFromApi> => {
  await readPullFromApi(pull)
  await fixture.github.settled()
  return readPullFromApi(pull)
}
const findReceivedWebhookEvent = async (
  pull: MockPull,
  action: string,
): Promise<Record<string, unknown> | undefined> => {
  await fixture.github.settled()
  return fixture.receiver.received.find(
    (each) =>
      each.event === 'pull_request' &&
      each.payload['number'] === pull.number &&
      each.payload['action'] === action,
  )?.payload
}

describe('the head', () => {
  test('moves with a push, and synchronize names the heads before and after', async () => {
    const pull = await openPullRequest()
    const before = pull.headSha
    const after = await fixture.github.pushToPull(pull, { 'two.yaml': '2\n' })
    expect(await findReceivedWebhookEvent(pull, 'synchronize')).toMatchObject({
      before,
      after,
      pull_request: { head: { sha: after }, commits: 2 },
    })
  })

  test('is replaced by a force push', async () => {
    const pull = await openPullRequest()
    const before = pull.headSha
    const after = await fixture.github.forcePush(pull, { 'other.yaml': '2\n' })
    expect(await readPullFromApi(pull)).toMatchObject({ commits: 1, head: { sha: after } })
    expect(await findReceivedWebhookEvent(pull, 'synchronize')).toMatchObject({ before, after })
    await fixture.github.forcePush(pull, { commit: before })
    expect((await readPullFromApi(pull)).head.sha).toBe(before)
  })

  test('stays when the fork is deleted, but has no repository', async () => {
    const pull = await openPullRequest()
    if (pull.headRepo !== null) fixture.github.deleteFork(pull.headRepo)
    expect(await readPullFromApi(pull)).toMatchObject({
      state: 'open',
      head: { repo: null, sha: pull.headSha },
    })
  })

  test('closes its pull request when its branch is deleted', async () => {
    await fixture.github.pushToBase(fullRepositoryName, { x: 'y' }, { branch: 'topic' })
    const { data } = await fixture.octokit.rest.pulls.create({
      ...repo,
      title: 'x',
      head: 'topic',
      base: 'main',
    })
    await fixture.github.deleteBranch(fullRepositoryName, 'topic')
    expect(fixture.github.pull(fullRepositoryName, data.number)).toMatchObject({
      state: 'closed',
      merged: null,
    })
  })
})

describe('the base', () => {
  test('in the pull request does not follow the branch', async () => {
    const pull = await openPullRequest()
    const tip = await fixture.github.pushToBase(fullRepositoryName, { 'unrelated.txt': 'x' })
    const { data } = await fixture.octokit.rest.git.getRef({ ...repo, ref: 'heads/main' })
    expect(data.object.sha).toBe(tip)
    expect((await readPullFromApi(pull)).base.sha).not.toBe(tip)
  })

  test('can be changed, and edited names the previous base', async () => {
    const pull = await openPullRequest()
    await fixture.github.pushToBase(fullRepositoryName, { 'unrelated.txt': 'x' }, { branch: 'release' })
    await fixture.github.retarget(pull, 'release')
    expect(await findReceivedWebhookEvent(pull, 'edited')).toMatchObject({
      changes: { base: { ref: { from: 'main' } } },
      pull_request: { base: { ref: 'release' } },
    })
  })

  test('makes mergeability unknown when it moves, and false when it conflicts', async () => {
    const pull = await openPullRequest()
    expect(await readPullWithMergeability(pull)).toMatchObject({ mergeable: true, mergeable_state: 'clean' })
    await fixture.github.pushToBase(fullRepositoryName, { [alphaCatalogPath]: 'else: 2\n' })
    expect(await readPullFromApi(pull)).toMatchObject({ mergeable: null, mergeable_state: 'unknown' })
    expect(await readPullWithMergeability(pull)).toMatchObject({ mergeable: false, mergeable_state: 'dirty' })
  })
})

describe('users', () => {
  test('keep their id through a rename, and the old login becomes available', async () => {
    const { id } = fixture.github.account('alice')
    const pull = await openPullRequest()
    fixture.github.renameUser('alice', 'alicia')
    const squatter = fixture.github.createUser('alice')
    expect((await readPullFromApi(pull)).user).toMatchObject({ id, login: 'alicia' })
    expect((await fixture.octokit.rest.users.getByUsername({ username: 'alice' })).data.id).toBe(squatter.id)
  })

  test('are null in their pull requests, comments, and reviews after deletion', async () => {
    const pull = await openPullRequest()
    fixture.github.comment(pull, 'bob', 'x')
    fixture.github.review(pull, 'bob', 'approve')
    fixture.github.deleteUser('bob')
    fixture.github.deleteUser('alice')
    expect((await readPullFromApi(pull)).user).toBeNull()
    const issue = { ...repo, issue_number: pull.number }
    expect((await fixture.octokit.rest.issues.listComments(issue)).data[0]?.user).toBeNull()
    expect(
      (await fixture.octokit.rest.pulls.listReviews({ ...repo, pull_number: pull.number })).data[0]?.user,
    ).toBeNull()
    await expect(fixture.octokit.rest.users.getByUsername({ username: 'bob' })).rejects.toMatchObject({
      status: 404,
    })
  })

  test.each([
    ['maintain', 'write'],
    ['triage', 'read'],
    ['admin', 'admin'],
  ] as const)('with the role %s have the permission %s', async (role, permission) => {
    fixture.github.setRole(fullRepositoryName, 'bob', role)
    const { data } = await fixture.octokit.rest.repos.getCollaboratorPermissionLevel({
      ...repo,
      username: 'bob',
    })
    expect(data).toMatchObject({ permission, role_name: role, user: { login: 'bob' } })
  })

  test('without a role may read a public repository, but not review', async () => {
    const { data } = await fixture.octokit.rest.repos.getCollaboratorPermissionLevel({
      ...repo,
      username: 'outsider',
    })
    expect(data.permission).toBe('read')
    const request = { ...repo, pull_number: (await openPullRequest()).number }
    await expect(
      fixture.octokit.rest.pulls.requestReviewers({ ...request, reviewers: ['outsider'] }),
    ).rejects.toMatchObject({ status: 422 })
    await expect(
      fixture.octokit.rest.pulls.requestReviewers({ ...request, reviewers: ['alice'] }),
    ).rejects.toMatchObject({ status: 422 })
  })

  test('in a team have an active or pending membership, and only active members get the role of the team', async () => {
    const team = fixture.github.createTeam('catalogs', 'owners', ['alice'])
    fixture.github.addMember(team, 'bob', 'member', 'pending')
    fixture.github.setTeamRole(fullRepositoryName, team, 'write')
    const member = async (username: string): Promise<string> =>
      (
        await fixture.octokit.rest.teams.getMembershipForUserInOrg({
          org: 'catalogs',
          team_slug: 'owners',
          username,
        })
      ).data.state
    expect([await member('alice'), await member('bob')]).toEqual(['active', 'pending'])
    await expect(member('outsider')).rejects.toMatchObject({ status: 404 })
    const level = async (username: string): Promise<string> =>
      (await fixture.octokit.rest.repos.getCollaboratorPermissionLevel({ ...repo, username })).data.permission
    expect([await level('alice'), await level('bob')]).toEqual(['write', 'read'])
  })

  test('cannot approve their own pull request, and a review is bound to the commit that was reviewed', async () => {
    const pull = await openPullRequest()
    expect(() => fixture.github.review(pull, 'alice', 'approve')).toThrow()
    const seen = pull.headSha
    fixture.github.review(pull, 'bob', 'approve')
    await fixture.github.pushToPull(pull, { 'sneaky.yaml': 'x\n' })
    const { data } = await fixture.octokit.rest.pulls.listReviews({ ...repo, pull_number: pull.number })
    expect(data).toMatchObject([{ state: 'APPROVED', commit_id: seen }])
  })
})

describe('lists', () => {
  test('of files follow renames and include removals', async () => {
    const pull = await openPullRequest({
      changes: {
        [alphaCatalogPath]: null,
        'catalogs/v4.18/gamma/catalog.yaml': 'schema: olm.package\nname: alpha\n',
        'README.md': null,
      },
    })
    const { data } = await fixture.octokit.rest.pulls.listFiles({ ...repo, pull_number: pull.number })
    expect(data.map((each) => [each.status, each.filename, each.previous_filename])).toEqual([
      ['removed', 'README.md', undefined],
      ['renamed', 'catalogs/v4.18/gamma/catalog.yaml', alphaCatalogPath],
    ])
    expect(data[0]?.patch).toContain('-# Catalog')
  })

  test('are paginated by Link headers, with at most 100 items per page', async () => {
    const pull = await openPullRequest()
    for (let count = 0; count < 130; count++) fixture.github.comment(pull, 'bob', String(count))
    const issue = { ...repo, issue_number: pull.number }
    const first = await fixture.octokit.rest.issues.listComments({ ...issue, per_page: 500 })
    expect(first.data).toHaveLength(100)
    expect(first.headers.link).toContain('rel="next"')
    const all = await fixture.octokit.paginate(fixture.octokit.rest.issues.listComments, {
      ...issue,
      per_page: 50,
    })
    expect(all.map((each) => each.body)).toEqual(Array.from({ length: 130 }, (_, at) => String(at)))
    expect((await fixture.octokit.rest.issues.listComments(issue)).data).toHaveLength(30)
  })

  test('that have not changed respond to their ETag with 304', async () => {
    const pull = await openPullRequest()
    const first = await fixture.octokit.rest.pulls.list(repo)
    const headers = { 'if-none-match': first.headers.etag ?? '' }
    await expect(fixture.octokit.rest.pulls.list({ ...repo, headers })).rejects.toMatchObject({ status: 304 })
    await fixture.github.label(pull, 'new')
    expect((await fixture.octokit.rest.pulls.list({ ...repo, headers })).status).toBe(200)
  })

  test('of pull requests filter by state, base and head', async () => {
    const pull = await openPullRequest()
    await openPullRequest({ author: 'bob', title: 'Beta', changes: { b: 'b' } })
    await fixture.github.close(pull)
    const numbers = async (query: object): Promise<number[]> =>
      (await fixture.octokit.rest.pulls.list({ ...repo, ...query })).data.map((each) => each.number)
    expect(await numbers({})).toEqual([2])
    expect(await numbers({ state: 'all' })).toEqual([2, 1])
    expect(await numbers({ state: 'all', head: `alice:${pull.headRef}` })).toEqual([1])
    expect(await numbers({ base: 'release' })).toEqual([])
  })
})

describe('check runs', () => {
  const note = {
    path: alphaCatalogPath,
    start_line: 1,
    end_line: 1,
    annotation_level: 'failure',
    message: 'no',
  } as const
  const create = async (pull: MockPull, more: object = {}): Promise<number> =>
    (
      await fixture.octokit.rest.checks.create({
        ...repo,
        name: 'validation',
        head_sha: pull.headSha,
        ...more,
      })
    ).data.id

  test('accept fifty annotations per request and append later ones', async () => {
    const pull = await openPullRequest()
    const output = (count: number): { title: string; summary: string; annotations: (typeof note)[] } => ({
      title: 't',
      summary: 's',
      annotations: Array.from({ length: count }, () => note),
    })
    await expect(create(pull, { output: output(51) })).rejects.toMatchObject({ status: 422 })
    const check_run_id = await create(pull, { output: output(50) })
    await fixture.octokit.rest.checks.update({ ...repo, check_run_id, output: output(7) })
    expect(
      (await fixture.octokit.rest.checks.get({ ...repo, check_run_id })).data.output.annotations_count,
    ).toBe(57)
  })

  test.each([
    ['a summary above 65 535 bytes', { output: { title: 't', summary: `${'✅'.repeat(21_845)}x` } }],
    [
      'four buttons',
      { actions: Array.from({ length: 4 }, () => ({ label: 'l', description: 'd', identifier: 'i' })) },
    ],
    [
      'a button with a long label',
      { actions: [{ label: 'x'.repeat(21), description: 'd', identifier: 'i' }] },
    ],
    ['completion without a conclusion', { status: 'completed' }],
  ])('reject %s', async (_, more) => {
    await expect(create(await openPullRequest(), more)).rejects.toMatchObject({ status: 422 })
  })

  test('with the same name are listed once, as the newest, or all on request', async () => {
    const pull = await openPullRequest()
    await create(pull, { conclusion: 'failure' })
    const newest = await create(pull, { conclusion: 'success' })
    const listed = async (filter: 'latest' | 'all'): Promise<number[]> =>
      (
        await fixture.octokit.rest.checks.listForRef({ ...repo, ref: pull.headSha, filter })
      ).data.check_runs.map((each) => each.id)
    expect(await listed('latest')).toEqual([newest])
    expect(await listed('all')).toHaveLength(2)
  })

  test('of a fork name no pull request', async () => {
    const pull = await openPullRequest()
    const check_run_id = await create(pull)
    expect((await fixture.octokit.rest.checks.get({ ...repo, check_run_id })).data.pull_requests).toEqual([])
  })

  test('require a commit that exists', async () => {
    await expect(
      fixture.octokit.rest.checks.create({ ...repo, name: 'x', head_sha: '1'.repeat(40) }),
    ).rejects.toMatchObject({ status: 422 })
  })
})

describe('merging', () => {
  test('the merge endpoint requires the current head, no draft, and no conflict', async () => {
    const pull = await openPullRequest()
    const merge = async (more: object = {}): Promise<unknown> =>
      fixture.octokit.rest.pulls.merge({ ...repo, pull_number: pull.number, ...more })
    await expect(merge({ sha: '1'.repeat(40) })).rejects.toMatchObject({ status: 409 })
    await fixture.github.draft(pull)
    await expect(merge()).rejects.toMatchObject({ status: 405 })
    await fixture.github.draft(pull, false)
    await fixture.github.pushToBase(fullRepositoryName, { [alphaCatalogPath]: 'else: 2\n' })
    await expect(merge({ sha: pull.headSha })).rejects.toMatchObject({ status: 405 })
  })

  test('pushing the same content without the commit merges nothing', async () => {
    const pull = await openPullRequest()
    await fixture.github.pushToBase(fullRepositoryName, { [alphaCatalogPath]: 'new: 1\n' })
    expect(pull).toMatchObject({ state: 'open', merged: null })
  })

  test('a merged pull request cannot be reopened', async () => {
    const pull = await openPullRequest()
    await fixture.octokit.rest.git.updateRef({ ...repo, ref: 'heads/main', sha: pull.headSha })
    expect(pull).toMatchObject({ state: 'closed', merged: { sha: pull.headSha } })
    await expect(fixture.github.reopen(pull)).rejects.toThrow('Validation Failed')
  })

  test('a ref only moves forward unless the update is forced', async () => {
    const pull = await openPullRequest()
    await fixture.github.pushToBase(fullRepositoryName, { x: 'y' })
    const request = { ...repo, ref: 'heads/main', sha: pull.headSha }
    await expect(fixture.octokit.rest.git.updateRef(request)).rejects.toMatchObject({ status: 422 })
    await fixture.octokit.rest.git.updateRef({ ...request, force: true })
    expect(pull.merged).not.toBeNull()
  })
})

test('a pull request cannot be opened twice, without changes, or from a missing branch', async () => {
  const pull = await openPullRequest()
  const again = { ...repo, title: 'x', head: `alice:${pull.headRef}`, base: 'main' }
  await expect(fixture.octokit.rest.pulls.create(again)).rejects.toMatchObject({ status: 422 })
  await expect(fixture.octokit.rest.pulls.create({ ...again, head: 'main' })).rejects.toMatchObject({
    status: 422,
  })
  await expect(fixture.octokit.rest.pulls.create({ ...again, head: 'not-there' })).rejects.toMatchObject({
    status: 422,
  })
})

test('a workflow ends with its configured conclusion, and an unknown workflow is not found', async () => {
  fixture.github.createWorkflow(fullRepositoryName, 'rebuild.yml', { outcome: 'failure', milliseconds: 2 })
  const dispatch = async (workflow_id: string, ref: string): Promise<unknown> =>
    fixture.octokit.rest.actions.createWorkflowDispatch({ ...repo, workflow_id, ref })
  await dispatch('rebuild.yml', 'main')
  await fixture.github.settled()
  const runs = fixture.receiver.received
    .filter((each) => each.event === 'workflow_run')
    .map((each) => each.payload)
  const conclusion = (each: (typeof runs)[number]): unknown =>
    (each['workflow_run'] as { conclusion: unknown }).conclusion
  const words = runs.map((each) => `${String(each['action'])} ${String(conclusion(each))}`)
  expect(words).toEqual(['requested null', 'in_progress null', 'completed failure'])
  await expect(dispatch('none.yml', 'main')).rejects.toMatchObject({ status: 404 })
  await expect(dispatch('rebuild.yml', 'none')).rejects.toMatchObject({ status: 422 })
})
