// A repository on the sandbox's GitHub with one pull request whose head is behind its base, and all that lands it: the
// mirror, the forge, a permit.
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import pino from 'pino'
import { commitSha, type CommitSha } from '../../src/change/ids.ts'
import type { BranchRules } from '../../src/gate/branch-rules.ts'
import type { LandingMethod } from '../../src/gate/landing-method.ts'
import { openGitHubApp, type GitHubApp } from '../../src/github/github-app.ts'
import type { LandOptions, LandingOutcome } from '../../src/landing/landing-options.ts'
import { landPull } from '../../src/landing/land-pull.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { GitHub, GitHubOptions } from '../../sandbox/github/github.ts'
import type { Rule } from '../../sandbox/github/branch-rules/rule-shapes.ts'
import type { Pull } from '../../sandbox/github/world.ts'
import { furnish, git, privateKey, secret, type Furnished } from '../sandbox/github/sample-world.ts'
import { greenChecks, openLandingTools, type LandingTools } from './landing-tools.ts'

/** The names of the checks that a branch of these tests requires. */
export const ownChecks = ['catalog-bot / ownership', 'catalog-bot / validation']

export const green = greenChecks(ownChecks)

export const plainPush: LandingMethod = { kind: 'push', checksFirst: false, signed: false }

export interface Scene extends LandingTools {
  readonly github: GitHub
  readonly full: string
  readonly pull: Pull
  readonly clock: Clock
  rules(rules: readonly Rule[]): void
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
    const tools = await openLandingTools({
      github,
      app: this.app,
      installation: installation.id,
      directory: await mkdtemp(join(this.it.directory, 'mirror-')),
      pull,
      clock: this.clock,
      checks: green,
    })
    const { mirror, options, examine } = tools
    const inside = (...args: string[]) => git(repo.path, undefined, ...args)
    return {
      ...tools,
      github,
      full,
      pull,
      clock: this.clock,
      rules: (rules) => void github.addRules(full, rules),
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
