// The evaluation of one ref update: every layer that is in force, every rule in it, the exemptions, and the messages.
// It never moves a ref.
import type {
  BranchProtectionActorNames,
  PullRequestRuleParameters,
  BranchRule,
  StatusChecksRuleParameters,
} from './rule-types.ts'
import { collectBranchRuleLayers } from './rule-layers.ts'
import { type NonDeletingRefUpdate, type RefUpdate, type RuleViolation, getBranchName } from './ref-update.ts'
import { checkRequiredChecks } from './required-checks.ts'
import { checkConversationResolution, checkPullRequestRule } from './required-pull.ts'
import { isAncestor, listCommitsNotReachableFrom, readCommitParents } from '../git/git-store.ts'
import { isCallerInBranchProtectionList } from './bypass.ts'
import { readCommit, type ParsedCommit } from '../views/commit-view.ts'
import { getActingAccount } from '../http/route.ts'

/** The commit whose results count. */
const getPullHeadOrPushedSha = ({ merge, now }: NonDeletingRefUpdate): string => merge?.pull.headSha ?? now

const formatNameList = (names: readonly string[]): string =>
  new Intl.ListFormat('en', { type: 'conjunction' }).format(names)

interface RulesetPatternParameters {
  readonly operator: 'starts_with' | 'ends_with' | 'contains' | 'regex'
  readonly pattern: string
  readonly negate?: boolean
  readonly name?: string
}

const phraseByPatternOperator: Readonly<Record<RulesetPatternParameters['operator'], string>> = {
  starts_with: 'start with a matching pattern',
  ends_with: 'end with a matching pattern',
  contains: 'contain a matching pattern',
  regex: 'match a given regex pattern',
}

/** The wording of the settings page, with the pattern. The exact sentence is not documented. */
const formatPatternViolation = (subject: string, pattern: RulesetPatternParameters): string =>
  `${subject} must ${pattern.negate === true ? 'not ' : ''}${phraseByPatternOperator[pattern.operator]}: ${pattern.pattern}`

const satisfiesRulesetPattern = (text: string, pattern: RulesetPatternParameters): boolean =>
  matchesPatternIgnoringNegation(text, pattern) !== (pattern.negate === true)

const createCommitPatternCheck =
  (subject: string, read: (commit: ParsedCommit) => string) =>
  async (move: NonDeletingRefUpdate, pattern: RulesetPatternParameters): Promise<RuleViolation[]> => {
    const commits: string[] = []
    for (const sha of await listAddedCommits(move))
      if (!satisfiesRulesetPattern(read(await readCommit(move.path, sha)), pattern)) commits.push(sha)
    return commits.length === 0 ? [] : [{ message: formatPatternViolation(subject, pattern), commits }]
  }

const checkCommitMessagePattern = createCommitPatternCheck('Commit message', ({ message }) => message)

const checkAuthorEmailPattern = createCommitPatternCheck('Author email', ({ author }) => author.email)

const checkCommitterEmailPattern = createCommitPatternCheck(
  'Committer email',
  ({ committer }) => committer.email,
)

const createRuleViolationList = (message: string): RuleViolation[] => [{ message }]

const getRefTypeLabel = ({ ref }: RefUpdate): string => (ref.startsWith('refs/tags/') ? 'tag' : 'branch')

/** Creating a ref that matches a ruleset's patterns. */
const checkRefCreation = (update: RefUpdate): RuleViolation[] =>
  update.old === undefined
    ? createRuleViolationList('Cannot create ref due to creations being restricted.')
    : []

/** Moving it, by any user and in any way: a merge button is a push, too. */
const checkRefUpdate = ({ old, now }: RefUpdate): RuleViolation[] =>
  old !== undefined && now !== undefined ? createRuleViolationList('Cannot update this protected ref.') : []

const checkRefDeletion = (update: RefUpdate): RuleViolation[] =>
  update.now === undefined ? createRuleViolationList(`Cannot delete this ${getRefTypeLabel(update)}`) : []

const checkLockedBranch = (): RuleViolation[] => createRuleViolationList('Cannot change this locked branch')

/** The reason why an update is rejected, or the violation that a bypass allowed. */
export interface RefUpdateVerdict {
  /** GH013 is for rulesets, and GH006 for classic protection. */
  readonly code: 'GH006' | 'GH013'
  readonly rejected: readonly RuleViolation[]
  readonly bypassed: readonly RuleViolation[]
}

type BranchRuleEvaluator = (
  it: RefUpdate,
  parameters: unknown,
) => readonly RuleViolation[] | Promise<readonly RuleViolation[]>

