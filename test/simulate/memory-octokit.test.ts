// The in-memory GitHub client: all pages of a list are read, and every change is found, by REST and by GraphQL.
import { expect, test } from '@jest/globals'
import { toPullNumber } from '../../src/pull-request/ids.ts'
import type { PullSnapshot } from '../../src/pull-request/snapshot.ts'
import { readPullRequestSnapshot } from '../../src/adapters/github/read-snapshot.ts'
import { findUnchangedPulls } from '../../src/adapters/github/graphql-pull.ts'
import { applyUserAction, seedRepository } from '../../simulate/apply-user-action.ts'
import type { UserAction } from '../../simulate/simulation-plan.ts'
import { createInMemoryOctokit } from '../../simulate/ports/memory-octokit.ts'
import { appId, SimulatedGitHub } from '../../simulate/world/simulated-github.ts'

const pullNumber = toPullNumber(1)

function createSimulatedGitHubClient() {
  const time = { step: 1, now: Date.parse('2026-01-01T00:00:00Z') }
  const server = new SimulatedGitHub(() => time)
  seedRepository(server)
  const perform = (action: UserAction) => {
    time.step += 1
    time.now += 60_000
    applyUserAction(server, action)
  }
  const octokit = createInMemoryOctokit(server, {
    ask: async (_, answer) => answer(),
    lag: () => 0,
    onAnswer: () => undefined,
  })
  const read = async (): Promise<PullSnapshot> => {
    const snapshot = await readPullRequestSnapshot(octokit, server.name, pullNumber, { appId })
    if (snapshot === null) throw new Error('no pull request')
    return snapshot
  }
  const isSame = async (snapshot: PullSnapshot) =>
    (await findUnchangedPulls(octokit, server.name, [snapshot])).has(pullNumber)
  perform({ do: 'open', by: 'ann', edits: [{ kind: 'release', package: 'foo' }] })
  return { perform, read, isSame }
}

test('all pages of the comments are read', async () => {
  const { perform, read } = createSimulatedGitHubClient()
  for (let count = 0; count < 120; count++) perform({ do: 'comment', by: 'eve', pull: 1, body: `${count}` })
  expect((await read()).comments).toHaveLength(120)
})

test.each<UserAction>([
  { do: 'push', by: 'ann', pull: 1, edits: [{ kind: 'extra', package: 'foo', part: 1 }] },
  { do: 'retarget', by: 'ann', pull: 1, base: 'release' },
  { do: 'close', by: 'ann', pull: 1 },
  { do: 'draft', by: 'ann', pull: 1 },
  { do: 'label', by: 'wes', pull: 1, label: 'hold' },
  { do: 'review', by: 'amy', pull: 1, state: 'changes-requested' },
  { do: 'dismiss', by: 'amy', pull: 1 },
  { do: 'comment', by: 'max', pull: 1, body: '/hold' },
  { do: 'edit-comment', by: 'max', pull: 1, body: '/hold' },
  { do: 'delete-comment', by: 'max', pull: 1 },
])('the action $do changes the snapshot in REST and GraphQL', async (action) => {
  const { perform, read, isSame } = createSimulatedGitHubClient()
  perform({ do: 'review', by: 'amy', pull: 1, state: 'approved' })
  perform({ do: 'comment', by: 'amy', pull: 1, body: 'fine' })
  const before = await read()
  expect(await isSame(before)).toBe(true)
  perform(action)
  expect(await isSame(before)).toBe(false)
  expect(await read()).not.toEqual(before)
})
