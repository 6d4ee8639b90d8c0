// REST's name for the merge state of a pull request: https://docs.github.com/graphql/reference/enums#mergestatestatus
import { isAncestor } from '../git/git-store.ts'
import type { MockPull } from '../github-data.ts'
import { evaluateBranchRule } from './evaluate-ref-update.ts'
import { hasRulesForRef, collectBranchRuleLayers, selectRuleParameters } from './rule-layers.ts'

export type MergeState = 'unknown' | 'dirty' | 'draft' | 'blocked' | 'behind' | 'unstable' | 'clean'

// The merge method does not matter here, and the queue has a separate endpoint.
const ruleTypesIgnoredForMergeState = new Set(['required_linear_history', 'merge_queue'])

/** Evaluated for a person without any bypass. Only Enterprise Server with pre-receive hooks reports `has_hooks`. */
export async function computeMergeState(pull: MockPull): Promise<MergeState> {
  const { repo, baseRef, mergeable, testMerge: now } = pull
  if (mergeable === undefined || pull.state !== 'open') return 'unknown'
  if (!mergeable || now === null) return 'dirty'
  if (pull.draft) return 'draft'
  const ref = `refs/heads/${baseRef}`
  const old = repo.knownRefs.get(ref)
  if (hasRulesForRef(repo, ref) && old !== undefined) {
    const by = { kind: 'user', account: pull.author } as const
    const merge = { pull, method: 'merge', queued: true } as const
    const update = { repo, path: repo.path, ref, old, now, by, merge }
    const rules = collectBranchRuleLayers(update).flatMap((it) => (it.bypass === 'no' ? it.rules : []))
    for (const rule of rules.filter(({ type }) => !ruleTypesIgnoredForMergeState.has(type))) {
      // GitHub itself creates the test merge, so only commits by others can lack a signature.
      const found = (await evaluateBranchRule(update, rule)).filter(
        ({ commits = [] }) => commits.join() !== now,
      )
      if (found.length > 0) return 'blocked'
    }
    const isStrict = selectRuleParameters(rules, 'required_status_checks').some(
      (it) => it.strict_required_status_checks_policy,
    )
    if (isStrict && !(await isAncestor(repo.path, old, pull.headSha))) return 'behind'
  }
  const runs = repo.suites.filter(({ sha }) => sha === pull.headSha).flatMap((it) => it.runs)
  const newest = new Map(
    repo.statuses.filter(({ sha }) => sha === pull.headSha).map((it) => [it.context, it.state]),
  )
  const isPassing = (conclusion: string | null) =>
    ['success', 'neutral', 'skipped'].includes(conclusion ?? '')
  const isStable =
    runs.every(({ conclusion }) => isPassing(conclusion)) &&
    [...newest.values()].every((it) => it === 'success')
  return isStable ? 'clean' : 'unstable'
}
