// Judges what a push carries besides its tree: commits that stay reachable forever, and other pull requests that it
// closes.
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

/** Findings about a pull request's commits. None if `carried` is absent. */
export function judgeCarried({ carried, change, demandsSignatures = false }: CheckInput): Finding[] {
  if (carried === undefined) return []
  const { isWhole, commits, largeFiles, pulls } = carried
  if (!isWhole) return [finding(tooManyCommits, undefined, {})]
  const edits = commits.filter(({ editsWorkflows }) => editsWorkflows)
  // A maintainer reviews workflow edits that the pull request shows. With more than one edit, a later one may hide what an
  // earlier one did.
  const isVisible =
    edits.length === 1 && change.paths.some(({ path }) => path.startsWith('.github/workflows/'))
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
 * A pull request may build on another one if it contains all of it and that one is not on hold. Authors may do as they
 * like with their own.
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

/** The oldest commit, because the author starts there. */
function named(commits: readonly CarriedCommit[]): { readonly commit: string; readonly more: number } {
  return { commit: commits.at(-1)?.id ?? '', more: commits.length - 1 }
}
