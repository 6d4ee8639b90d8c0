// Which files define owners, and which of them a decision needs. Names and places only.
import type { Change } from '../../change/change.ts'
import { codeownersPaths } from '../../change/layout/classify-path.ts'
import { foldersAbove } from '../../change/layout/layout.ts'
import { sublist } from '../../change/patched-list.ts'
import { hasPath } from '../../change/sorted-paths.ts'
import { configYamlPath } from './sources/config-yaml.ts'
import { aliasesPath, ownersName } from './sources/owners-file.ts'
import { declaredPackagesOf } from './declared-packages.ts'

export const catalogOwnersName = 'CATALOG_OWNERS'

export type OwnerFile =
  | { readonly kind: 'ci.yaml'; readonly directory: string }
  | { readonly kind: 'codeowners' }
  /** `directory` is the file's directory, '' for the root. */
  | { readonly kind: 'owners' | 'catalog-owners'; readonly directory: string }
  | { readonly kind: 'aliases' }
  | { readonly kind: 'config.yaml' }

const ownerFileNames = /(?:^|\/)(?:OWNERS|CATALOG_OWNERS)$/
const ownersIn = sublist<string>((path) => ownerFileNames.test(path))
const ciYaml = /^operators\/(?<directory>[^/]+)\/ci\.yaml$/

/** Undefined for paths other than owner files. */
export function ownerFileAt(path: string): OwnerFile | undefined {
  const directory = ciYaml.exec(path)?.groups?.directory
  if (directory !== undefined) return { kind: 'ci.yaml', directory }
  if ((codeownersPaths as readonly string[]).includes(path)) return { kind: 'codeowners' }
  if (path === aliasesPath) return { kind: 'aliases' }
  if (path === configYamlPath) return { kind: 'config.yaml' }
  const name = path.slice(path.lastIndexOf('/') + 1)
  const above = path.slice(0, Math.max(0, path.lastIndexOf('/')))
  if (name === ownersName) return { kind: 'owners', directory: above }
  if (name === catalogOwnersName) return { kind: 'catalog-owners', directory: above }
  return undefined
}

export const ciYamlPath = (directory: string): string => `operators/${directory}/ci.yaml`

/**
 * The owner files needed to decide on a change, sorted: those of the base for touched paths, and those that the change
 * touches. An existing file that was not read counts as broken.
 */
export function ownerFilePaths(basePaths: readonly string[], change: Change): string[] {
  const touched = new Set(
    change.paths.filter(({ path }) => ownerFileAt(path) !== undefined).map(({ path }) => path),
  )
  const wanted = new Set<string>()
  const want = (path: string): void => {
    if (touched.has(path) || hasPath(basePaths, path)) wanted.add(path)
  }
  for (const path of [...codeownersPaths, aliasesPath, configYamlPath]) want(path)
  const walked = new Set<string>()
  for (const { path, role } of change.paths) {
    for (const above of foldersAbove(path)) {
      // Already walked, with everything above it.
      if (walked.has(above)) break
      walked.add(above)
      want(join(above, ownersName))
      want(join(above, catalogOwnersName))
    }
    if ('directory' in role && role.directory) want(ciYamlPath(role.directory))
  }
  // An entry of a list belongs to its package, so any owner file of that package may apply.
  const listed = (change.lists ?? []).flatMap(({ added, removed, updated }) => [
    ...added,
    ...removed,
    ...updated,
  ])
  if (listed.length > 0) {
    for (const path of ownersIn(basePaths)) want(path)
    const declared = change.catalogs.map(declaredPackagesOf)
    for (const { name } of listed)
      for (const home of [name, ...declared.flatMap((one) => [...one.homes(name)])]) want(ciYamlPath(home))
  }
  // Without package directories, only the package's name can be looked up.
  for (const catalog of change.catalogs) for (const { name } of catalog.packages) want(ciYamlPath(name))
  return [...wanted].toSorted()
}

/** Sorted. */
export function ownerFilesOf(
  paths: readonly string[],
  places: readonly { readonly path: string; readonly directory: string; readonly package: string }[],
): string[] {
  const wanted = new Set<string>([...codeownersPaths, aliasesPath, configYamlPath])
  for (const { path, directory, package: name } of places) {
    for (const above of foldersAbove(path)) {
      wanted.add(join(above, ownersName))
      wanted.add(join(above, catalogOwnersName))
    }
    wanted.add(ciYamlPath(directory === '' ? name : directory))
  }
  return paths.filter((path) => wanted.has(path))
}

function join(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`
}
