// A repository on the mock GitHub with one pull request whose head is behind its base, and what a merge needs: the
// mirror, the forge, and a permit.
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { toCommitSha, type CommitSha } from '../../src/pull-request/ids.ts'
import type { BranchRules } from '../../src/policy/branch-rules.ts'
import type { MergeStrategy } from '../../src/policy/merge-strategy.ts'
import type { GitHubApp } from '../../src/adapters/github/github-app.ts'
import type { MergeOptions, MergeOutcome } from '../../src/merge/merge-types.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { MockGitHub, MockGitHubOptions } from '../../sandbox/github/github.ts'
import type { BranchRule } from '../../sandbox/github/branch-rules/rule-types.ts'
import type { MockPull } from '../../sandbox/github/github-data.ts'
import { startGitHubFixture, runGit, type GitHubFixture } from '../sandbox/github/github-fixture.ts'
import {
  createPassingCheckRuns,
  createMergeTestHarness,
  mergePull,
  type MergeTestHarness,
} from './merge-harness.ts'
import { createTestGitHubApp } from '../jobs/job-context.ts'

/** The names of the checks that the branches in these tests require. */
export const botCheckNames = ['catalog-bot / ownership', 'catalog-bot / validation']

export const passingCheckRuns = createPassingCheckRuns(botCheckNames)

export const directPushStrategy: MergeStrategy = { kind: 'push', checksFirst: false, signed: false }

export interface MergeScenario extends MergeTestHarness {
  readonly github: MockGitHub
  readonly full: string
  readonly pull: MockPull
  readonly clock: Clock
  setRules(rules: readonly BranchRule[]): void
  merge(
    method: MergeStrategy,
    more?: Partial<MergeOptions> & { readonly rules?: BranchRules; readonly needsGitHubsTree?: boolean },
  ): Promise<MergeOutcome>
  tip(): CommitSha
  parentsOf(commit: string): Promise<string[]>
  treeOf(commit: string): Promise<string>
  /** Branches other than `main` and those of the pull requests. */
  otherBranches(): string[]
  close(): Promise<void>
}

export interface MergeScenarioOptions {
  /** Whether the base moves after the pull request is opened. Defaults to true. */
  readonly behind?: boolean
  readonly commits?: number
}

/** One mock GitHub for the tests of a file, with a repository for each scenario. */
export class MergeFixture {
  readonly githubFixture: GitHubFixture
  readonly app: GitHubApp
  /** `sleep` advances this clock and returns immediately. */
  readonly clock: Clock
  #count = 0

  private constructor(it: GitHubFixture, app: GitHubApp, clock: Clock) {
    this.githubFixture = it
    this.app = app
    this.clock = clock
  }

  static async open(options: Partial<MockGitHubOptions> = {}): Promise<MergeFixture> {
    const times = { now: Date.now() }
    const clock = { now: () => times.now }
    const it = await startGitHubFixture({ validateTraffic: true, clock, ...options })
    const sleep = async (milliseconds: number) => void (times.now += milliseconds)
    const app = createTestGitHubApp(it, { ...clock, sleep })
    return new MergeFixture(it, app, { now: clock.now, sleep })
  }

  async openScenario({ behind = true, commits = 1 }: MergeScenarioOptions = {}): Promise<MergeScenario> {
    const { github, installation } = this.githubFixture
    const name = `landing-${(this.#count += 1)}`
    const full = `catalogs/${name}`
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
    const tools = await createMergeTestHarness({
      github,
      app: this.app,
      installation: installation.id,
      directory: await mkdtemp(join(this.githubFixture.directory, 'mirror-')),
      pull,
      clock: this.clock,
      checks: passingCheckRuns,
    })
    const { mirror, options, evaluate } = tools
    const inside = (...args: string[]) => runGit(repo.path, undefined, ...args)
    return {
      ...tools,
      github,
      full,
      pull,
      clock: this.clock,
      setRules: (rules) => void github.addRules(full, rules),
      merge: async (method, { rules, needsGitHubsTree, ...more } = {}) => {
        const { evaluated, permit } = await evaluate()
        const plan = { method, ...(needsGitHubsTree !== undefined && { needsGitHubsTree }) }
        return mergePull(evaluated, permit, {
          ...options,
          plan: async () => ({ plan, ...(rules && { rules }) }),
          ...more,
        })
      },
      tip: () => toCommitSha(repo.knownRefs.get('refs/heads/main') ?? ''),
      parentsOf: async (commit) => (await inside('rev-parse', `${commit}^@`)).split('\n').filter(Boolean),
      treeOf: (commit) => inside('rev-parse', `${commit}^{tree}`),
      otherBranches: () =>
        [...repo.knownRefs.keys()].filter((ref) => !/^refs\/heads\/(?:main|alpha.*)$/.test(ref)),
      close: () => mirror.close(),
    }
  }

  async stop(): Promise<void> {
    await this.githubFixture.stop()
  }
}
