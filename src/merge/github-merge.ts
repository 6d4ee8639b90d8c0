// Merges with GitHub's API where a push cannot work. GitHub pins only the head, so read-merge-result.ts compares the
// result.
import { requiresUpToDateHead } from '../policy/merge-requirements.ts'
import type { MergeStrategy } from '../policy/merge-strategy.ts'
import type { MergeCommitMessage } from '../ports/merge-api.ts'
import { triggerCrashPoint } from '../jobs/crash-point.ts'
import type { MergeActionResult, PreparationResult, MergeAttempt } from './prepared-merge.ts'

type GitHubMergeStrategy = Extract<MergeStrategy, { kind: 'github-merge' }>

export async function prepareGitHubMerge(
  step: MergeAttempt,
  method: GitHubMergeStrategy,
): Promise<PreparationResult> {
  const { permit, options, rules } = step
  const { base, head, commit } = permit.landing
  if (rules !== undefined && requiresUpToDateHead(rules) && !(await options.repository.contains(head, base)))
    return {
      kind: 'refused',
      reason:
        'the branch accepts only pull requests that contain its latest commit; update this pull request',
      scope: 'pull',
    }
  const text = splitCommitMessage(await options.repository.messageOf(commit))
  return { kind: 'ready', method, commit, act: () => requestGitHubMerge(step, method, text) }
}

async function requestGitHubMerge(
  { permit, options }: MergeAttempt,
  { method }: GitHubMergeStrategy,
  text: MergeCommitMessage,
): Promise<MergeActionResult> {
  const { landing } = permit
  // As late as possible, because GitHub merges into the current base.
  await options.repository.fetch(landing.baseRef)
  if ((await options.repository.tip(landing.baseRef)) !== landing.base)
    return { kind: 'race', why: 'the base branch changed' }
  const answer = await options.merging.merge(permit, method, text)
  triggerCrashPoint('merge-asked')
  if (answer.kind !== 'refused') return answer
  const { rejection } = answer
  const reason =
    rejection.by === 'rest' ? rejection.message : rejection.errors.map(({ message }) => message).join(' ')
  return { kind: 'refused', reason, words: rejection, commit: landing.commit }
}

/** Splits a commit message into GitHub's title and body. */
function splitCommitMessage(message: string): MergeCommitMessage {
  const [title = '', ...rest] = message.split('\n')
  return { title, body: rest.join('\n').trim() }
}
