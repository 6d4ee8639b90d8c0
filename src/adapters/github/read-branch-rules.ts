// Reads a branch's requirements from GitHub: rulesets, classic protection, the repository's merge settings. Settings that
// cannot be read or do not exist on an older server are reported as text. Only temporary failures reject.
import { z } from 'zod'
import type { RepositoryName } from '../../pull-request/snapshot.ts'
import type { BranchRules, MergeMethod } from '../../policy/branch-rules.ts'
import { temporaryBranchPrefix } from '../../policy/merge-strategy.ts'
import {
  parseBranchRule,
  doesRuleBlockStagingBranch,
  combineBranchRequirements,
  type BranchRuleBypassMode,
  type BranchRequirements,
  type AppliedBranchRule,
  branchResponseSchema,
  parseBranchProtection,
  parseRefUpdateRule,
  parseRequiredChecks,
  refUpdateRuleQuery,
} from './parse-branch-rules.ts'
import { toForgeError, type ForgeError } from './forge-error.ts'
import type { Octokit } from './github-app.ts'

/** The part of an Octokit that reads rules: the App's, or one with another token. */
export type BranchRulesClient = Pick<Octokit, 'request' | 'graphql'>

export interface ReadBranchRulesOptions {
  /** Our App's id. */
  readonly app: number
  /** Whether the token is the App's own. With another's, GitHub's answers about "you" are not about the App. */
  readonly isApp: boolean
}

/** Rejects with a ForgeError if the repository or branch does not exist, or GitHub is unreachable. */
export async function readBranchRules(
  octokit: BranchRulesClient,
  repository: RepositoryName,
  branch: string,
  options: ReadBranchRulesOptions,
): Promise<BranchRules> {
  const reading = new BranchRulesReader(octokit, repository, options)
  const settings = await reading.readSettings()
  const rules = await reading.readRules(branch)
  // GitHub also answers for branches that do not exist.
  const temporary = await reading.readRules(`${temporaryBranchPrefix}0`)
  const parts = [
    ...rules.flatMap((rule) => parseBranchRule(rule) ?? []),
    ...(await reading.readProtection(branch, rules)),
  ]
  const { allowedMethods, ...requirements } = combineBranchRequirements(parts)
  return {
    branch,
    owner: settings.owner,
    ...requirements,
    mergeMethods: settings.methods.filter((method) => allowedMethods?.includes(method) ?? true),
    temporaryBranch: [
      ...new Set(temporary.filter(doesRuleBlockStagingBranch).map(({ type }) => type)),
    ].sort(),
    unread: [...new Set(reading.unread)],
  }
}

const branchRulesSchema = z.array(
  z.object({ type: z.string(), parameters: z.unknown().optional(), ruleset_id: z.number().optional() }),
)

const rulesetSchema = z.object({
  name: z.string(),
  current_user_can_bypass: z.enum(['always', 'exempt', 'pull_requests_only', 'never']).optional(),
  bypass_actors: z
    .array(
      z.object({
        actor_id: z.number().nullable().optional(),
        actor_type: z.string(),
        bypass_mode: z.enum(['always', 'pull_request', 'exempt']).default('always'),
      }),
    )
    .optional(),
})

const repositorySchema = z.object({
  owner: z.object({ type: z.string() }),
  allow_merge_commit: z.boolean().optional(),
  allow_squash_merge: z.boolean().optional(),
  allow_rebase_merge: z.boolean().optional(),
})

interface RestResponse {
  readonly data: unknown
  readonly headers: { readonly link?: string | undefined }
}

class BranchRulesReader {
  readonly unread: string[] = []
  readonly #octokit: BranchRulesClient
  readonly #target: { readonly owner: string; readonly repo: string }
  readonly #options: ReadBranchRulesOptions
  readonly #bypasses = new Map<number, Promise<BranchRuleBypassMode>>()

