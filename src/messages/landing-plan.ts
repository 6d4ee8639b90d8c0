import type { LandingMethod, LandingPlan } from '../gate/landing-method.ts'
import { code, oneLine, plain } from './escape.ts'
import { capitalised } from './sentence.ts'

export function landingPlanAsMarkdown(branch: string, plan: LandingPlan): string {
  const shown = (clause: string) => sentence(plain(clause, longest))
  const lists = landingPlanSections(plan).map(
    ([title, clauses]) => `**${title}**\n\n${clauses.map((clause) => `- ${shown(clause)}`).join('\n')}`,
  )
  const first = `**How pull requests get onto ${code(branch)}:** ${methodInWords(plan.method)}. ${shown(plan.because)}`
  return [first, ...lists].join('\n\n')
}

export function landingPlanAsText(branch: string, plan: LandingPlan): string {
  const shown = (clause: string) => sentence(oneLine(clause, longest))
  const lists = landingPlanSections(plan).map(
    ([title, clauses]) => `${title}\n${clauses.map((clause) => `  - ${shown(clause)}`).join('\n')}`,
  )
  return [`${oneLine(branch)}: ${methodInWords(plan.method)}.`, `  ${shown(plan.because)}`, ...lists].join(
    '\n',
  )
}

export function methodInWords(method: LandingMethod | undefined): string {
  switch (method?.kind) {
    case undefined:
      return 'the App cannot merge'
    case 'queue':
      return "through GitHub's merge queue"
    case 'github-merge':
      return `GitHub merges (${method.method})`
    case 'push': {
      const how = [...(method.checksFirst ? ['checks first'] : []), ...(method.signed ? ['signed'] : [])]
      return `the App pushes the validated merge${how.length > 0 ? ` (${how.join(', ')})` : ''}`
    }
  }
}

/** The maximum length of a list of checks. */
const longest = 1500

/** Titles, each with clauses without a full stop. */
export function landingPlanSections(plan: LandingPlan): readonly (readonly [string, readonly string[]])[] {
  const all = [
    ['What is missing', plan.missing],
    ['What GitHub wants of each pull request', plan.conditions],
    ['What would make it faster or more exact', plan.faster],
    ['What is not known', plan.unsure],
  ] as const
  return all.filter(([, clauses]) => clauses.length > 0)
}

export const sentence = (clause: string): string => `${capitalised(clause)}.`
