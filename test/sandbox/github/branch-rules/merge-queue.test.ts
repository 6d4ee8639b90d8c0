// GitHub's merge queue: which pull requests enter, which groups are built and checked, what is merged, and what
// removes an entry.
import { describe, expect, test } from '@jest/globals'
import type { MockPull } from '../../../../sandbox/github/github-data.ts'
import { toNodeId } from '../../../../sandbox/github/views/account-view.ts'
import {
  MergeRulesFixture,
  createStatusChecksRule,
  createPullRequestRule,
  createMergeQueueRule,
} from './merge-rules-fixture.ts'
import type { BranchRulesScenario } from './merge-rules-fixture.ts'
import { createPullOptions } from '../github-fixture.ts'

let currentTimeMs = Date.now()
const { githubFixture, openMergeCase, setCheck, readTip } = await MergeRulesFixture.furnish({
  clock: { now: () => currentTimeMs },
})
const { github, octokit } = githubFixture

const checkName = 'catalog-bot / validation'
const createMergeQueueScenario = async (
  settings: Record<string, unknown> = {},
): Promise<BranchRulesScenario> => {
  const it = await openMergeCase()
  github.addRules(it.full, [createMergeQueueRule(settings), createStatusChecksRule([{ context: checkName }])])
  await setCheck(it, it.headSha, checkName)
  return it
}
const openSecondPull = async (it: BranchRulesScenario, path = 'beta.yaml'): Promise<MockPull> => {
  const pull = await github.openPull(
    createPullOptions(path, { [path]: 'name: other\n' }, { repository: it.full }),
  )
  await setCheck(it, pull.headSha, checkName)
  return pull
}
const enqueuePull = async (pull: MockPull, more: Record<string, unknown> = {}): Promise<unknown> =>
  octokit
    .graphql(
      `mutation ($input: EnqueuePullRequestInput!) {
        enqueuePullRequest(input: $input) { mergeQueueEntry { position state headCommit { oid } } }
      }`,
      { input: { pullRequestId: toNodeId('PullRequest', pull.id), expectedHeadOid: pull.headSha, ...more } },
    )
    .then(
      (data) =>
        (data as { enqueuePullRequest: { mergeQueueEntry: unknown } }).enqueuePullRequest.mergeQueueEntry,
      (error: { errors: { message: string }[] }) => error.errors.map(({ message }) => message).join(),
    )
/** Reads the entries of a repository's merge queue: pull request number and state. */
const readMergeQueue = async ({ name }: BranchRulesScenario): Promise<unknown> => {
  const query = `query ($owner: String!, $repo: String!) {
    repository(owner: $owner, name: $repo) {
      mergeQueue(branch: "main") { entries(first: 10) { nodes { state pullRequest { number } headCommit { oid } } } }
    }
  }`
  const found = await octokit.graphql<{
    repository: { mergeQueue: { entries: { nodes: { state: string; pullRequest: { number: number } }[] } } }
  }>(query, name)
  return found.repository.mergeQueue.entries.nodes.map((it) => [it.pullRequest.number, it.state])
}
/** Lists received webhooks about merge groups and about queued or dequeued pull requests, newest last. */
const listMergeQueueEvents = async ({ full }: BranchRulesScenario): Promise<Record<string, unknown>[]> => {
  await github.settled()
  return githubFixture.receiver.received
    .filter(
      ({ payload }) => (payload['repository'] as { full_name?: string } | undefined)?.full_name === full,
    )
    .filter(({ event, payload }) => event === 'merge_group' || /queued$/.test(String(payload['action'])))
    .map(({ payload }) => payload)
}
const listRequestedMergeGroups = async (
  it: BranchRulesScenario,
): Promise<{ head_sha: string; head_ref: string; base_sha: string }[]> =>
  (await listMergeQueueEvents(it))
    .filter((payload) => payload['action'] === 'checks_requested')
    .map((payload) => payload['merge_group'] as { head_sha: string; head_ref: string; base_sha: string })
const getLastRequestedMergeGroup = async (
  it: BranchRulesScenario,
): Promise<{ head_sha: string; head_ref: string; base_sha: string }> => {
  const found = (await listRequestedMergeGroups(it)).at(-1)
  if (found === undefined) throw new Error('no group')
  return found
}

