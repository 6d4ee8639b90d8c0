// A fixture for merge rules: one repository per test, with a pull request that is behind its base, and a merge commit
// created in a clone, as a bot creates it.
import { afterAll, afterEach, expect } from '@jest/globals'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { MockGitHubOptions } from '../../../../sandbox/github/github.ts'
import type { CreatePullOptions } from '../../../../sandbox/github/user-actions.ts'
import type { BranchRule } from '../../../../sandbox/github/branch-rules/rule-types.ts'
import type { MockPull } from '../../../../sandbox/github/github-data.ts'
import { startGitHubFixture, runGit, runGitInDirectory, type GitHubFixture } from '../github-fixture.ts'

/** The result of a push: the output of Git, and whether the remote accepted the push. */
export interface PushResult {
  readonly accepted: boolean
  /** The text after `remote: `, by line. */
  readonly remote: string[]
  /** The text in parentheses after `! [remote rejected]`. */
  readonly reason: string | undefined
}

export interface BranchRulesScenario {
  /** `owner/name`, and the same as parameters for Octokit. */
  readonly full: string
  readonly name: { readonly owner: string; readonly repo: string }
  readonly folder: string
  readonly pull: MockPull
  /** The base's tip when the merge was created, the pull request's head, and the merge of both. */
  readonly baseSha: string
  readonly headSha: string
  readonly mergeSha: string
}

export interface BranchRulesScenarioOptions extends Partial<CreatePullOptions> {
  readonly owner?: string
  /** Whether the base moves after the pull request is opened. Default: true. */
  readonly behind?: boolean
  readonly files?: Record<string, string>
}

export class MergeRulesFixture {
  readonly githubFixture: GitHubFixture
  #count = 0

  constructor(it: GitHubFixture) {
    this.githubFixture = it
  }

  /** For the tests of one file, at its top level. After each of them, the traffic must have been valid. */
  static async furnish(options: Partial<MockGitHubOptions> = {}): Promise<MergeRulesFixture> {
    const it = await startGitHubFixture({ validateTraffic: true, ...options })
    afterAll(() => it.stop())
    afterEach(() => {
      expect(it.github.violations.splice(0)).toEqual([])
    })
    for (const login of ['carol', 'dave']) it.github.createUser(login)
    return new MergeRulesFixture(it)
  }

  /** Creates a new repository, a pull request by Alice, and its merge. Bob and Carol have write access. */
  readonly openMergeCase = async ({
    owner = 'catalogs',
    behind = true,
    ...more
  }: BranchRulesScenarioOptions = {}): Promise<BranchRulesScenario> => {
    const { github, installation } = this.githubFixture
    const short = `landing-${(this.#count += 1)}`
    const full = `${owner}/${short}`
    await github.createRepository(owner, short, { files: { 'README.md': '# x\n', ...more.files } })
    github.changeInstallation(installation, [full])
    for (const login of ['bob', 'carol']) github.setRole(full, login, 'write')
    const pull = await github.openPull({
      repository: full,
      author: 'alice',
      title: 'Alpha',
      changes: { 'alpha.yaml': 'name: alpha\n' },
      ...more,
    })
    if (behind) await github.pushToBase(full, { 'meanwhile.txt': 'x\n' })
    const folder = await mkdtemp(join(this.githubFixture.directory, 'clone-'))
    await runGit(folder, undefined, 'init', '-q', '--template=')
    // Fetching would take most of the time of a test.
    const alternates = join(folder, '.git/objects/info/alternates')
    await writeFile(alternates, `${join(pull.repo.path, 'objects')}\n`)
    const made = await this.createMerge({ folder, pull })
    return { full, name: { owner, repo: short }, folder, pull, ...made }
  }

  readonly openMergeCaseWithRules = async (
    rules: readonly BranchRule[],
    more?: BranchRulesScenarioOptions,
  ) => {
    const it = await this.openMergeCase(more)
    if (rules.length > 0) this.githubFixture.github.addRules(it.full, rules)
    return it
  }

