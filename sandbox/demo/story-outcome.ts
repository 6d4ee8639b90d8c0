// What became of a story's pull request, seen from GitHub alone, and whether it is what should have become of it.
import { checkIds } from '../../src/findings/checks.ts'
import type { MockCheckRun, MockPull } from '../github/github-data.ts'
import type { DemoEnvironment } from './demo-environment.ts'
import type { DemoStory } from './stories.ts'

export interface OpenedDemoStory {
  readonly story: DemoStory
  readonly pull: MockPull
}

export interface DemoStoryOutcome {
  /** `landed`, or what the comment's first line says. */
  readonly state: string
  /** The check that keeps it open and its first words, or the rebuild's result. */
  readonly reason: string
  /** True once it has come to the end that the story wants. */
  readonly isExpected: boolean
  /** Whether its author was told anything. */
  readonly hasComment: boolean
  readonly isMerged: boolean
}

export function evaluateDemoStory(
  opened: OpenedDemoStory,
  all: readonly OpenedDemoStory[],
  coast: DemoEnvironment,
): DemoStoryOutcome {
  const { story, pull } = opened
  const rival = all.find(({ story: { id } }) => id === story.rival)
  const hasMerged = isPullMerged(pull)
  const hasComment = findBotComment(pull) !== undefined
  const state = hasMerged ? 'merged' : (findCommentHeadline(pull) ?? 'not checked yet')
  if (hasMerged) {
    const rebuilt = hasSuccessfulRebuild(pull, coast)
    const may = story.ending.kind === 'lands' || (rival !== undefined && !isPullMerged(rival.pull))
    return {
      state,
      reason: rebuilt ? 'rebuild succeeded' : 'rebuild running',
      // The comment comes after the merge, and beside its rebuild.
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

/** A rebuild of its own commit, or of the branch's tip once that has moved on: one build of the newest state is enough. */
function hasSuccessfulRebuild(pull: MockPull, coast: DemoEnvironment): boolean {
  const tip = coast.repository.knownRefs.get(`refs/heads/${coast.repository.defaultBranch}`)
  return [pull.merged?.sha, tip].some(
    (sha) =>
      sha !== undefined && findLatestCheckRun(coast, sha, 'catalog-bot / rebuild')?.conclusion === 'success',
  )
}

function isPullMerged(pull: MockPull): boolean {
  return pull.state === 'closed' && pull.merged !== null
}

/** The newest of the runs of a name on a commit. */
function findLatestCheckRun(coast: DemoEnvironment, sha: string, name: string): MockCheckRun | undefined {
  return coast.github
    .checkRuns({ repo: coast.repository, headSha: sha })
    .filter((run) => run.name === name)
    .at(-1)
}

/** The heading of the bot's comment. */
function findCommentHeadline(pull: MockPull): string | undefined {
  const comment = findBotComment(pull)
  return comment === undefined ? undefined : /^### (?<words>.*)$/m.exec(comment)?.groups?.words
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
    .replace(/\[(?<words>(?:`[^`]*`|[^\]`])*)\]\([^)\s]*\)/g, '$<words>')
    .replace(/\\([\\`*_[\]#|~$!])/g, '$1')
    .replace(/\u2060/g, '')
    .replace(/[`*]/g, '')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&amp;/g, '&')
    .slice(0, 150)
}
