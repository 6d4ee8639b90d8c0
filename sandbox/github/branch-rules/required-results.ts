// Requirements that GitHub looks up on the pull request's head when it merges, and on the pushed commit for
// pushes: deployments, code scanning, workflows. A missing result is not a success.
import type { NonDeletingRefUpdate, RuleViolation } from './ref-update.ts'

/** The commit whose results count. */
const getShaForRequiredResults = ({ merge, now }: NonDeletingRefUpdate): string => merge?.pull.headSha ?? now

const formatNameList = (names: readonly string[]): string =>
  new Intl.ListFormat('en', { type: 'conjunction' }).format(names)

/**
 * The newest deployment of the commit to each environment must have succeeded.
 * https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/available-rules-for-rulesets#require-deployments-to-succeed-before-merging
 * An App's merge is blocked, too: https://github.com/chdsbd/kodiak/issues/920
 */
export function checkRequiredDeployments(
  move: NonDeletingRefUpdate,
  {
    required_deployment_environments: wanted,
  }: { readonly required_deployment_environments: readonly string[] },
): RuleViolation[] {
  const missing = wanted.filter((environment) => {
    const newest = move.repo.deployments.findLast(
      (it) => it.sha === getShaForRequiredResults(move) && it.environment === environment,
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
export function checkRequiredCodeScanning(
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
    const found = repo.analyses.findLast(
      (it) => it.sha === getShaForRequiredResults(move) && it.tool === tool,
    )
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
export function checkRequiredWorkflows(
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
