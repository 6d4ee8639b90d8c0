// GitHub's merge queue: who gets in, what is built and asked for, what lands, and what takes an entry out.
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import type { Pull } from '../../../../sandbox/github/world.ts'
import { nodeId } from '../../../../sandbox/github/views/account-view.ts'
import { Ground, checksRule, pullRequestRule, queueRule } from './landing-ground.ts'
import type { Landing } from './landing-ground.ts'

let ground: Ground
let now = Date.now()
beforeAll(async () => {
  ground = await Ground.furnish({ clock: { now: () => now } })
})
afterAll(async () => ground.it.stop())
afterEach(() => {
  expect(ground.it.github.violations.splice(0)).toEqual([])
})

const check = 'catalog-bot / validation'
const queued = async (settings: Record<string, unknown> = {}): Promise<Landing> => {
  const it = await ground.landing()
  ground.it.github.addRules(it.full, [queueRule(settings), checksRule([{ context: check }])])
  await ground.check(it, it.H, check)
  return it
}
const another = async (it: Landing, path = 'beta.yaml'): Promise<Pull> => {
  const { github } = ground.it
  const pull = await github.openPull({
    repository: it.full,
    author: 'alice',
    title: path,
    changes: { [path]: 'name: other\n' },
  })
  await ground.check(it, pull.headSha, check)
  return pull
}
const enqueue = async (pull: Pull, more: Record<string, unknown> = {}): Promise<unknown> =>
  ground.it.octokit
    .graphql(
      `mutation ($input: EnqueuePullRequestInput!) {
        enqueuePullRequest(input: $input) { mergeQueueEntry { position state headCommit { oid } } }
      }`,
      { input: { pullRequestId: nodeId('PullRequest', pull.id), expectedHeadOid: pull.headSha, ...more } },
    )
    .then(
      (data) =>
        (data as { enqueuePullRequest: { mergeQueueEntry: unknown } }).enqueuePullRequest.mergeQueueEntry,
      (error: { errors: { message: string }[] }) => error.errors.map(({ message }) => message).join(),
    )
/** What a repository's queue says when asked. */
const queue = async ({ name }: Landing): Promise<unknown> => {
  const query = `query ($owner: String!, $repo: String!) {
    repository(owner: $owner, name: $repo) {
      mergeQueue(branch: "main") { entries(first: 10) { nodes { state pullRequest { number } headCommit { oid } } } }
    }
  }`
  const found = await ground.it.octokit.graphql<{
    repository: { mergeQueue: { entries: { nodes: { state: string; pullRequest: { number: number } }[] } } }
  }>(query, name)
  return found.repository.mergeQueue.entries.nodes.map((it) => [it.pullRequest.number, it.state])
}
/** What was told of merge groups and of pull requests entering and leaving, newest last. */
const told = async ({ full }: Landing): Promise<Record<string, unknown>[]> => {
  await ground.it.github.settled()
  return ground.it.receiver.received
    .filter(
      ({ payload }) => (payload['repository'] as { full_name?: string } | undefined)?.full_name === full,
    )
    .filter(({ event, payload }) => event === 'merge_group' || /queued$/.test(String(payload['action'])))
    .map(({ payload }) => payload)
}
const groups = async (it: Landing): Promise<{ head_sha: string; head_ref: string; base_sha: string }[]> =>
  (await told(it))
    .filter((payload) => payload['action'] === 'checks_requested')
    .map((payload) => payload['merge_group'] as { head_sha: string; head_ref: string; base_sha: string })
const last = async (it: Landing): Promise<{ head_sha: string; head_ref: string; base_sha: string }> => {
  const found = (await groups(it)).at(-1)
  if (found === undefined) throw new Error('no group')
  return found
}