  /** Merges the current base and head. The files in `more` are added to the merge commit. */
  readonly createMerge = async (
    { folder, pull }: Pick<BranchRulesScenario, 'folder' | 'pull'>,
    more: Record<string, string> = {},
  ): Promise<Pick<BranchRulesScenario, 'baseSha' | 'headSha' | 'mergeSha'>> => {
    const git = (...args: string[]) => runGit(folder, undefined, ...args)
    const { headSha, repo } = pull
    const baseSha = repo.knownRefs.get('refs/heads/main') ?? ''
    let tree = await git('merge-tree', '--write-tree', baseSha, headSha)
    if (Object.keys(more).length > 0) {
      await git('read-tree', tree)
      for (const [path, content] of Object.entries(more)) await writeFile(join(folder, path), content)
      await git('add', ...Object.keys(more))
      tree = await git('write-tree')
    }
    const parents = ['-p', baseSha, '-p', headSha]
    const mergeSha = await git('commit-tree', ...parents, '-m', `Merge #${pull.number}`, tree)
    return { baseSha, headSha, mergeSha }
  }

  /** Pushes as the app, or with `token`, and returns the result. */
  readonly push = async (
    { folder, full }: Pick<BranchRulesScenario, 'folder' | 'full'>,
    refs: string | readonly string[],
    token?: string,
  ): Promise<PushResult> => {
    const auth = btoa(`x-access-token:${token ?? (await this.githubFixture.token())}`)
    const header = `http.extraHeader=Authorization: Basic ${auth}`
    const url = `${this.githubFixture.github.url}/${full}.git`
    const args = ['-c', header, 'push', '--porcelain', url, ...(typeof refs === 'string' ? [refs] : refs)]
    const env = { PATH: process.env['PATH'] ?? '', HOME: folder, GIT_CONFIG_NOSYSTEM: '1', LC_ALL: 'C' }
    const { code, stdout, stderr } = await runGitInDirectory(folder, env, args)
    const remote = stderr
      .split('\n')
      .filter((line) => line.startsWith('remote:'))
      .map((line) => line.slice('remote:'.length).trim())
    const [, reason] = /\[remote rejected\] \((.*)\)/.exec(stdout.toString()) ?? []
    return { accepted: code === 0, remote, reason }
  }

  /** Pushes the merge to main. */
  readonly pushMerge = (mergeCase: BranchRulesScenario, token?: string) =>
    this.push(mergeCase, `${mergeCase.mergeSha}:refs/heads/main`, token)

  readonly createExpectedPushRejection = ({ full }: BranchRulesScenario, ...messages: string[]) =>
    createRulesetRejection(full, this.githubFixture.github.url, messages)

  readonly expectPushRejected = async (it: BranchRulesScenario, ...messages: string[]): Promise<void> => {
    expect(await this.pushMerge(it)).toEqual(this.createExpectedPushRejection(it, ...messages))
  }

  /** The merge commit is the tip of the base, and the push marks the pull request as merged. */
  readonly expectPushMerges = async (it: BranchRulesScenario): Promise<void> => {
    expect(await this.pushMerge(it)).toMatchObject(acceptedPushResult)
    await this.expectPullMerged(it)
  }

  readonly expectPullMerged = async (it: BranchRulesScenario): Promise<void> => {
    expect(await this.readTip(it)).toBe(it.mergeSha)
    expect(it.pull).toMatchObject({ state: 'closed', merged: { sha: it.mergeSha } })
  }

  /** Pushes a commit to a temporary branch, so that checks can be posted on it. */
  readonly stage = (mergeCase: BranchRulesScenario, sha = mergeCase.mergeSha) =>
    this.push(mergeCase, `${sha}:refs/heads/catalog-bot/tmp-${sha.slice(0, 7)}`)

  readonly setCheck = async (
    { name }: Pick<BranchRulesScenario, 'name'>,
    sha: string,
    check: string,
    conclusion: 'success' | 'failure' | 'neutral' | null = 'success',
  ): Promise<void> => {
    await this.githubFixture.octokit.rest.checks.create({
      ...name,
      name: check,
      head_sha: sha,
      ...(conclusion === null ? { status: 'in_progress' as const } : { conclusion }),
    })
  }

  readonly setCiStatus = async (
    { full }: BranchRulesScenario,
    sha: string,
    state: 'success' | 'failure' = 'success',
  ): Promise<void> => {
    await this.githubFixture.github.setStatus(full, sha, 'bob', { context: 'ci', state })
  }

  readonly createAppBypass = <const Mode extends string>(bypass_mode: Mode) =>
    ({ actor_type: 'Integration', actor_id: this.githubFixture.app.id, bypass_mode }) as const

