// How a verdict is told: as lines of a push, and as a message of the REST interface. The words are GitHub's.
import { Refusal } from '../http/route.ts'
import type { Repo } from '../world.ts'
import { webUrl } from '../views/repository-view.ts'
import type { World } from '../world.ts'
import type { Verdict } from './judge-update.ts'
import type { Violation } from './ref-update.ts'

/** What stands behind `! [remote rejected] main -> main`, in brackets. */
export const declined = {
  GH006: 'protected branch hook declined',
  GH013: 'push declined due to repository rule violations',
} as const

function listed({ says, commits = [] }: Violation): string[] {
  if (commits.length === 0) return [`- ${says}`]
  const found = `  Found ${commits.length} violation${commits.length === 1 ? '' : 's'}:`
  return [`- ${says}`, found, '', ...commits.map((it) => `  ${it}`)]
}

const spaced = (violations: readonly Violation[]): string[] => violations.flatMap((it) => [...listed(it), ''])

/** What a client prints behind `remote: `, when a push is refused. */
export function refusedLines(world: World, repo: Repo, ref: string, verdict: Verdict): string[] {
  if (verdict.code === 'GH006')
    return [
      `error: GH006: Protected branch update failed for ${ref}.`,
      '',
      ...spaced(verdict.refused).slice(0, -1),
    ]
  return [
    `error: GH013: Repository rule violations found for ${ref}.`,
    `Review all repository rules at ${webUrl(world, repo)}/rules?ref=${encodeURIComponent(ref)}`,
    '',
    ...spaced(verdict.refused),
  ]
}

/** What is printed when a push went through past a rule. */
export function bypassedLines(ref: string, verdict: Verdict): string[] {
  return [`Bypassed rule violations for ${ref}:`, '', ...spaced(verdict.bypassed)]
}

/** The sentence of REST and GraphQL. */
export function messageOf(verdict: Verdict): string {
  const words = verdict.refused.map(({ says }) => says)
  if (verdict.code === 'GH006') return words.join(' ')
  return `Repository rule violations found\n\n${words.map((it) => `${it}\n\n`).join('')}`
}

/** Throws when a verdict refuses: with 405 for a merge, 422 for a ref. */
export function enforce(verdict: Verdict, status: 405 | 422): void {
  if (verdict.refused.length > 0) throw new Refusal(status, messageOf(verdict))
}
