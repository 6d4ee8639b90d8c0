// Rules about names: of the branch, and of what its commits say. They bind every commit that an update adds, the merge
// commit too.
// https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/available-rules-for-rulesets#metadata-restrictions
import { readCommit } from '../views/commit-view.ts'
import type { CommitData } from '../views/commit-view.ts'
import { listAddedCommits } from './commit-history-rules.ts'
import { getBranchName } from './ref-update.ts'
import type { NonDeletingRefUpdate, RefUpdate, RuleViolation } from './ref-update.ts'

export interface NamePattern {
  readonly operator: 'starts_with' | 'ends_with' | 'contains' | 'regex'
  readonly pattern: string
  readonly negate?: boolean
  readonly name?: string
}

const phraseByPatternOperator: Readonly<Record<NamePattern['operator'], string>> = {
  starts_with: 'start with a matching pattern',
  ends_with: 'end with a matching pattern',
  contains: 'contain a matching pattern',
  regex: 'match a given regex pattern',
}

function matchesPatternOperator(text: string, { operator, pattern }: NamePattern): boolean {
  if (operator === 'starts_with') return text.startsWith(pattern)
  if (operator === 'ends_with') return text.endsWith(pattern)
  return operator === 'contains' ? text.includes(pattern) : new RegExp(pattern, 'm').test(text)
}

/** The wording of the settings page, with the pattern. The exact sentence is not documented. */
const formatPatternViolation = (subject: string, pattern: NamePattern): string =>
  `${subject} must ${pattern.negate === true ? 'not ' : ''}${phraseByPatternOperator[pattern.operator]}: ${pattern.pattern}`

const satisfiesNamePattern = (text: string, pattern: NamePattern): boolean =>
  matchesPatternOperator(text, pattern) !== (pattern.negate === true)

/** A branch name is checked once, when the branch is created. */
export function checkBranchName(update: RefUpdate, pattern: NamePattern): RuleViolation[] {
  if (update.old !== undefined || satisfiesNamePattern(getBranchName(update), pattern)) return []
  return [{ message: formatPatternViolation('Branch name', pattern) }]
}

const createCommitPatternCheck =
  (subject: string, read: (commit: CommitData) => string) =>
  async (move: NonDeletingRefUpdate, pattern: NamePattern): Promise<RuleViolation[]> => {
    const commits: string[] = []
    for (const sha of await listAddedCommits(move))
      if (!satisfiesNamePattern(read(await readCommit(move.path, sha)), pattern)) commits.push(sha)
    return commits.length === 0 ? [] : [{ message: formatPatternViolation(subject, pattern), commits }]
  }

export const checkCommitMessage = createCommitPatternCheck('Commit message', ({ message }) => message)
export const checkAuthorEmail = createCommitPatternCheck('Author email', ({ author }) => author.email)
export const checkCommitterEmail = createCommitPatternCheck(
  'Committer email',
  ({ committer }) => committer.email,
)
