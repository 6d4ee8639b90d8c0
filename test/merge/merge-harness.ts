// What merges one pull request on the mock GitHub without a bot process: the mirror, the forge, an in-memory store,
// and a permit for the current state.
import { join } from 'node:path'
import { addCheckRunDigest } from '../../src/jobs/publish-report.ts'
import { toPullNumber } from '../../src/pull-request/ids.ts'
import { createMergePermit, type ValidatedMerge, type MergePermit } from '../../src/policy/merge-permit.ts'
import type { GitMirror } from '../../src/adapters/git/mirror.ts'
import type { GitHubApp } from '../../src/adapters/github/github-app.ts'
import { toMergeLeaseName } from '../../src/jobs/auto-renewing-lease.ts'
import { mergePullUnderLease } from '../../src/merge/merge-pull.ts'
import type {
  EvaluatedPullSnapshot,
  MergeOptions,
  MergeOutcome,
  MergeTreeMismatch,
} from '../../src/merge/merge-types.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { CheckRunContent } from '../../src/ports/forge.ts'
import type { MockGitHub } from '../../sandbox/github/github.ts'
import type { MockPull } from '../../sandbox/github/github-data.ts'
import { createInMemoryMergeStore, type InMemoryMergeStore } from './memory-store.ts'
import { openRepositoryContext } from '../jobs/job-context.ts'

/** Creates passing check runs with these names. */
export const createPassingCheckRuns = (names: readonly string[]): readonly CheckRunContent[] =>
  names.map((name) =>
    addCheckRunDigest({
      name,
      status: 'completed',
      conclusion: 'success',
      title: 'Passed',
      summary: 'fine',
      annotations: [],
    }),
  )

export interface MergeTestHarness extends InMemoryMergeStore {
  readonly mirror: GitMirror
  readonly mismatches: MergeTreeMismatch[]
  /** The merge options with clients that authenticate as the App. */
  readonly options: Omit<MergeOptions, 'plan'> & { readonly leaseSeconds: number }
  /** Reads the current state of the pull request and mints a permit for it. */
  readonly evaluate: (
    change?: Partial<ValidatedMerge>,
  ) => Promise<{ evaluated: EvaluatedPullSnapshot; permit: MergePermit }>
}

export interface MergeTestHarnessInput {
  readonly github: MockGitHub
  readonly app: GitHubApp
  /** The App's installation, by id. */
  readonly installation: number
  /** Holds only the mirror. */
  readonly directory: string
  readonly pull: MockPull
  readonly clock: Clock
  readonly checks: readonly CheckRunContent[]
}

/** Merges a single pull request as a job does, under the branch's lease. */
export async function mergePull(
  evaluated: EvaluatedPullSnapshot,
  permit: MergePermit,
  options: MergeOptions,
): Promise<MergeOutcome> {
  const { repository, baseRef } = permit.merge
  const lease = await options.store.acquireLease(toMergeLeaseName(repository, baseRef), 60)
  if (lease === undefined) return { kind: 'busy' }
  try {
    return await mergePullUnderLease(evaluated, permit, lease, options)
  } finally {
    await options.store.releaseLease(lease)
  }
}

export async function createMergeTestHarness(input: MergeTestHarnessInput): Promise<MergeTestHarness> {
  const { github, app, installation, directory, pull, clock, checks } = input
  const repository = { owner: pull.repo.owner.login, name: pull.repo.name }
  const context = await openRepositoryContext(
    github,
    app,
    installation,
    repository,
    join(directory, 'mirror.git'),
  )
  const { repository: mirror, forge, merging } = context
  const memory = createInMemoryMergeStore()
  const mismatches: MergeTreeMismatch[] = []
  return {
    ...memory,
    mirror,
    mismatches,
    options: {
      repository: mirror,
      forge,
      merging,
      store: memory.store,
      clock,
      leaseSeconds: 60,
      checks,
      onMismatch: async (mismatch) => void mismatches.push(mismatch),
    },
    evaluate: async (change = {}) => {
      const snapshot = await forge.readSnapshot(toPullNumber(pull.number))
      if (snapshot === null) throw new Error('no pull request')
      await mirror.fetch('main', snapshot.pull)
      const merge = await mirror.merge(snapshot.base, snapshot.head, 'Merge pull request 1: Alpha\n\nHead\n')
      if (merge.kind !== 'clean') throw new Error(merge.kind)
      const { base, head } = snapshot
      const pendingMerge = { repository, pull: snapshot.pull, baseRef: 'main', base, head, config: 'c' }
      const { commit, tree } = merge
      return {
        evaluated: { snapshot },
        permit: createMergePermit({ ...pendingMerge, commit, tree, ...change }),
      }
    },
  }
}
