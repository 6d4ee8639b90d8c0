// The approvals that a change requires. Cached, because each answer and each approval causes another evaluation.
import { memoizeOnce, memoizePerObject, memoizeLastResult } from '@catalog-bot/findings/memoize'
import type { Finding, Location } from '@catalog-bot/findings/finding'
import { createFinding } from '@catalog-bot/findings/rule'
import type { PullRequestChange } from '../../pull-request/change.ts'
import { hasPath } from '../../pull-request/incremental-path-list.ts'
import { OwnershipResolver } from './authority.ts'
import { computeApprovalCoverage, type ApprovalCoverage } from './approvals.ts'
import {
  computeRequiredApprovals,
  type RequiredApprovals,
  listPackageDirectories,
} from './required-approvals.ts'
import { ownershipInputKeys, type OwnershipInputs } from './owner-edit.ts'
import { classifyPath } from '../../pull-request/layout/classify-path.ts'
import { findCollidingPaths, isPackageName, computePackageNameSkeleton } from './colliding-paths.ts'
import { confusableNameRule, executableFileRule, unsupportedFileMode, suspiciousPath } from './rules.ts'
import { createRepositoryPathMapper } from './declared-packages.ts'

/** Everything except answers that the check and the commands need. */
export interface OwnershipContext extends RequiredApprovals {
  readonly authority: OwnershipResolver
  readonly packageCount: number
  readonly getCoverage: () => ApprovalCoverage
}

export const getOwnershipContext = (input: OwnershipInputs): OwnershipContext =>
  getOwnershipContextBuilder(input.change)(input)

/** The effect of the change, to store with an approval and compare later. */
export const getApprovalCoverageOfChange = (input: OwnershipInputs): ApprovalCoverage =>
  getOwnershipContext(input).getCoverage()

const getOwnershipContextBuilder = memoizePerObject((_change: PullRequestChange) =>
  memoizeLastResult(ownershipInputKeys, createOwnershipContext),
)

function createOwnershipContext(input: OwnershipInputs): OwnershipContext {
  const authority = new OwnershipResolver(
    { has: (path) => hasPath(input.basePaths, path), text: (path) => input.ownerFiles.base.get(path) },
    input.config,
  )
  const result = new OwnershipResolver(createMergeResultOwnerFileTree(input), input.config)
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

/** The owner files of the merge result. Shows the change's effect on owners. Never grants permissions. */
function createMergeResultOwnerFileTree(
  input: OwnershipInputs,
): ConstructorParameters<typeof OwnershipResolver>[0] {
  const changed = new Map(input.change.paths.map(({ path, after }) => [path, after !== undefined]))
  return {
    has: (path) => changed.get(path) ?? hasPath(input.basePaths, path),
    text: (path) => input.ownerFiles.result.get(path),
  }
}

/** Finds paths that no approval can allow: invalid paths, links, submodules, and look-alike names. Deletions are always allowed. */
function findSuspiciousPaths(input: OwnershipInputs): Finding[] {
  const { change } = input
  const arriving = change.paths.filter(({ after }) => after !== undefined)
  return [
    ...arriving.flatMap(({ path, role, after }) => {
      const at: Location = { file: path, line: 1, column: 1 }
      const found: Finding[] = []
      if (role.kind === 'infrastructure' && role.odd !== undefined)
        found.push(createFinding(suspiciousPath, at, { path, problem: role.odd }))
      if (after?.mode === '100755') {
        // The repository's scripts can be executable, because catalog-bot never merges changes to them.
        if (role.kind !== 'infrastructure') found.push(createFinding(executableFileRule, at, { path }))
      } else if (after && after.mode !== '100644')
        found.push(createFinding(unsupportedFileMode, at, { path, mode: after.mode }))
      return found
    }),
    ...findCollidingPaths(input),
    ...findConfusablePackageNames(input),
  ]
}

function findConfusablePackageNames(input: OwnershipInputs): Finding[] {
  const { change, layout } = input
  const existing = new Set(listPackageDirectories(input))
  for (const { base } of change.catalogs) for (const { name } of base?.packages ?? []) existing.add(name)
  for (const names of input.packagesByDirectory?.values() ?? []) for (const name of names) existing.add(name)
  for (const { names } of change.lists ?? []) for (const name of names) existing.add(name)
  const bySkeleton = new Map([...existing].map((name) => [computePackageNameSkeleton(name), name]))

  const fresh = new Map<string, Location>()
  for (const { path, after } of change.paths) {
    const role = classifyPath(path, layout)
    if (after && 'directory' in role && role.directory && !existing.has(role.directory))
      fresh.set(role.directory, { file: path, line: 1, column: 1 })
  }
  for (const catalog of change.catalogs) {
    const toPath = createRepositoryPathMapper(catalog)
    for (const { name, place } of catalog.result?.packages ?? [])
      if (!existing.has(name) && !fresh.has(name))
        fresh.set(name, { file: toPath(place.file), line: place.line, column: place.column })
  }

  for (const { path, added } of change.lists ?? [])
    for (const { name, mark } of added)
      if (!existing.has(name) && !fresh.has(name))
        fresh.set(name, { file: path, line: mark.line, column: mark.column })

  return [...fresh].flatMap(([name, at]) => {
    if (!isPackageName(name))
      return [
        createFinding(suspiciousPath, at, {
          path: at.file,
          problem: `the package name ${JSON.stringify(name)} must contain only lowercase letters, digits, and inner hyphens`,
        }),
      ]
    const like = bySkeleton.get(computePackageNameSkeleton(name))
    return like === undefined ? [] : [createFinding(confusableNameRule, at, { path: at.file, name, like })]
  })
}