describe('who gets in', () => {
  test('a head that is not the expected one does not', async () => {
    const it = await queued()
    expect(await enqueue(it.pull, { expectedHeadOid: it.B })).toBe(
      'Head branch was modified. Review and try the merge again.',
    )
    expect(await queue(it)).toEqual([])
  })

  test('a pull request that lacks a check or an approval does not', async () => {
    const it = await ground.landing()
    const rules = [
      queueRule(),
      checksRule([{ context: check }]),
      pullRequestRule({ required_approving_review_count: 1 }),
    ]
    ground.it.github.addRules(it.full, rules)
    expect(await enqueue(it.pull)).toContain(`Required status check "${check}" is expected.`)
    await ground.check(it, it.H, check)
    expect(await enqueue(it.pull)).toContain('At least 1 approving review is required')
    ground.it.github.review(it.pull, 'bob', 'approve')
    expect(await enqueue(it.pull)).toMatchObject({ position: 1, state: 'AWAITING_CHECKS' })
    expect(await enqueue(it.pull)).toBe('Pull request is already in the queue')
  })

  test('a branch without a queue takes none, and a person without write access puts none in', async () => {
    const it = await ground.landing()
    expect(await enqueue(it.pull)).toContain('does not require a merge queue')
    const stranger = ground.it.client(ground.it.github.tokenFor('stranger'))
    const query = `mutation { enqueuePullRequest(input: { pullRequestId: "${nodeId('PullRequest', it.pull.id)}" }) { clientMutationId } }`
    await expect(stranger.graphql(query)).rejects.toThrow('write access')
  })

  test('repositories of people have no queue', async () => {
    const it = await ground.landing({ owner: 'bob' })
    expect(() => ground.it.github.addRules(it.full, [queueRule()])).toThrow('Validation Failed')
  })
})

describe('a group', () => {
  test('is a commit on the base under a temporary branch, and lands when its checks are green', async () => {
    const it = await queued({ merge_method: 'MERGE' })
    await enqueue(it.pull)
    const group = await last(it)
    expect(group).toMatchObject({
      base_sha: it.B,
      base_ref: 'refs/heads/main',
      head_ref: `refs/heads/gh-readonly-queue/main/pr-${it.pull.number}-${it.B}`,
    })
    const { data } = await ground.it.octokit.rest.git.getCommit({ ...it.name, commit_sha: group.head_sha })
    expect(data.parents.map(({ sha }) => sha)).toEqual([it.B, it.H])
    expect(await ground.tip(it)).toBe(it.B)
    await ground.check(it, group.head_sha, check)
    await ground.it.github.settled()
    expect(await ground.tip(it)).toBe(group.head_sha)
    expect(it.pull).toMatchObject({ state: 'closed', merged: { sha: group.head_sha } })
    expect((await told(it)).map(({ action, reason }) => [action, reason])).toEqual([
      ['enqueued', undefined],
      ['checks_requested', undefined],
      ['destroyed', 'merged'],
      ['dequeued', 'MERGE'],
    ])
    const { known } = ground.it.github.repository(it.full)
    expect([...known.keys()].filter((ref) => ref.includes('gh-readonly-queue'))).toEqual([])
  })

  test('that fails takes its pull request out, and those behind are built anew without it', async () => {
    const it = await queued()
    const second = await another(it)
    await enqueue(it.pull)
    await enqueue(second)
    const [first, behind] = await groups(it)
    expect(behind?.base_sha).toBe(first?.head_sha)
    await ground.check(it, first?.head_sha ?? '', check, 'failure')
    await ground.it.github.settled()
    expect(await queue(it)).toEqual([[second.number, 'AWAITING_CHECKS']])
    expect((await last(it)).base_sha).toBe(it.B)
    expect(await told(it)).toContainEqual(
      expect.objectContaining({ action: 'dequeued', reason: 'CI_FAILURE' }),
    )
    expect(it.pull.state).toBe('open')
    await ground.check(it, (await last(it)).head_sha, check)
    await ground.it.github.settled()
    expect(second.merged).not.toBeNull()
  })

  test('without an answer in time is taken out', async () => {
    const it = await queued({ check_response_timeout_minutes: 10 })
    await enqueue(it.pull)
    now += 9 * 60_000
    await ground.it.github.passTimeInQueues(it.full)
    expect(await queue(it)).toHaveLength(1)
    now += 60_000
    await ground.it.github.passTimeInQueues(it.full)
    expect(await queue(it)).toEqual([])
    expect(await told(it)).toContainEqual(
      expect.objectContaining({ action: 'dequeued', reason: 'CI_TIMEOUT' }),
    )
  })

  test('is built anew when the base moves, and left when the head moves', async () => {
    const it = await queued()
    await enqueue(it.pull)
    const moved = await ground.it.github.pushToBase(it.full, { 'again.txt': 'x' })
    await ground.it.github.settled()
    expect((await last(it)).base_sha).toBe(moved)
    expect(await told(it)).toContainEqual(
      expect.objectContaining({ action: 'destroyed', reason: 'invalidated' }),
    )
    await ground.it.github.pushToPull(it.pull, { 'gamma.yaml': 'x' })
    await ground.it.github.settled()
    expect(await queue(it)).toEqual([])
  })

  test('with a conflict is taken out', async () => {
    const it = await queued()
    const second = await another(it, 'alpha.yaml')
    await enqueue(it.pull)
    await enqueue(second)
    await ground.it.github.settled()
    expect(await told(it)).toContainEqual(
      expect.objectContaining({ action: 'dequeued', number: second.number, reason: 'MERGE_CONFLICT' }),
    )
    expect(await queue(it)).toEqual([[it.pull.number, 'AWAITING_CHECKS']])
  })

  test('whose pull request jumps the queue goes before the others', async () => {
    const it = await queued()
    const second = await another(it)
    await enqueue(it.pull)
    await enqueue(second, { jump: true })
    expect(await queue(it)).toEqual([
      [second.number, 'AWAITING_CHECKS'],
      [it.pull.number, 'AWAITING_CHECKS'],
    ])
  })

  test('by squash lands one commit a pull request, and marks them merged', async () => {
    const it = await queued({ merge_method: 'SQUASH' })
    await enqueue(it.pull)
    const group = await last(it)
    await ground.check(it, group.head_sha, check)
    await ground.it.github.settled()
    expect(await ground.tip(it)).toBe(group.head_sha)
    expect(it.pull.merged?.sha).toBe(group.head_sha)
  })
})

