// The outcome of a story's pull request, as GitHub shows it, and whether it is the expected one.
import { checkIds } from '@catalog-bot/findings/checks'
import type { MockCheckRun, MockPull } from '../github/github-data.ts'
import type { DemoEnvironment } from './demo-environment.ts'
import type { DemoStory } from './stories.ts'

export interface DemoStoryWithPull {
  readonly story: DemoStory
  readonly pull: MockPull
}

export interface DemoStoryOutcome {
  /** The final state, or the first line of the comment. */
  readonly state: string
  /** The check that keeps it open and the start of its summary, or the result of the rebuild. */
  readonly reason: string
  /** Whether it has reached the ending that the story expects. */
  readonly isExpected: boolean
  /** Whether the author received any report. */
  readonly hasComment: boolean
  readonly isMerged: boolean
}

export function evaluateDemoStory(
  opened: DemoStoryWithPull,
  all: readonly DemoStoryWithPull[],
  coast: DemoEnvironment,
): DemoStoryOutcome {
  const { story, pull } = opened
  const rival = all.find(({ story: { id } }) => id === story.rival)
  const hasMerged = isPullMerged(pull)
  const hasComment = findBotComment(pull) !== undefined
  const state = hasMerged ? 'merged' : (findBotCommentHeading(pull) ?? 'not checked yet')
  if (hasMerged) {
    const rebuilt = hasPassedRebuildCheck(pull, coast)
    const may = story.ending.kind === 'lands' || (rival !== undefined && !isPullMerged(rival.pull))
    return {
      state,
      reason: rebuilt ? 'rebuild succeeded' : 'rebuild running',
      // The comment comes after the merge, in parallel with the rebuild.
      isExpected: may && rebuilt && hasComment,
      hasComment,
      isMerged: hasMerged,
    }
  }
  if (story.ending.kind === 'lands')
    return {
      state,
      reason: formatBlockingReason(coast, pull),
      isExpected: false,
      hasComment,
      isMerged: hasMerged,
    }
  const { check, summaryPattern } = story.ending
  const run = findLatestCheckRun(coast, pull.headSha, `catalog-bot / ${check}`)
  const isRejected =
    run?.status === 'completed' && run.conclusion !== 'success' && summaryPattern.test(run.summary ?? '')
  const isRivalDone = rival === undefined || isPullMerged(rival.pull)
  return {
    state,
    reason: formatBlockingReason(coast, pull),
    isExpected: isRejected && isRivalDone,
    hasComment,
    isMerged: hasMerged,
  }
}

/**
 * A rebuild of the merge commit, or of the branch's tip once it has moved on, because one build of the newest state
 * is enough.
 */
function hasPassedRebuildCheck(pull: MockPull, coast: DemoEnvironment): boolean {
  const tip = coast.repository.knownRefs.get(`refs/heads/${coast.repository.defaultBranch}`)
  return [pull.merged?.sha, tip].some(
    (sha) =>
      sha !== undefined && findLatestCheckRun(coast, sha, 'catalog-bot / rebuild')?.conclusion === 'success',
  )
}

function isPullMerged(pull: MockPull): boolean {
  return pull.state === 'closed' && pull.merged !== null
}

/** The newest check run with this name on a commit. */
function findLatestCheckRun(coast: DemoEnvironment, sha: string, name: string): MockCheckRun | undefined {
  return coast.github
    .checkRuns({ repo: coast.repository, headSha: sha })
    .filter((run) => run.name === name)
    .at(-1)
}

/** The heading of catalog-bot's comment. */
function findBotCommentHeading(pull: MockPull): string | undefined {
  const comment = findBotComment(pull)
  const headline = comment === undefined ? undefined : /^### (?<words>.*)$/m.exec(comment)?.groups?.words
  return headline === undefined ? undefined : stripMarkdown(headline)
}

export function findBotComment(pull: MockPull): string | undefined {
  return pull.comments.find(({ body }) => body.startsWith('<!-- catalog-bot'))?.body
}

function formatBlockingReason(coast: DemoEnvironment, pull: MockPull): string {
  for (const check of checkIds) {
    const run = findLatestCheckRun(coast, pull.headSha, `catalog-bot / ${check}`)
    if (run === undefined || run.conclusion === 'success') continue
    const summaryLine =
      (run.summary ?? '').split('\n').find((line) => line.startsWith('- ')) ?? run.title ?? ''
    return `${check}: ${stripMarkdown(summaryLine)}`
  }
  return 'all checks passed'
}

/** Markdown as a line for a terminal. */
function stripMarkdown(markdown: string): string {
  return markdown
    .replace(/^- /, '')
    .replace(/^\[(?<place>(?:`[^`]*`|[^\]`])*)\]\([^)\s]*\)/, '$<place>:')
    .replace(/\[(?<words>(?:`[^`]*`|[^\]`])*)\]\([^)\s]*\)/g, '$<words>')
    .replace(/\\([\\`*_[\]#|~$!])/g, '$1')
    .replace(/\u2060/g, '')
    .replace(/[`*]/g, '')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&amp;/g, '&')
    .replace(/ \((?<rule>[a-z0-9-]+)\) (?=[A-Z]|opm |catalog-bot )/, ' ($<rule>). ')
}
