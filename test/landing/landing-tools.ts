// All that lands one pull request of the sandbox's GitHub, without a process of the bot's: the mirror, the forge, a store in
// memory, and a permit for what it is now.
import { join } from 'node:path'
import { withDigest } from '../../src/app/jobs/publish-report.ts'
import { pullNumber } from '../../src/change/ids.ts'
import { mint, type Landing, type MergePermit } from '../../src/gate/merge-permit.ts'
import { openMirror, type Mirror } from '../../src/git/mirror.ts'
import { openForge } from '../../src/github/forge.ts'
import type { GitHubApp } from '../../src/github/github-app.ts'
import { openMerging } from '../../src/github/merge-calls.ts'
import type { Examined, LandOptions, Mismatch } from '../../src/landing/landing-options.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { CheckRun } from '../../src/ports/forge.ts'
import type { GitHub } from '../../sandbox/github/github.ts'
import type { Pull } from '../../sandbox/github/world.ts'
import { memoryStore, type MemoryStore } from './memory-store.ts'

/** Our checks by these names, as they are when all is well. */
export const greenChecks = (names: readonly string[]): readonly CheckRun[] =>
  names.map((name) =>
    withDigest({
      name,
      status: 'completed',
      conclusion: 'success',
      title: 'Passed',
      summary: 'fine',
      annotations: [],
    }),
  )

export interface LandingTools extends MemoryStore {
  readonly mirror: Mirror
  readonly mismatches: Mismatch[]
  /** What the App asks with, as the landing has it. */
  readonly options: Omit<LandOptions, 'plan'>
  /** Looks at the pull request as it is now, and gives out a permit for it. */
  readonly examine: (change?: Partial<Landing>) => Promise<{ examined: Examined; permit: MergePermit }>
}

export interface LandingGround {
  readonly github: GitHub
  readonly app: GitHubApp
  /** The App's installation, by id. */
  readonly installation: number
  /** For the mirror alone. */
  readonly directory: string
  readonly pull: Pull
  readonly clock: Clock
  readonly checks: readonly CheckRun[]
}

export async function openLandingTools(ground: LandingGround): Promise<LandingTools> {
  const { github, app, installation, directory, pull, clock, checks } = ground
  const repository = { owner: pull.repo.owner.login, name: pull.repo.name }
  const mirror = await openMirror({
    directory: join(directory, 'mirror.git'),
    url: `${github.url}/${repository.owner}/${repository.name}.git`,
    repository,
    credential: async () => ({
      username: 'x-access-token',
      password: await app.gitToken(installation, repository),
    }),
  })
  const octokit = await app.octokit(installation)
  const forge = openForge(octokit, repository, app)
  const memory = memoryStore()
  const mismatches: Mismatch[] = []
  return {
    ...memory,
    mirror,
    mismatches,
    options: {
      repository: mirror,
      forge,
      merging: openMerging(octokit, repository),
      store: memory.store,
      clock,
      leaseSeconds: 60,
      checks,
      onMismatch: async (mismatch) => void mismatches.push(mismatch),
    },
    examine: async (change = {}) => {
      const snapshot = await forge.readSnapshot(pullNumber(pull.number))
      if (snapshot === null) throw new Error('no pull request')
      await mirror.fetch('main', snapshot.pull)
      const merge = await mirror.merge(snapshot.base, snapshot.head, 'Merge pull request 1: Alpha\n\nHead\n')
      if (merge.kind !== 'clean') throw new Error(merge.kind)
      const { base, head } = snapshot
      const landing = { repository, pull: snapshot.pull, baseRef: 'main', base, head, config: 'c' }
      const { commit, tree } = merge
      return { examined: { snapshot }, permit: mint({ ...landing, commit, tree, ...change }) }
    },
  }
}