describe('several groups', () => {
  test('ALLGREEN: a later one waits for those before it', async () => {
    const it = await queued({ grouping_strategy: 'ALLGREEN' })
    const second = await another(it)
    await enqueue(it.pull)
    await enqueue(second)
    const [first, behind] = await groups(it)
    await ground.check(it, behind?.head_sha ?? '', check)
    await ground.it.github.settled()
    expect(await ground.tip(it)).toBe(it.B)
    await ground.check(it, first?.head_sha ?? '', check)
    await ground.it.github.settled()
    expect(await ground.tip(it)).toBe(behind?.head_sha)
    expect([it.pull.merged, second.merged]).not.toContain(null)
  })

  test('HEADGREEN: the last one alone decides', async () => {
    const it = await queued({ grouping_strategy: 'HEADGREEN' })
    const second = await another(it)
    await enqueue(it.pull)
    await enqueue(second)
    const [, behind] = await groups(it)
    await ground.check(it, behind?.head_sha ?? '', check)
    await ground.it.github.settled()
    expect(await ground.tip(it)).toBe(behind?.head_sha)
  })

  test('dequeuePullRequest takes one out', async () => {
    const it = await queued()
    await enqueue(it.pull)
    const query = `mutation ($id: ID!) { dequeuePullRequest(input: { id: $id }) { mergeQueueEntry { position } } }`
    await ground.it.octokit.graphql(query, { id: nodeId('PullRequest', it.pull.id) })
    expect(await queue(it)).toEqual([])
    expect(await told(it)).toContainEqual(expect.objectContaining({ action: 'dequeued', reason: 'MANUAL' }))
  })
})
