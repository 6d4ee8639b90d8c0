// A repository on the sandbox's GitHub with one pull request whose head is behind its base, and all that lands it: the
// mirror, the forge, a permit.
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import pino from 'pino'
import { commitSha, pullNumber, type CommitSha } from '../../src/change/ids.ts'
import { withDigest } from '../../src/app/jobs/publish-report.ts'
import type { BranchRules } from '../../src/gate/branch-rules.ts'
import type { LandingMethod } from '../../src/gate/landing-method.ts'
import { mint, type Landing, type MergePermit } from '../../src/gate/merge-permit.ts'
import { openMirror, type Mirror } from '../../src/git/mirror.ts'
import { openForge } from '../../src/github/forge.ts'
import { openGitHubApp, type GitHubApp } from '../../src/github/github-app.ts'
import { openMerging } from '../../src/github/merge-calls.ts'
import type { Examined, LandOptions, LandingOutcome, Mismatch } from '../../src/landing/landing-options.ts'
import { landPull } from '../../src/landing/land-pull.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { CheckRun } from '../../src/ports/forge.ts'
import type { GitHub, GitHubOptions } from '../../sandbox/github/github.ts'
import type { Rule } from '../../sandbox/github/branch-rules/rule-shapes.ts'
import type { Pull } from '../../sandbox/github/world.ts'
import { furnish, git, privateKey, secret, type Furnished } from '../sandbox/github/sample-world.ts'
import { memoryStore, type MemoryStore } from './memory-store.ts'

/** The names of the checks that a branch of these tests requires. */
export const ownChecks = ['catalog-bot / ownership', 'catalog-bot / validation']

export const green: readonly CheckRun[] = ownChecks.map((name) =>
  withDigest({
    name,
    status: 'completed',
    conclusion: 'success',
    title: 'Passed',
    summary: 'fine',
    annotations: [],
  }),
)

export const plainPush: LandingMethod = { kind: 'push', checksFirst: false, signed: false }

export interface Scene extends MemoryStore {
  readonly github: GitHub
  readonly full: string
  readonly pull: Pull
  readonly mirror: Mirror
  readonly clock: Clock
  readonly mismatches: Mismatch[]
  /** What the App asks with, as the landing has it. */
  readonly options: Omit<LandOptions, 'plan'>
  rules(rules: readonly Rule[]): void
  /** Looks at the pull request as it is now, and gives out a permit for it. */
  examine(change?: Partial<Landing>): Promise<{ examined: Examined; permit: MergePermit }>
  land(
    method: LandingMethod,
    more?: Partial<LandOptions> & { readonly rules?: BranchRules; readonly needsGitHubsTree?: boolean },
  ): Promise<LandingOutcome>
  tip(): CommitSha
  parentsOf(commit: string): Promise<string[]>
  treeOf(commit: string): Promise<string>
  /** Branches of ours that are not `main`. */
  otherBranches(): string[]
  close(): Promise<void>
}

export interface SceneOptions {
  /** Whether the base moves on after the pull request was opened (it does). */
  readonly behind?: boolean
  readonly commits?: number
}

/** One GitHub for the tests of a file; a repository each. */
export class LandingWorld {
  readonly it: Furnished
  readonly app: GitHubApp
  /** Sleeping moves the time of this world, and takes none. */
  readonly clock: Clock
  #count = 0

  private constructor(it: Furnished, app: GitHubApp, clock: Clock) {
    this.it = it
    this.app = app
    this.clock = clock
  }

  static async open(options: Partial<GitHubOptions> = {}): Promise<LandingWorld> {
    const times = { now: Date.now() }
    const clock = { now: () => times.now }
    const it = await furnish({ validateTraffic: true, clock, ...options })
    const sleep = async (milliseconds: number) => void (times.now += milliseconds)
    const app = openGitHubApp({
      appId: it.app.id,
      privateKey,
      webhookSecret: secret,
      apiUrl: it.github.url,
      throttle: false,
      clock: { ...clock, sleep },
      log: pino({ level: 'silent' }),
    })
    return new LandingWorld(it, app, { now: clock.now, sleep })
  }

  async scene({ behind = true, commits = 1 }: SceneOptions = {}): Promise<Scene> {
    const { github, installation } = this.it
    const name = `landing-${(this.#count += 1)}`
    const full = `catalogs/${name}`
    const repository = { owner: 'catalogs', name }
    const repo = await github.createRepository('catalogs', name, { files: { 'README.md': '# x\n' } })
    github.changeInstallation(installation, [full])
    github.setRole(full, 'bob', 'write')
    const pull = await github.openPull({
      repository: full,
      author: 'alice',
      title: 'Alpha',
      changes: { 'alpha.yaml': 'name: alpha\n' },
      signed: true,
    })
    for (let count = 1; count < commits; count++)
      await github.pushToPull(pull, { 'alpha.yaml': `name: alpha ${count}\n` })
    if (behind) await github.pushToBase(full, { 'meanwhile.txt': 'x\n' })
    const mirror = await openMirror({
      directory: join(await mkdtemp(join(this.it.directory, 'mirror-')), 'mirror.git'),
      url: `${github.url}/${full}.git`,
      repository,
      credential: async () => ({
        username: 'x-access-token',
        password: await this.app.gitToken(installation.id, repository),
      }),
    })
    const octokit = await this.app.octokit(installation.id)
    const forge = openForge(octokit, repository, this.app)
    const memory = memoryStore()
    const mismatches: Mismatch[] = []
    const options: Scene['options'] = {
      repository: mirror,
      forge,
      merging: openMerging(octokit, repository),
      store: memory.store,
      clock: this.clock,
      leaseSeconds: 60,
      checks: green,
      onMismatch: async (mismatch) => void mismatches.push(mismatch),
    }
    const examine: Scene['examine'] = async (change = {}) => {
      const snapshot = await forge.readSnapshot(pullNumber(pull.number))
      if (snapshot === null) throw new Error('no pull request')
      await mirror.fetch('main', snapshot.pull)
      const merge = await mirror.merge(snapshot.base, snapshot.head, 'Merge pull request 1: Alpha\n\nHead\n')
      if (merge.kind !== 'clean') throw new Error(merge.kind)
      const { base, head } = snapshot
      const landing = { repository, pull: snapshot.pull, baseRef: 'main', base, head, config: 'c' }
      const { commit, tree } = merge
      return { examined: { snapshot }, permit: mint({ ...landing, commit, tree, ...change }) }
    }
    const inside = (...args: string[]) => git(repo.path, undefined, ...args)
    return {
      ...memory,
      github,
      full,
      pull,
      mirror,
      clock: this.clock,
      mismatches,
      options,
      rules: (rules) => void github.addRules(full, rules),
      examine,
      land: async (method, { rules, needsGitHubsTree, ...more } = {}) => {
        const { examined, permit } = await examine()
        const plan = { method, ...(needsGitHubsTree !== undefined && { needsGitHubsTree }) }
        return landPull(examined, permit, {
          ...options,
          plan: async () => ({ plan, ...(rules && { rules }) }),
          ...more,
        })
      },
      tip: () => commitSha(repo.known.get('refs/heads/main') ?? ''),
      parentsOf: async (commit) => (await inside('rev-parse', `${commit}^@`)).split('\n').filter(Boolean),
      treeOf: (commit) => inside('rev-parse', `${commit}^{tree}`),
      otherBranches: () =>
        [...repo.known.keys()].filter((ref) => !/^refs\/heads\/(?:main|alpha.*)$/.test(ref)),
      close: () => mirror.close(),
    }
  }

  async stop(): Promise<void> {
    await this.it.stop()
  }
}
