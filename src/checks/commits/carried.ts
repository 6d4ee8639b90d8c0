// Judges what a push carries besides its tree: commits that stay reachable for ever, and other people's pull requests
// that close by them. The tree itself is judged by the other checks.
import type { CarriedCommit, ClosedPull } from '../../change/carried-commits.ts'
import type { Finding } from '../../findings/finding.ts'
import { finding } from '../../findings/rule.ts'
import type { CheckInput } from '../check.ts'
import { closesOtherPull } from './rules/closes-other-pull.ts'
import { landsOtherPull } from './rules/lands-other-pull.ts'
import { oversizedFileInHistory } from './rules/oversized-file-in-history.ts'
import { tooManyCommits } from './rules/too-many-commits.ts'
import { unreadableCommit } from './rules/unreadable-commit.ts'
import { unsignedCommit } from './rules/unsigned-commit.ts'
import { workflowEditInHistory } from './rules/workflow-edit-in-history.ts'

/** Findings about the commits of a pull request. None where nobody looked at them. */
export function judgeCarried({ carried, change, demandsSignatures = false }: CheckInput): Finding[] {
  if (carried === undefined) return []
  const { isWhole, commits, largeFiles, pulls } = carried
  if (!isWhole) return [finding(tooManyCommits, undefined, {})]
  const edits = commits.filter(({ editsWorkflows }) => editsWorkflows)
  // Merging edited workflows is decided with the files outside packages; what is taken back, no reviewer sees.
  const isVisible = change.paths.some(({ path }) => path.startsWith('.github/workflows/'))
  const unreadable = commits.filter(({ closes }) => closes === undefined)
  const unsigned = demandsSignatures ? commits.filter(({ isSigned }) => !isSigned) : []
  return [
    ...(edits.length > 0 ? [finding(workflowEditInHistory, undefined, { ...named(edits), isVisible })] : []),
    ...(unreadable.length > 0 ? [finding(unreadableCommit, undefined, named(unreadable))] : []),
    ...(unsigned.length > 0 ? [finding(unsignedCommit, undefined, named(unsigned))] : []),
    ...largeFiles.map((blob) => finding(oversizedFileInHistory, undefined, { blob })),
    ...pulls.map(judgePull),
  ]
}

/**
 * A pull request that stands on another one brings it along, which is fine as long as it brings all of it and nobody
 * holds that one back. Authors may do with their own as they like.
 */
function judgePull({ pull, by, isOwn, isKept, heldBack }: ClosedPull): Finding {
  if (isOwn || (isKept && heldBack === undefined))
    return finding(landsOtherPull, undefined, { pull, isKept, by })
  return finding(closesOtherPull, undefined, {
    pull,
    by,
    ...(isKept && heldBack !== undefined && { heldBack }),
  })
}

/** The oldest is where to begin. */
function named(commits: readonly CarriedCommit[]): { readonly commit: string; readonly more: number } {
  return { commit: commits.at(-1)?.id ?? '', more: commits.length - 1 }
}