/** A rule about the new commit of an update. A deletion has none. */
const createCommitRuleEvaluator =
  (
    judge: (
      move: NonDeletingRefUpdate,
      parameters: never,
    ) => readonly RuleViolation[] | Promise<readonly RuleViolation[]>,
  ): BranchRuleEvaluator =>
  (it, parameters) =>
    it.now === undefined ? [] : judge({ ...it, now: it.now }, parameters as never)

const branchRuleEvaluatorByType: Readonly<Record<string, BranchRuleEvaluator>> = {
  creation: checkRefCreation,
  update: checkRefUpdate,
  deletion: checkRefDeletion,
  locked: checkLockedBranch,
  non_fast_forward: checkNonFastForward,
  restricted_pushers: (it, named) => checkPushRestrictions(it, named as BranchProtectionActorNames),
  required_linear_history: createCommitRuleEvaluator(checkLinearHistory),
  required_signatures: createCommitRuleEvaluator(checkCommitSignatures),
  required_status_checks: createCommitRuleEvaluator((move, it: StatusChecksRuleParameters) =>
    checkRequiredChecks(move, it),
  ),
  pull_request: createCommitRuleEvaluator((move, it: PullRequestRuleParameters) =>
    checkPullRequestRule(move, it),
  ),
  conversation_resolution: createCommitRuleEvaluator(checkConversationResolution),
  merge_queue: createCommitRuleEvaluator(({ merge }) =>
    merge?.queued === true ? [] : [{ message: 'Changes must be made through the merge queue' }],
  ),
  workflows: createCommitRuleEvaluator(checkRequiredWorkflows),
  code_scanning: createCommitRuleEvaluator(checkRequiredCodeScanning),
  required_deployments: createCommitRuleEvaluator(checkRequiredDeployments),
  branch_name_pattern: (it, parameters) => checkBranchNamePattern(it, parameters as RulesetPatternParameters),
  commit_message_pattern: createCommitRuleEvaluator(checkCommitMessagePattern),
  commit_author_email_pattern: createCommitRuleEvaluator(checkAuthorEmailPattern),
  committer_email_pattern: createCommitRuleEvaluator(checkCommitterEmailPattern),
}

export async function evaluateBranchRule(
  it: RefUpdate,
  { type, parameters }: BranchRule,
): Promise<readonly RuleViolation[]> {
  const judge = branchRuleEvaluatorByType[type]
  if (judge === undefined) throw new Error(`the sandbox does not enforce ${type}`)
  return await judge(it, parameters)
}

export async function evaluateRefUpdate(it: RefUpdate): Promise<RefUpdateVerdict> {
  const rejected = new Map<string, RuleViolation>()
  const bypassed = new Map<string, RuleViolation>()
  let code: RefUpdateVerdict['code'] = 'GH006'
  for (const { ruleset, rules, bypass } of collectBranchRuleLayers(it)) {
    if (bypass === 'exempt') continue
    for (const rule of rules)
      for (const violation of await evaluateBranchRule(it, rule)) {
        if (bypass === 'no' && ruleset !== undefined) code = 'GH013'
        // A message that two layers share is reported once.
        ;(bypass === 'yes' ? bypassed : rejected).set(violation.message, violation)
      }
  }
  return { code, rejected: [...rejected.values()], bypassed: [...bypassed.values()] }
}

/** A force push: the new commit does not contain the old one. */
async function checkNonFastForward(update: RefUpdate): Promise<RuleViolation[]> {
  const { path, old, now } = update
  if (old === undefined || now === undefined || (await isAncestor(path, old, now))) return []
  return createRuleViolationList(`Cannot force-push to this ${getRefTypeLabel(update)}`)
}

/** Classic protection's list of who may push: necessary, but not sufficient. */
function checkPushRestrictions(update: RefUpdate, named: BranchProtectionActorNames): RuleViolation[] {
  const { repo, by } = update
  if (isCallerInBranchProtectionList(repo, by, named)) return []
  return createRuleViolationList(
    "You're not authorized to push to this branch. Visit https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-protected-branches/about-protected-branches for more information.",
  )
}

function matchesPatternIgnoringNegation(
  text: string,
  { operator, pattern }: RulesetPatternParameters,
): boolean {
  if (operator === 'starts_with') return text.startsWith(pattern)
  if (operator === 'ends_with') return text.endsWith(pattern)
  return operator === 'contains' ? text.includes(pattern) : new RegExp(pattern, 'm').test(text)
}

/** A branch name is checked once, when the branch is created. */
function checkBranchNamePattern(update: RefUpdate, pattern: RulesetPatternParameters): RuleViolation[] {
  if (update.old !== undefined || satisfiesRulesetPattern(getBranchName(update), pattern)) return []
  return [{ message: formatPatternViolation('Branch name', pattern) }]
}