describe('entering the queue', () => {
  test('fails if the head is not the expected one', async () => {
    const it = await createMergeQueueScenario()
    expect(await enqueuePull(it.pull, { expectedHeadOid: it.baseSha })).toBe(
      'Head branch was modified. Review and try the merge again.',
    )
    expect(await readMergeQueue(it)).toEqual([])
  })

  test('fails if a check or an approval is missing, or if the pull request is already queued', async () => {
    const it = await openMergeCase()
    const rules = [
      createMergeQueueRule(),
      createStatusChecksRule([{ context: checkName }]),
      createPullRequestRule({ required_approving_review_count: 1 }),
    ]
    github.addRules(it.full, rules)
    expect(await enqueuePull(it.pull)).toContain(`Required status check "${checkName}" is expected.`)
    await setCheck(it, it.headSha, checkName)
    expect(await enqueuePull(it.pull)).toContain('At least 1 approving review is required')
    github.review(it.pull, 'bob', 'approve')
    expect(await enqueuePull(it.pull)).toMatchObject({ position: 1, state: 'AWAITING_CHECKS' })
    expect(await enqueuePull(it.pull)).toBe('Pull request is already in the queue')
  })

  test('fails for a branch without a queue and for a user without write access', async () => {
    const it = await openMergeCase()
    expect(await enqueuePull(it.pull)).toContain('does not require a merge queue')
    const outsiderClient = githubFixture.client(github.tokenFor('outsider'))
    const query = `mutation { enqueuePullRequest(input: { pullRequestId: "${toNodeId('PullRequest', it.pull.id)}" }) { clientMutationId } }`
    await expect(outsiderClient.graphql(query)).rejects.toThrow('write access')
  })

  test('is not possible in repositories owned by users', async () => {
    const it = await openMergeCase({ owner: 'bob' })
    expect(() => github.addRules(it.full, [createMergeQueueRule()])).toThrow('Validation Failed')
  })
})

describe('a group', () => {
  test('is a commit on the base in a temporary branch, and is merged when its checks pass', async () => {
    const it = await createMergeQueueScenario({ merge_method: 'MERGE' })
    await enqueuePull(it.pull)
    const group = await getLastRequestedMergeGroup(it)
    expect(group).toMatchObject({
      base_sha: it.baseSha,
      base_ref: 'refs/heads/main',
      head_ref: `refs/heads/gh-readonly-queue/main/pr-${it.pull.number}-${it.baseSha}`,
    })
    const { data } = await octokit.rest.git.getCommit({ ...it.name, commit_sha: group.head_sha })
    expect(data.parents.map(({ sha }) => sha)).toEqual([it.baseSha, it.headSha])
    expect(await readTip(it)).toBe(it.baseSha)
    await setCheck(it, group.head_sha, checkName)
    await github.settled()
    expect(await readTip(it)).toBe(group.head_sha)
    expect(it.pull).toMatchObject({ state: 'closed', merged: { sha: group.head_sha } })
    expect((await listMergeQueueEvents(it)).map(({ action, reason }) => [action, reason])).toEqual([
      ['enqueued', undefined],
      ['checks_requested', undefined],
      ['destroyed', 'merged'],
      ['dequeued', 'MERGE'],
    ])
    const { knownRefs } = github.repository(it.full)
    expect([...knownRefs.keys()].filter((ref) => ref.includes('gh-readonly-queue'))).toEqual([])
  })

  test('that fails removes its pull request, and later groups are rebuilt without it', async () => {
    const it = await createMergeQueueScenario()
    const second = await openSecondPull(it)
    await enqueuePull(it.pull)
    await enqueuePull(second)
    const [first, behind] = await listRequestedMergeGroups(it)
    expect(behind?.base_sha).toBe(first?.head_sha)
    await setCheck(it, first?.head_sha ?? '', checkName, 'failure')
    await github.settled()
    expect(await readMergeQueue(it)).toEqual([[second.number, 'AWAITING_CHECKS']])
    expect((await getLastRequestedMergeGroup(it)).base_sha).toBe(it.baseSha)
    expect(await listMergeQueueEvents(it)).toContainEqual(
      expect.objectContaining({ action: 'dequeued', reason: 'CI_FAILURE' }),
    )
    expect(it.pull.state).toBe('open')
    await setCheck(it, (await getLastRequestedMergeGroup(it)).head_sha, checkName)
    await github.settled()
    expect(second.merged).not.toBeNull()
  })

  test('without check results before the timeout is removed', async () => {
    const it = await createMergeQueueScenario({ check_response_timeout_minutes: 10 })
    await enqueuePull(it.pull)
    currentTimeMs += 9 * 60_000
    await github.passTimeInQueues(it.full)
    expect(await readMergeQueue(it)).toHaveLength(1)
    currentTimeMs += 60_000
    await github.passTimeInQueues(it.full)
    expect(await readMergeQueue(it)).toEqual([])
    expect(await listMergeQueueEvents(it)).toContainEqual(
      expect.objectContaining({ action: 'dequeued', reason: 'CI_TIMEOUT' }),
    )
  })

  test('is rebuilt when the base moves, and removed when the head moves', async () => {
    const it = await createMergeQueueScenario()
    await enqueuePull(it.pull)
    const moved = await github.pushToBase(it.full, { 'again.txt': 'x' })
    await github.settled()
    expect((await getLastRequestedMergeGroup(it)).base_sha).toBe(moved)
    expect(await listMergeQueueEvents(it)).toContainEqual(
      expect.objectContaining({ action: 'destroyed', reason: 'invalidated' }),
    )
    await github.pushToPull(it.pull, { 'gamma.yaml': 'x' })
    await github.settled()
    expect(await readMergeQueue(it)).toEqual([])
  })

  test('with a conflict is removed', async () => {
    const it = await createMergeQueueScenario()
    const second = await openSecondPull(it, 'alpha.yaml')
    await enqueuePull(it.pull)
    await enqueuePull(second)
    await github.settled()
    expect(await listMergeQueueEvents(it)).toContainEqual(
      expect.objectContaining({ action: 'dequeued', number: second.number, reason: 'MERGE_CONFLICT' }),
    )
    expect(await readMergeQueue(it)).toEqual([[it.pull.number, 'AWAITING_CHECKS']])
  })

  test('goes before the others if its pull request jumps the queue', async () => {
    const it = await createMergeQueueScenario()
    const second = await openSecondPull(it)
    await enqueuePull(it.pull)
    await enqueuePull(second, { jump: true })
    expect(await readMergeQueue(it)).toEqual([
      [second.number, 'AWAITING_CHECKS'],
      [it.pull.number, 'AWAITING_CHECKS'],
    ])
  })

  test('by squash becomes the tip of the base, and marks the pull request as merged', async () => {
    const it = await createMergeQueueScenario({ merge_method: 'SQUASH' })
    await enqueuePull(it.pull)
    const group = await getLastRequestedMergeGroup(it)
    await setCheck(it, group.head_sha, checkName)
    await github.settled()
    expect(await readTip(it)).toBe(group.head_sha)
    expect(it.pull.merged?.sha).toBe(group.head_sha)
  })
})

