// Rules about names: of the branch, and of what its commits say. They bind every commit that an update adds, the merge
// commit too.
// https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/available-rules-for-rulesets#metadata-restrictions
import { readCommit } from '../views/commit-view.ts'
import type { CommitData } from '../views/commit-view.ts'
import { added } from './history.ts'
import { branchOf } from './ref-update.ts'
import type { Move, RefUpdate, Violation } from './ref-update.ts'

export interface Pattern {
  readonly operator: 'starts_with' | 'ends_with' | 'contains' | 'regex'
  readonly pattern: string
  readonly negate?: boolean
  readonly name?: string
}

const words: Readonly<Record<Pattern['operator'], string>> = {
  starts_with: 'start with a matching pattern',
  ends_with: 'end with a matching pattern',
  contains: 'contain a matching pattern',
  regex: 'match a given regex pattern',
}

function matches(text: string, { operator, pattern }: Pattern): boolean {
  if (operator === 'starts_with') return text.startsWith(pattern)
  if (operator === 'ends_with') return text.endsWith(pattern)
  return operator === 'contains' ? text.includes(pattern) : new RegExp(pattern, 'm').test(text)
}

/** The words of the settings page: it says which pattern is to be matched, in a sentence that no document spells. */
const sentence = (subject: string, pattern: Pattern): string =>
  `${subject} must ${pattern.negate === true ? 'not ' : ''}${words[pattern.operator]}: ${pattern.pattern}`

const isMet = (text: string, pattern: Pattern): boolean =>
  matches(text, pattern) !== (pattern.negate === true)

/** A branch is named once: when it is made. */
export function branchName(update: RefUpdate, pattern: Pattern): Violation[] {
  if (update.old !== undefined || isMet(branchOf(update), pattern)) return []
  return [{ says: sentence('Branch name', pattern) }]
}

const ofCommits =
  (subject: string, read: (commit: CommitData) => string) =>
  async (move: Move, pattern: Pattern): Promise<Violation[]> => {
    const commits: string[] = []
    for (const sha of await added(move))
      if (!isMet(read(await readCommit(move.path, sha)), pattern)) commits.push(sha)
    return commits.length === 0 ? [] : [{ says: sentence(subject, pattern), commits }]
  }

export const commitMessage = ofCommits('Commit message', ({ message }) => message)
export const authorEmail = ofCommits('Author email', ({ author }) => author.email)
export const committerEmail = ofCommits('Committer email', ({ committer }) => committer.email)