/** The commits that an update adds. For a new ref, the commits that are on no branch. */
async function listAddedCommits({ repo, path, old, now }: NonDeletingRefUpdate): Promise<readonly string[]> {
  return await listCommitsNotReachableFrom(
    path,
    old === undefined ? [...repo.knownRefs.values()] : [old],
    now,
  )
}

async function checkLinearHistory(move: NonDeletingRefUpdate): Promise<RuleViolation[]> {
  const commits: string[] = []
  for (const commit of await listAddedCommits(move))
    if ((await readCommitParents(move.path, commit)).length > 1) commits.push(commit)
  return commits.length === 0 ? [] : [{ message: 'This branch must not contain merge commits.', commits }]
}

async function checkCommitSignatures(move: NonDeletingRefUpdate): Promise<RuleViolation[]> {
  const { merge, by, repo } = move
  const commits = (await listAddedCommits(move)).filter((it) => !repo.github.signatures.has(it))
  // "You cannot squash and merge a pull request into the branch on GitHub unless you are the author of the pull request":
  // https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/available-rules-for-rulesets#require-signed-commits
  // The message of that rejection is not documented. The rule has no other message.
  const isOthers = merge?.method === 'squash' && getActingAccount(by) !== merge.pull.author
  return commits.length === 0 && !isOthers
    ? []
    : [{ message: 'Commits must have verified signatures.', commits: isOthers ? [] : commits }]
}

/**
 * The newest deployment of the commit to each environment must have succeeded.
 * https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/available-rules-for-rulesets#require-deployments-to-succeed-before-merging
 * An App's merge is blocked, too: https://github.com/chdsbd/kodiak/issues/920
 */
function checkRequiredDeployments(
  move: NonDeletingRefUpdate,
  {
    required_deployment_environments: wanted,
  }: { readonly required_deployment_environments: readonly string[] },
): RuleViolation[] {
  const missing = wanted.filter((environment) => {
    const newest = move.repo.deployments.findLast(
      (it) => it.sha === getPullHeadOrPushedSha(move) && it.environment === environment,
    )
    return newest?.statuses.at(-1)?.state !== 'success'
  })
  if (missing.length === 0) return []
  return [
    {
      message: `Missing successful active ${formatNameList(missing)} deployment${missing.length === 1 ? '' : 's'}.`,
    },
  ]
}

/**
 * Each tool must have uploaded its results for the commit.
 * https://docs.github.com/code-security/code-scanning/managing-your-code-scanning-configuration/set-code-scanning-merge-protection
 * The messages: https://github.com/github/codeql/issues/19459 (push), https://github.com/quokka-astro/quokka/pull/1200 (merge).
 */
function checkRequiredCodeScanning(
  move: NonDeletingRefUpdate,
  { code_scanning_tools: tools }: { readonly code_scanning_tools: readonly { readonly tool: string }[] },
): RuleViolation[] {
  const { repo, now, merge } = move
  const short = (sha: string): string => sha.slice(0, 7)
  const where =
    merge === undefined
      ? `commit ${short(now)}`
      : `commits ${short(merge.pull.headSha)} or ${short(merge.pull.testMerge ?? now)}`
  return tools.flatMap(({ tool }) => {
    const found = repo.analyses.findLast((it) => it.sha === getPullHeadOrPushedSha(move) && it.tool === tool)
    if (found === undefined)
      return [{ message: `Code scanning is waiting for results from ${tool} for the ${where}.` }]
    return found.alerts === 0
      ? []
      : [
          {
            message: `${tool} has detected ${found.alerts} alert${found.alerts === 1 ? '' : 's'} blocking this code.`,
          },
        ]
  })
}

/**
 * The workflow must have succeeded on the pull request's head; a direct push never satisfies the rule.
 * https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/available-rules-for-rulesets#require-workflows-to-pass-before-merging
 * Seen in rejected pushes; GitHub does not document the sentence, and no other one is published for merges.
 */
function checkRequiredWorkflows(
  { repo, merge }: NonDeletingRefUpdate,
  { workflows }: { readonly workflows: readonly { readonly path: string }[] },
): RuleViolation[] {
  const unmet = workflows.filter(({ path }) => {
    const runs = repo.runs.filter(
      (it) => merge?.pull.headSha === it.sha && path.endsWith(`/${it.workflow.file}`),
    )
    return runs.at(-1)?.conclusion !== 'success'
  })
  return unmet.map(({ path }) => ({
    message: `Required workflow '${(path.split('/').at(-1) ?? path).replace(/\.ya?ml$/, '')}' is not satisfied`,
  }))
}
