// Lands by GitHub's own merge where a push can't work. GitHub pins only the head, so read-landed.ts compares the
// result.
import { mustBeUpToDate } from '../gate/landing-demands.ts'
import type { LandingMethod } from '../gate/landing-method.ts'
import type { MergeText } from '../ports/merging.ts'
import { crashPoint } from './crash-point.ts'
import type { Acted, Prepared, Step } from './ready.ts'

type GitHubMerge = Extract<LandingMethod, { kind: 'github-merge' }>

export async function prepareGitHubMerge(step: Step, method: GitHubMerge): Promise<Prepared> {
  const { permit, options, rules } = step
  const { base, head, commit } = permit.landing
  if (rules !== undefined && mustBeUpToDate(rules) && !(await options.repository.contains(head, base)))
    return {
      kind: 'refused',
      reason: 'the branch takes only pull requests that contain its newest commit: update this one',
      scope: 'pull',
    }
  const text = splitMessage(await options.repository.messageOf(commit))
  return { kind: 'ready', method, commit, act: () => merge(step, method, text) }
}

async function merge({ permit, options }: Step, { method }: GitHubMerge, text: MergeText): Promise<Acted> {
  const { landing } = permit
  // As late as possible, because GitHub merges into the current base.
  await options.repository.fetch(landing.baseRef)
  if ((await options.repository.tip(landing.baseRef)) !== landing.base)
    return { kind: 'race', why: 'the base branch has changed' }
  const answer = await options.merging.merge(permit, method, text)
  crashPoint('merge-asked')
  if (answer.kind !== 'refused') return answer
  const { words } = answer
  const reason = words.by === 'rest' ? words.message : words.errors.map(({ message }) => message).join(' ')
  return { kind: 'refused', reason, words, commit: landing.commit }
}

/** Splits a commit message into GitHub's title and body. */
function splitMessage(message: string): MergeText {
  const [title = '', ...rest] = message.split('\n')
  return { title, body: rest.join('\n').trim() }
}