  /** Merges as the app through REST. Returns the merge commit, or the error from GitHub. */
  readonly mergeByApi = async (
    { name, pull }: Pick<BranchRulesScenario, 'name' | 'pull'>,
    merge_method: 'merge' | 'squash' | 'rebase' = 'merge',
    more: { readonly sha?: string; readonly token?: string } = {},
  ): Promise<{ readonly sha: string } | { readonly status: number; readonly message: string }> => {
    const octokit =
      more.token === undefined ? this.githubFixture.octokit : this.githubFixture.client(more.token)
    const sha = more.sha ?? pull.headSha
    const asked = { ...name, pull_number: pull.number, merge_method, sha }
    const answer = await this.captureError(octokit.rest.pulls.merge(asked))
    return 'sha' in answer ? { sha: answer.sha } : answer
  }

  readonly expectApiRejection = async (
    it: BranchRulesScenario,
    violation: string,
    method?: 'merge' | 'squash' | 'rebase',
  ): Promise<void> => {
    const message = formatRuleViolations(violation)
    expect(await this.mergeByApi(it, method)).toEqual({ status: 405, message })
  }

  readonly readTip = async ({ name }: Pick<BranchRulesScenario, 'name'>): Promise<string> => {
    return (await this.githubFixture.octokit.rest.git.getRef({ ...name, ref: 'heads/main' })).data.object.sha
  }

  /** Returns the data of an Octokit response, or the error from GitHub. */
  readonly captureError = async <T>(
    asked: Promise<{ data: T }>,
  ): Promise<T | { readonly status: number; readonly message: string }> => {
    try {
      return (await asked).data
    } catch (error) {
      return extractErrorStatusAndMessage(error)
    }
  }
}

export function extractErrorStatusAndMessage(error: unknown): {
  readonly status: number
  readonly message: string
} {
  const { status, response } = error as { status: number; response: { data: { message: string } } }
  return { status, message: response.data.message }
}

/** The result of a push that a ruleset rejects. */
export function createRulesetRejection(
  full: string,
  url: string,
  says: readonly string[],
  branch = 'main',
): PushResult {
  const remote = [
    `error: GH013: Repository rule violations found for refs/heads/${branch}.`,
    `Review all repository rules at ${url}/${full}/rules?ref=refs%2Fheads%2F${encodeURIComponent(branch)}`,
    '',
    ...says.flatMap((it) => [`- ${it}`, '']),
  ]
  return { accepted: false, remote, reason: 'push declined due to repository rule violations' }
}

export function createBranchProtectionRejection(says: readonly string[], branch = 'main'): PushResult {
  const remote = [
    `error: GH006: Protected branch update failed for refs/heads/${branch}.`,
    '',
    ...says.flatMap((it) => [`- ${it}`, '']).slice(0, -1),
  ]
  return { accepted: false, remote, reason: 'protected branch hook declined' }
}

/** The REST error message for ruleset violations. */
export const formatRuleViolations = (...says: readonly string[]): string =>
  `Repository rule violations found\n\n${says.map((it) => `${it}\n\n`).join('')}`

export const acceptedPushResult = { accepted: true, reason: undefined }

/** A pull request rule, as an administrator would set it. */
export const createPullRequestRule = (more: Record<string, unknown> = {}): BranchRule => ({
  type: 'pull_request',
  parameters: {
    required_approving_review_count: 0,
    dismiss_stale_reviews_on_push: false,
    require_code_owner_review: false,
    require_last_push_approval: false,
    required_review_thread_resolution: false,
    ...more,
  },
})

export const createStatusChecksRule = (
  checks: readonly { readonly context: string; readonly integration_id?: number }[],
  more: Record<string, unknown> = {},
): BranchRule => ({
  type: 'required_status_checks',
  parameters: { strict_required_status_checks_policy: false, required_status_checks: checks, ...more },
})

export const createMergeQueueRule = (more: Record<string, unknown> = {}): BranchRule => ({
  type: 'merge_queue',
  parameters: {
    check_response_timeout_minutes: 60,
    grouping_strategy: 'ALLGREEN',
    max_entries_to_build: 5,
    max_entries_to_merge: 5,
    merge_method: 'MERGE',
    min_entries_to_merge: 1,
    min_entries_to_merge_wait_minutes: 5,
    ...more,
  },
})
