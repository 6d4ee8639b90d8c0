// What became of a story's pull request, seen from GitHub alone, and whether it is what should have become of it.
import { checkIds } from '../../src/findings/checks.ts'
import type { CheckRun, Pull } from '../github/world.ts'
import type { DemoWorld } from './demo-world.ts'
import type { Story } from './stories.ts'

export interface Told {
  readonly story: Story
  readonly pull: Pull
}

export interface Outcome {
  /** `landed`, or what the comment's first line says. */
  readonly state: string
  /** The check that keeps it open and its first words, or the rebuild's result. */
  readonly why: string
  /** True once it has come to the end that the story wants. */
  readonly asItShouldBe: boolean
  /** Whether its author was told anything. */
  readonly isTold: boolean
  readonly landed: boolean
}

export function outcomeOf(told: Told, all: readonly Told[], coast: DemoWorld): Outcome {
  const { story, pull } = told
  const rival = all.find(({ story: { id } }) => id === story.rival)
  const landed = isLanded(pull)
  const isTold = commentOf(pull) !== undefined
  const state = landed ? 'merged' : (headline(pull) ?? 'not checked yet')
  if (landed) {
    const rebuilt = isRebuilt(pull, coast)
    const may = story.ending.kind === 'lands' || (rival !== undefined && !isLanded(rival.pull))
    return {
      state,
      why: rebuilt ? 'rebuild succeeded' : 'rebuild running',
      // The comment comes after the merge, and beside its rebuild.
      asItShouldBe: may && rebuilt && isTold,
      isTold,
      landed,
    }
  }
  if (story.ending.kind === 'lands')
    return { state, why: reasonOf(coast, pull), asItShouldBe: false, isTold, landed }
  const { check, says } = story.ending
  const run = latest(coast, pull.headSha, `catalog-bot / ${check}`)
  const refused = run?.status === 'completed' && run.conclusion !== 'success' && says.test(run.summary ?? '')
  const turn = rival === undefined || isLanded(rival.pull)
  return { state, why: reasonOf(coast, pull), asItShouldBe: refused && turn, isTold, landed }
}

/** A rebuild of its own commit, or of the branch's tip once that has moved on: one build of the newest state is enough. */
function isRebuilt(pull: Pull, coast: DemoWorld): boolean {
  const tip = coast.repository.known.get(`refs/heads/${coast.repository.defaultBranch}`)
  return [pull.merged?.sha, tip].some(
    (sha) => sha !== undefined && latest(coast, sha, 'catalog-bot / rebuild')?.conclusion === 'success',
  )
}

function isLanded(pull: Pull): boolean {
  return pull.state === 'closed' && pull.merged !== null
}

/** The newest of the runs of a name on a commit. */
function latest(coast: DemoWorld, sha: string, name: string): CheckRun | undefined {
  return coast.github
    .checkRuns({ repo: coast.repository, headSha: sha })
    .filter((run) => run.name === name)
    .at(-1)
}

/** The heading of the bot's comment. */
function headline(pull: Pull): string | undefined {
  const comment = commentOf(pull)
  return comment === undefined ? undefined : /^### (?<words>.*)$/m.exec(comment)?.groups?.words
}

export function commentOf(pull: Pull): string | undefined {
  return pull.comments.find(({ body }) => body.startsWith('<!-- catalog-bot'))?.body
}

function reasonOf(coast: DemoWorld, pull: Pull): string {
  for (const check of checkIds) {
    const run = latest(coast, pull.headSha, `catalog-bot / ${check}`)
    if (run === undefined || run.conclusion === 'success') continue
    const words = (run.summary ?? '').split('\n').find((line) => line.startsWith('- ')) ?? run.title ?? ''
    return `${check}: ${readable(words)}`
  }
  return 'all checks passed'
}

/** Markdown as a line for a terminal. */
function readable(markdown: string): string {
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