  constructor(octokit: BranchRulesClient, { owner, name }: RepositoryName, options: ReadBranchRulesOptions) {
    this.#octokit = octokit
    this.#target = { owner, repo: name }
    this.#options = options
  }

  async readSettings(): Promise<{ owner: BranchRules['owner']; methods: readonly MergeMethod[] }> {
    const answer = repositorySchema.parse(
      await this.#get('read the repository settings', 'GET /repos/{owner}/{repo}', {}),
    )
    const allowed: Readonly<Record<MergeMethod, boolean | undefined>> = {
      merge: answer.allow_merge_commit,
      squash: answer.allow_squash_merge,
      rebase: answer.allow_rebase_merge,
    }
    if (Object.values(allowed).includes(undefined))
      this.unread.push('GitHub does not report which merge methods the repository allows')
    const methods = (['merge', 'squash', 'rebase'] as const).filter((method) => allowed[method] !== false)
    return { owner: answer.owner.type === 'User' ? 'user' : 'organization', methods }
  }

  /** All active ruleset rules for a branch, existing or not, with the App's bypass permission for each. */
  async readRules(branch: string): Promise<readonly AppliedBranchRule[]> {
    const all: AppliedBranchRule[] = []
    for (let page = 1; ; page++) {
      const answer = await this.#optional(
        'the branch rulesets',
        'GET /repos/{owner}/{repo}/rules/branches/{branch}',
        { branch, per_page: 100, page },
      )
      if (answer === undefined) return all
      const rules = branchRulesSchema.safeParse(answer.data).data
      if (rules === undefined) {
        this.unread.push('the branch rulesets are not in the format that GitHub documents')
        return all
      }
      for (const { type, parameters, ruleset_id } of rules)
        all.push({ type, parameters, bypass: await this.#bypassOf(ruleset_id) })
      if (answer.headers.link?.includes('rel="next"') !== true) return all
    }
  }

  #bypassOf(id: number | undefined): Promise<BranchRuleBypassMode> {
    if (id === undefined) return Promise.resolve('never')
    const known = this.#bypasses.get(id) ?? this.#readBypass(id)
    this.#bypasses.set(id, known)
    return known
  }

