// The approvals that a change requires. Cached, because each answer and each approval causes another evaluation.
import type { PullRequestChange } from '../../pull-request/change.ts'
import { hasPath } from '../../pull-request/sorted-paths.ts'
import { memoizeOnce, memoizePerObject, memoizeLast } from '@catalog-bot/findings/memoize'
import { readOwnershipAuthority, type OwnershipAuthority } from './authority.ts'
import { computeApprovalCoverage, type ApprovalCoverage } from './coverage.ts'
import { computeRequiredApprovals, type RequiredApprovals } from './required-approvals.ts'
import { findSuspiciousPaths } from './suspicious-paths.ts'
import { ownershipInputKeys, type OwnershipInputs } from './ownership-inputs.ts'

/** Everything except answers that the check and the commands need. */
export interface OwnershipContext extends RequiredApprovals {
  readonly authority: OwnershipAuthority
  readonly packageCount: number
  readonly getCoverage: () => ApprovalCoverage
}

export const getOwnershipContext = (input: OwnershipInputs): OwnershipContext =>
  getOwnershipContextBuilder(input.change)(input)

/** The effect of the change, to store with an approval and compare later. */
export const computeChangeCoverage = (input: OwnershipInputs): ApprovalCoverage =>
  getOwnershipContext(input).getCoverage()

const getOwnershipContextBuilder = memoizePerObject((_change: PullRequestChange) =>
  memoizeLast(ownershipInputKeys, createOwnershipContext),
)

function createOwnershipContext(input: OwnershipInputs): OwnershipContext {
  const authority = readOwnershipAuthority(createBaseOwnerFileTree(input), input.config)
  const result = readOwnershipAuthority(createResultOwnerFileTree(input), input.config)
  const { required, outside, findings } = computeRequiredApprovals(input, authority, result)
  return {
    authority,
    required,
    outside,
    findings: [...findSuspiciousPaths(input), ...findings],
    packageCount: new Set(required.map((requirement) => requirement.package)).size,
    getCoverage: memoizeOnce(() => computeApprovalCoverage(input.change, required)),
  }
}

function createBaseOwnerFileTree(input: OwnershipInputs): Parameters<typeof readOwnershipAuthority>[0] {
  return {
    has: (path) => hasPath(input.basePaths, path),
    text: (path) => input.ownerFiles.base.get(path),
  }
}

/** The owner files of the merge result. Shows the change's effect on owners. Never grants permissions. */
function createResultOwnerFileTree(input: OwnershipInputs): Parameters<typeof readOwnershipAuthority>[0] {
  const changed = new Map(input.change.paths.map(({ path, after }) => [path, after !== undefined]))
  return {
    has: (path) => changed.get(path) ?? hasPath(input.basePaths, path),
    text: (path) => input.ownerFiles.result.get(path),
  }
}
