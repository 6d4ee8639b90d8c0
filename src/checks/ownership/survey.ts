// The approvals that a change requires. Cached, because each answer and each approval causes another judgment.
import type { Change } from '../../change/change.ts'
import { hasPath } from '../../change/sorted-paths.ts'
import { once, oncePer, whileSame } from '../../findings/once.ts'
import { readAuthority, type Authority } from './authority.ts'
import { coverageOf, type Coverage } from './coverage.ts'
import { requiredApprovalsOf, type RequiredApprovals } from './required-approvals.ts'
import { findSuspiciousPaths } from './suspicious-paths.ts'
import { surveyedParts, type Surveyed } from './surveyed.ts'

/** Everything except answers that judging and commands need. */
export interface Survey extends RequiredApprovals {
  readonly authority: Authority
  readonly packages: number
  readonly covers: () => Coverage
}

export const survey = (input: Surveyed): Survey => surveysOf(input.change)(input)

/** The effect of the change, to store with an approval and compare later. */
export const coverage = (input: Surveyed): Coverage => survey(input).covers()

const surveysOf = oncePer((_change: Change) => whileSame(surveyedParts, makeSurvey))

function makeSurvey(input: Surveyed): Survey {
  const authority = readAuthority(baseTree(input), input.config)
  const result = readAuthority(resultTree(input), input.config)
  const { required, outside, findings } = requiredApprovalsOf(input, authority, result)
  return {
    authority,
    required,
    outside,
    findings: [...findSuspiciousPaths(input), ...findings],
    packages: new Set(required.map((requirement) => requirement.package)).size,
    covers: once(() => coverageOf(input.change, required)),
  }
}

function baseTree(input: Surveyed): Parameters<typeof readAuthority>[0] {
  return {
    has: (path) => hasPath(input.basePaths, path),
    text: (path) => input.ownerFiles.base.get(path),
  }
}

/** The owner files of the merge result. Shows the change's effect on owners; never grants rights. */
function resultTree(input: Surveyed): Parameters<typeof readAuthority>[0] {
  const changed = new Map(input.change.paths.map(({ path, after }) => [path, after !== undefined]))
  return {
    has: (path) => changed.get(path) ?? hasPath(input.basePaths, path),
    text: (path) => input.ownerFiles.result.get(path),
  }
}