describe('several groups', () => {
  test('ALLGREEN: a later group waits for the earlier ones', async () => {
    const it = await createMergeQueueScenario({ grouping_strategy: 'ALLGREEN' })
    const second = await openSecondPull(it)
    await enqueuePull(it.pull)
    await enqueuePull(second)
    const [first, behind] = await listRequestedMergeGroups(it)
    await setCheck(it, behind?.head_sha ?? '', checkName)
    await github.settled()
    expect(await readTip(it)).toBe(it.baseSha)
    await setCheck(it, first?.head_sha ?? '', checkName)
    await github.settled()
    expect(await readTip(it)).toBe(behind?.head_sha)
    expect([it.pull.merged, second.merged]).not.toContain(null)
  })

  test('HEADGREEN: only the checks of the last group count', async () => {
    const it = await createMergeQueueScenario({ grouping_strategy: 'HEADGREEN' })
    const second = await openSecondPull(it)
    await enqueuePull(it.pull)
    await enqueuePull(second)
    const [, behind] = await listRequestedMergeGroups(it)
    await setCheck(it, behind?.head_sha ?? '', checkName)
    await github.settled()
    expect(await readTip(it)).toBe(behind?.head_sha)
  })

  test('dequeuePullRequest removes an entry', async () => {
    const it = await createMergeQueueScenario()
    await enqueuePull(it.pull)
    const query = `mutation ($id: ID!) { dequeuePullRequest(input: { id: $id }) { mergeQueueEntry { position } } }`
    await octokit.graphql(query, { id: toNodeId('PullRequest', it.pull.id) })
    expect(await readMergeQueue(it)).toEqual([])
    expect(await listMergeQueueEvents(it)).toContainEqual(
      expect.objectContaining({ action: 'dequeued', reason: 'MANUAL' }),
    )
  })
})
