// Formats the merge commit message. It depends only on the snapshot and the configuration, so the commit id is
// reproducible. Removes words that trigger actions in GitHub or CI systems.
import type { PullSnapshot } from '../pull-request/snapshot.ts'
import type { RuleOverride } from '../policy/command-records.ts'
import {
  mergeMessagePlaceholderPattern,
  type MergeMessageTemplate,
  type MergeMessagePlaceholder,
} from '../config/merge-settings.ts'
import { toCommitTitle, toSingleLineText, capitalizeFirstLetter } from './escape.ts'
import type { MergeStrategy, MergePlan } from '../policy/merge-strategy.ts'

/** `overrides`: rules that a maintainer overrode. */
export function formatMergeMessage(
  snapshot: PullSnapshot,
  template: MergeMessageTemplate = {},
  overrides: readonly RuleOverride[] = [],
): string {
  const fill = createMergeMessageRenderer(snapshot)
  const title = template.title === undefined ? '' : fill(template.title)
  const lines = (template.body ?? '').split(/\r\n|\r|\n/).map(fill)
  return [
    title === '' ? formatDefaultMergeTitle(snapshot) : title,
    ...collapseEmptyLines(lines),
    ...overrides.map(formatOverrideLine),
    `Head: ${snapshot.head}`,
  ]
    .join('\n\n')
    .concat('\n')
}

function formatOverrideLine({ rule, by, reason }: RuleOverride): string {
  return toCommitTitle(`Overridden by ${by}: ${rule}, because ${reason}`, maxMergeMessageLineLength)
}

function formatDefaultMergeTitle({ pull, title }: PullSnapshot): string {
  const cleanedTitle = toCommitTitle(title)
  return `Merge pull request ${pull}${cleanedTitle === '' ? '' : `: ${cleanedTitle}`}`
}

/** Cleans each line after substitution, because a harmless template and title can be harmful together. */
function createMergeMessageRenderer(snapshot: PullSnapshot): (line: string) => string {
  const values: Readonly<Record<MergeMessagePlaceholder, string>> = {
    number: String(snapshot.pull),
    title: toCommitTitle(snapshot.title),
    head: snapshot.head,
    author: snapshot.author?.login ?? 'ghost',
  }
  return (line) =>
    toCommitTitle(
      line.replace(mergeMessagePlaceholderPattern, (_all, name: MergeMessagePlaceholder) => values[name]),
      maxMergeMessageLineLength,
    )
}

/** Long enough for the longest template title with the longest pull request title. */
const maxMergeMessageLineLength = 400

/** Trims the text and collapses empty lines. */
function collapseEmptyLines(lines: readonly string[]): string[] {
  const text = lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
  return text === '' ? [] : [text]
}

export function formatMergePlanAsText(branch: string, plan: MergePlan): string {
  const shown = (clause: string) => formatClauseAsSentence(toSingleLineText(clause, maxCheckNameListLength))
  const lists = buildMergePlanSections(plan).map(
    ([title, clauses]) => `${title}\n${clauses.map((clause) => `  - ${shown(clause)}`).join('\n')}`,
  )
  return [
    `${toSingleLineText(branch)}: ${formatMergeMethod(plan.method)}.`,
    `  ${shown(plan.because)}`,
    ...lists,
  ].join('\n')
}

export function formatMergeMethod(method: MergeStrategy | undefined): string {
  switch (method?.kind) {
    case undefined:
      return 'catalog-bot cannot merge'
    case 'queue':
      return "through GitHub's merge queue"
    case 'github-merge':
      return `GitHub merges the pull request (${method.method})`
    case 'push': {
      const how = [...(method.checksFirst ? ['checks first'] : []), ...(method.signed ? ['signed'] : [])]
      return `catalog-bot pushes the validated merge${how.length > 0 ? ` (${how.join(', ')})` : ''}`
    }
  }
}

const maxCheckNameListLength = 1500

/** Titles, each with clauses without a period. */
export function buildMergePlanSections(plan: MergePlan): readonly (readonly [string, readonly string[]])[] {
  const all = [
    ['Missing requirements', plan.missing],
    ['Requirements for each pull request', plan.conditions],
    ['Suggested improvements', plan.faster],
    ['Uncertainties', plan.unsure],
  ] as const
  return all.filter(([, clauses]) => clauses.length > 0)
}

export const formatClauseAsSentence = (clause: string): string => `${capitalizeFirstLetter(clause)}.`