  /** A ruleset that cannot be read is treated as binding. */
  async #readBypass(id: number): Promise<BranchRuleBypassMode> {
    const description = `the App's bypass permission for ruleset ${id}`
    const answer = await this.#optional(description, 'GET /repos/{owner}/{repo}/rulesets/{ruleset_id}', {
      ruleset_id: id,
    })
    if (answer === undefined) return 'never'
    const read = rulesetSchema.safeParse(answer.data).data
    const { app, isApp } = this.#options
    if (isApp && read?.current_user_can_bypass !== undefined) return read.current_user_can_bypass
    if (!isApp && read?.bypass_actors !== undefined) {
      const modes = read.bypass_actors
        .filter((actor) => actor.actor_type === 'Integration' && actor.actor_id === app)
        .map(({ bypass_mode }) => (bypass_mode === 'pull_request' ? 'pull_requests_only' : bypass_mode))
      return (
        (['exempt', 'always', 'pull_requests_only'] as const).find((mode) => modes.includes(mode)) ?? 'never'
      )
    }
    this.unread.push(`GitHub does not report ${description}`)
    return 'never'
  }

  /** The requirements of classic protection, as far as they are visible to us. */
  async readProtection(
    branch: string,
    rules: readonly AppliedBranchRule[],
  ): Promise<readonly Partial<BranchRequirements>[]> {
    const shown = branchResponseSchema.parse(
      await this.#get(`read the branch ${branch}`, 'GET /repos/{owner}/{repo}/branches/{branch}', { branch }),
    )
    const isNone = shown.protected === false || shown.protection?.enabled === false
    if (isNone) return []
    const status = shown.protection?.required_status_checks
    const checks: Partial<BranchRequirements>[] =
      status === undefined || status.enforcement_level === 'off'
        ? []
        : [{ checks: { required: parseRequiredChecks(status), strict: false } }]
    const answer = await this.#protection(branch)
    if (answer === 'none') return checks
    const requirements = answer === 'unknown' ? undefined : parseBranchProtection(answer, this.#options.app)
    if (requirements !== undefined) return [...checks, requirements]
    const bound = await this.#updateRule(branch, rules)
    this.unread.push(
      `the classic branch protection cannot be read because ${
        this.#options.isApp ? 'the App' : 'the token'
      } lacks the "administration: read" permission; this protection might lock the branch, require branches to be up to date, or dismiss approvals`,
    )
    return [...checks, ...bound]
  }

  async #protection(branch: string): Promise<unknown> {
    try {
      const { data } = await this.#octokit.request('GET /repos/{owner}/{repo}/branches/{branch}/protection', {
        ...this.#target,
        branch,
      })
      return data
    } catch (error) {
      // GitHub reports a missing protection to those who may read it, and "not found" to everyone else.
      if (isBranchNotProtectedError(error)) return 'none'
      if (isPermanentForgeError(toForgeError(error, 'read the branch protection'))) return 'unknown'
      throw this.#failure(error, `read the branch protection of ${branch}`)
    }
  }

  async #updateRule(
    branch: string,
    rules: readonly AppliedBranchRule[],
  ): Promise<readonly Partial<BranchRequirements>[]> {
    if (!this.#options.isApp) return []
    try {
      const answer = await this.#octokit.graphql(refUpdateRuleQuery, {
        ...this.#target,
        ref: `refs/heads/${branch}`,
      })
      const requirements = parseRefUpdateRule(answer)
      if (requirements === undefined) return []
      // Rulesets are more exact: one that exempts us for pull requests only blocks pushes.
      const isKnown = rules.some(
        ({ type, bypass }) => type === 'update' && bypass !== 'always' && bypass !== 'exempt',
      )
      return [{ ...requirements, closedToUs: requirements.closedToUs === true && !isKnown }]
    } catch (error) {
      const failure = toForgeError(error, "read the branch's update rule")
      // GraphQL answers 200 even to unknown fields, so a missing status is no reason to fail.
      if (failure.code === 'rate-limited' || failure.code === 'unauthorized') throw failure
      return []
    }
  }

  async #get(doing: string, route: string, parameters: Record<string, unknown>): Promise<unknown> {
    try {
      return (await this.#octokit.request(route, { ...this.#target, ...parameters })).data as unknown
    } catch (error) {
      throw this.#failure(error, doing)
    }
  }

  /** Undefined, with a note in `unread`, if GitHub does not show it. */
  async #optional(
    what: string,
    route: string,
    parameters: Record<string, unknown>,
  ): Promise<RestResponse | undefined> {
    try {
      return await this.#octokit.request(route, { ...this.#target, ...parameters })
    } catch (error) {
      if (isBranchNotProtectedError(error)) return undefined
      const failure = this.#failure(error, `read ${what}`)
      if (!isPermanentForgeError(failure)) throw failure
      const why =
        failure.code === 'not-found'
          ? 'this GitHub server does not support or expose this information'
          : 'GitHub denied access'
      this.unread.push(`${what} cannot be read (${why})`)
      return undefined
    }
  }

  #failure(error: unknown, doing: string): ForgeError {
    return toForgeError(error, `${doing} of ${this.#target.owner}/${this.#target.repo}`)
  }
}

/** A permanent rejection. */
const isPermanentForgeError = ({ code }: ForgeError): boolean =>
  code === 'not-found' || code === 'forbidden' || code === 'rejected'

/** No protection exists, possibly because the owner's plan does not support it for private repositories. */
const isBranchNotProtectedError = (error: unknown): boolean =>
  error instanceof Error && /^Branch not protected|^Upgrade to GitHub /.test(error.message)
