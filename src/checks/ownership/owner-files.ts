// Finds the files that define owners, and those that a decision needs. Uses only names and paths.
import type { PullRequestChange } from '../../pull-request/change.ts'
import { codeownersPaths } from '../../pull-request/layout/classify-path.ts'
import { iterateAncestorDirectories } from '../../pull-request/layout/layout.ts'
import { createPathListFilter, hasPath } from '../../pull-request/incremental-path-list.ts'
import { configYamlPath } from './sources/owner-source.ts'
import { ownersAliasesPath, ownersFileName } from './sources/owners-file.ts'
import { findDeclaredPackages } from './declared-packages.ts'

export const catalogOwnersFileName = 'CATALOG_OWNERS'

export type OwnerFile =
  | { readonly kind: 'ci.yaml'; readonly directory: string }
  | { readonly kind: 'codeowners' }
  /** `directory` is the file's directory, '' for the root. */
  | { readonly kind: 'owners' | 'catalog-owners'; readonly directory: string }
  | { readonly kind: 'aliases' }
  | { readonly kind: 'config.yaml' }

const ownerFilePattern = /(?:^|\/)(?:OWNERS|CATALOG_OWNERS)$/
const filterOwnersFilePaths = createPathListFilter<string>((path) => ownerFilePattern.test(path))
const packageCiYamlPathPattern = /^operators\/(?<directory>[^/]+)\/ci\.yaml$/

/** Undefined for paths other than owner files. */
export function parseOwnerFilePath(path: string): OwnerFile | undefined {
  const directory = packageCiYamlPathPattern.exec(path)?.groups?.directory
  if (directory !== undefined) return { kind: 'ci.yaml', directory }
  if ((codeownersPaths as readonly string[]).includes(path)) return { kind: 'codeowners' }
  if (path === ownersAliasesPath) return { kind: 'aliases' }
  if (path === configYamlPath) return { kind: 'config.yaml' }
  const name = path.slice(path.lastIndexOf('/') + 1)
  const above = path.slice(0, Math.max(0, path.lastIndexOf('/')))
  if (name === ownersFileName) return { kind: 'owners', directory: above }
  if (name === catalogOwnersFileName) return { kind: 'catalog-owners', directory: above }
  return undefined
}

export const toPackageCiYamlPath = (directory: string): string => `operators/${directory}/ci.yaml`

/**
 * The owner files needed to decide on a change, sorted: those of the base for touched paths, and those that the change
 * touches. An existing file that was not read counts as broken.
 */
export function selectOwnerFilePathsToRead(basePaths: readonly string[], change: PullRequestChange) {
  const touched = new Set(
    change.paths.filter(({ path }) => parseOwnerFilePath(path) !== undefined).map(({ path }) => path),
  )
  const ownerPaths = new Set<string>()
  const addIfPresent = (path: string): void => {
    if (touched.has(path) || hasPath(basePaths, path)) ownerPaths.add(path)
  }
  for (const path of [...codeownersPaths, ownersAliasesPath, configYamlPath]) addIfPresent(path)
  const walked = new Set<string>()
  for (const { path, role } of change.paths) {
    for (const above of iterateAncestorDirectories(path)) {
      // Already walked, with everything above it.
      if (walked.has(above)) break
      walked.add(above)
      addIfPresent(joinPath(above, ownersFileName))
      addIfPresent(joinPath(above, catalogOwnersFileName))
    }
    if ('directory' in role && role.directory) addIfPresent(toPackageCiYamlPath(role.directory))
  }
  // An entry of a list belongs to its package, so any owner file of that package can apply.
  const listed = (change.lists ?? []).flatMap(({ added, removed, updated }) => [
    ...added,
    ...removed,
    ...updated,
  ])
  if (listed.length > 0) {
    for (const path of filterOwnersFilePaths(basePaths)) addIfPresent(path)
    const declared = change.catalogs.map(findDeclaredPackages)
    for (const { name } of listed)
      for (const home of [name, ...declared.flatMap((one) => [...one.homeDirectories(name)])])
        addIfPresent(toPackageCiYamlPath(home))
  }
  // Without package directories, only the package's name can be looked up.
  for (const catalog of change.catalogs)
    for (const { name } of catalog.packages) addIfPresent(toPackageCiYamlPath(name))
  return [...ownerPaths].toSorted()
}

/** Sorted. */
export function findOwnerFilePathsForPackages(
  paths: readonly string[],
  locations: readonly { readonly path: string; readonly directory: string; readonly package: string }[],
): string[] {
  const ownerPaths = new Set<string>([...codeownersPaths, ownersAliasesPath, configYamlPath])
  for (const { path, directory, package: name } of locations) {
    for (const above of iterateAncestorDirectories(path)) {
      ownerPaths.add(joinPath(above, ownersFileName))
      ownerPaths.add(joinPath(above, catalogOwnersFileName))
    }
    ownerPaths.add(toPackageCiYamlPath(directory === '' ? name : directory))
  }
  return paths.filter((path) => ownerPaths.has(path))
}

export function joinPath(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`
}
