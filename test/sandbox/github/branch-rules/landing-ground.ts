// A ground to try landings on: a repository a test, with a pull request whose head is behind its base, and the merge of
// both made by hand in a clone, as a bot makes it.
import { mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { GitHubOptions } from '../../../../sandbox/github/github.ts'
import type { OpenPull } from '../../../../sandbox/github/people.ts'
import type { Rule } from '../../../../sandbox/github/branch-rules/rule-shapes.ts'
import type { Pull } from '../../../../sandbox/github/world.ts'
import { furnish, git, runGitIn } from '../sample-world.ts'
import type { Furnished } from '../sample-world.ts'

/** What a push ended with: what git printed, and whether the remote took it. */
export interface Pushed {
  readonly accepted: boolean
  /** The lines behind `remote: `. */
  readonly remote: string[]
  /** What stands in brackets behind `! [remote rejected]`. */
  readonly reason: string | undefined
}

export interface Landing {
  /** `owner/name`, and both for Octokit. */
  readonly full: string
  readonly name: { readonly owner: string; readonly repo: string }
  readonly folder: string
  readonly pull: Pull
  /** The base's tip when the merge was made, the pull request's head, and the merge of both. */
  readonly B: string
  readonly H: string
  readonly M: string
}

export interface LandingOptions extends Partial<OpenPull> {
  readonly owner?: string
  /** Whether the base moves on after the pull request was opened (it does). */
  readonly behind?: boolean
  readonly files?: Record<string, string>
}

export class Ground {
  readonly it: Furnished
  #count = 0

  constructor(it: Furnished) {
    this.it = it
  }

  static async furnish(options: Partial<GitHubOptions> = {}): Promise<Ground> {
    const it = await furnish({ validateTraffic: true, ...options })
    for (const login of ['carol', 'dave']) it.github.createUser(login)
    return new Ground(it)
  }

  /** A repository of its own, a pull request and its merge. Bob and Carol may write, Alice opens. */
  async landing({ owner = 'catalogs', behind = true, ...more }: LandingOptions = {}): Promise<Landing> {
    const { github, installation } = this.it
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
    const folder = await mkdtemp(join(this.it.directory, 'clone-'))
    await git(folder, await this.it.token(), 'clone', '-q', `${github.url}/${full}.git`, '.')
    const made = await this.merged({ folder, pull })
    return { full, name: { owner, repo: short }, folder, pull, ...made }
  }

  /** Fetches base and head anew and merges them; `more` is written into the merge beside what git made. */
  async merged(
    { folder, pull }: Pick<Landing, 'folder' | 'pull'>,
    more: Record<string, string> = {},
  ): Promise<Pick<Landing, 'B' | 'H' | 'M'>> {
    const token = await this.it.token()
    await git(folder, token, 'fetch', '-q', 'origin', 'main', `refs/pull/${pull.number}/head`)
    const [B = '', H = ''] = (await git(folder, token, 'rev-parse', 'origin/main', pull.headSha)).split('\n')
    await git(folder, token, 'checkout', '-q', '--detach', B)
    await git(folder, token, 'merge', '-q', '--no-ff', '--no-commit', H)
    for (const [path, content] of Object.entries(more)) {
      await writeFile(join(folder, path), content)
      await git(folder, token, 'add', path)
    }
    await git(folder, token, 'commit', '-qm', `Merge #${pull.number}`)
    return { B, H, M: await git(folder, token, 'rev-parse', 'HEAD') }
  }

  /** Pushes as the app, or with somebody's token, and says how it ended. */
  async push(
    { folder, full }: Pick<Landing, 'folder' | 'full'>,
    refs: string | readonly string[],
    token?: string,
  ): Promise<Pushed> {
    const auth = btoa(`x-access-token:${token ?? (await this.it.token())}`)
    const header = `http.extraHeader=Authorization: Basic ${auth}`
    const url = `${this.it.github.url}/${full}.git`
    const args = ['-c', header, 'push', '--porcelain', url, ...(typeof refs === 'string' ? [refs] : refs)]
    const env = { PATH: process.env['PATH'] ?? '', HOME: folder, GIT_CONFIG_NOSYSTEM: '1', LC_ALL: 'C' }
    const { code, stdout, stderr } = await runGitIn(folder, env, args)
    const remote = stderr
      .split('\n')
      .filter((line) => line.startsWith('remote:'))
      .map((line) => line.slice('remote:'.length).trim())
    const [, reason] = /\[remote rejected\] \((.*)\)/.exec(stdout.toString()) ?? []
    return { accepted: code === 0, remote, reason }
  }

  /** Pushes the merge to main. */
  async pushMerge(landing: Landing, token?: string): Promise<Pushed> {
    return await this.push(landing, `${landing.M}:refs/heads/main`, token)
  }

  /** Puts a commit on a temporary branch, so that checks can be posted on it. */
  async stage(landing: Landing, sha = landing.M): Promise<Pushed> {
    return await this.push(landing, `${sha}:refs/heads/catalog-bot/tmp-${sha.slice(0, 7)}`)
  }

  async check(
    { name }: Pick<Landing, 'name'>,
    sha: string,
    check: string,
    conclusion: 'success' | 'failure' | 'neutral' | null = 'success',
  ): Promise<void> {
    await this.it.octokit.rest.checks.create({
      ...name,
      name: check,
      head_sha: sha,
      ...(conclusion === null ? { status: 'in_progress' as const } : { conclusion }),
    })
  }

  /** Lets the app merge by REST: the commit that landed, or what GitHub said instead. */
  async mergeByApi(
    { name, pull }: Pick<Landing, 'name' | 'pull'>,
    merge_method: 'merge' | 'squash' | 'rebase' = 'merge',
    more: { readonly sha?: string; readonly token?: string } = {},
  ): Promise<{ readonly sha: string } | { readonly status: number; readonly message: string }> {
    const octokit = more.token === undefined ? this.it.octokit : this.it.client(more.token)
    const sha = more.sha ?? pull.headSha
    try {
      const { data } = await octokit.rest.pulls.merge({
        ...name,
        pull_number: pull.number,
        merge_method,
        sha,
      })
      return { sha: data.sha }
    } catch (error) {
      return said(error)
    }
  }

  async tip({ name }: Pick<Landing, 'name'>): Promise<string> {
    return (await this.it.octokit.rest.git.getRef({ ...name, ref: 'heads/main' })).data.object.sha
  }

  /** An octokit's answer, or GitHub's refusal of it. */
  async ask<T>(
    asked: Promise<{ data: T }>,
  ): Promise<T | { readonly status: number; readonly message: string }> {
    try {
      return (await asked).data
    } catch (error) {
      return said(error)
    }
  }
}

export function said(error: unknown): { readonly status: number; readonly message: string } {
  const { status, response } = error as { status: number; response: { data: { message: string } } }
  return { status, message: response.data.message }
}

/** What a refused push prints under a ruleset, and under classic protection. */
export function refusedByRuleset(
  full: string,
  url: string,
  says: readonly string[],
  branch = 'main',
): Pushed {
  const remote = [
    `error: GH013: Repository rule violations found for refs/heads/${branch}.`,
    `Review all repository rules at ${url}/${full}/rules?ref=refs%2Fheads%2F${encodeURIComponent(branch)}`,
    '',
    ...says.flatMap((it) => [`- ${it}`, '']),
  ]
  return { accepted: false, remote, reason: 'push declined due to repository rule violations' }
}

export function refusedByProtection(says: readonly string[], branch = 'main'): Pushed {
  const remote = [
    `error: GH006: Protected branch update failed for refs/heads/${branch}.`,
    '',
    ...says.flatMap((it) => [`- ${it}`, '']).slice(0, -1),
  ]
  return { accepted: false, remote, reason: 'protected branch hook declined' }
}

/** REST's sentence for violations of rulesets. */
export const ruleMessage = (...says: readonly string[]): string =>
  `Repository rule violations found\n\n${says.map((it) => `${it}\n\n`).join('')}`

export const accepted = { accepted: true, reason: undefined }

/** A pull request rule, as an administrator would set it. */
export const pullRequestRule = (more: Record<string, unknown> = {}): Rule => ({
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

export const checksRule = (
  checks: readonly { readonly context: string; readonly integration_id?: number }[],
  more: Record<string, unknown> = {},
): Rule => ({
  type: 'required_status_checks',
  parameters: { strict_required_status_checks_policy: false, required_status_checks: checks, ...more },
})

export const queueRule = (more: Record<string, unknown> = {}): Rule => ({
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
