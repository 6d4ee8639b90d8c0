import type { MergeStrategy, MergePlan } from '../policy/merge-strategy.ts'
import { toSingleLineText, capitalizeFirstLetter } from './escape.ts'

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
