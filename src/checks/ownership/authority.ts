// Finds the owners of a path: the union of all configured sources in one tree. Decisions use the base tip's tree. An
// invalid source does not grant authority.
import type { Config } from '../../config/config.ts'
import {
  createBrokenOwnerSource,
  type OwnerSourceReadResult,
  type OwnerSourceProblem,
  parseCatalogOwners,
  parseOwnershipCiYaml,
  configYamlPath,
  parseMaintainers,
} from './sources/owner-source.ts'
import { codeownersPaths } from '../../pull-request/layout/classify-path.ts'
import { generateAncestorDirectories } from '../../pull-request/layout/layout.ts'
import { findCodeowners, parseCodeownersFile } from './sources/codeowners.ts'
import type { CodeownersLine } from './sources/codeowners.ts'
import { catalogOwnersFileName, toPackageCiYamlPath } from './owner-files.ts'
import {
  ownersAliasesPath,
  findInheritedApprovers,
  ownersFileName,
  parseOwnersAliases,
  parseOwnersFile,
} from './sources/owners-file.ts'
import type { OwnersAliases, OwnersFile } from './sources/owners-file.ts'
import { removeDuplicatePrincipals, parsePrincipal, toPrincipalKey, type Principal } from './principals.ts'

export interface OwnershipAuthority {
  /** Owners of a package's part of `path`. `directory` is its package directory, '' if the layout has none. */
  ownersOf(path: string, directory: string, packageName?: string): readonly Principal[]
  readonly maintainers: readonly Principal[]
  /** Problems in the sources read so far, without duplicates. */
  problems(): readonly OwnerSourceProblem[]
}

export interface OwnerFileTreeReader {
  has(path: string): boolean
  text(path: string): string | undefined
}

const noOwners: readonly Principal[] = []

/** Reads each owner file once, when it is needed. */
export function readOwnershipAuthority(tree: OwnerFileTreeReader, config: Config): OwnershipAuthority {
  const sources = new Set(config.owners.sources)
  const problems = new Map<string, readonly OwnerSourceProblem[]>()
  const cached = new Map<string, OwnerSourceReadResult<unknown>>()

  function read<T>(
    path: string,
    parse: (file: string, text: string) => OwnerSourceReadResult<T>,
  ): OwnerSourceReadResult<T> | undefined {
    if (!tree.has(path)) return undefined
    if (!cached.has(path)) {
      const text = tree.text(path)
      const result =
        text === undefined
          ? createBrokenOwnerSource({ file: path, line: 1, column: 1 }, 'it could not be read')
          : parse(path, text)
      cached.set(path, result)
      if (result.kind === 'broken') problems.set(path, result.problems)
    }
    return cached.get(path) as OwnerSourceReadResult<T> | undefined
  }

  const fromCiYaml = (directory: string): readonly Principal[] => {
    const file = directory === '' ? undefined : read(toPackageCiYamlPath(directory), parseOwnershipCiYaml)
    return file?.kind === 'read' ? file.value.reviewers : []
  }

  const codeownersPath = codeownersPaths.find((candidate) => tree.has(candidate))
  const fromCodeowners = (path: string): readonly Principal[] => {
    const file =
      codeownersPath === undefined
        ? undefined
        : read<readonly CodeownersLine[]>(codeownersPath, parseCodeownersFile)
    return file?.kind === 'read' ? findCodeowners(path, file.value) : []
  }

  const fromOwners = (path: string): readonly Principal[] => {
    const aliases = read<OwnersAliases>(ownersAliasesPath, parseOwnersAliases)
    if (aliases?.kind === 'broken') return []
    const files = new Map<string, OwnerSourceReadResult<OwnersFile>>()
    for (const directory of generateAncestorDirectories(path)) {
      const file = read<OwnersFile>(
        directory === '' ? ownersFileName : `${directory}/${ownersFileName}`,
        parseOwnersFile,
      )
      if (file !== undefined) files.set(directory, file)
    }
    return findInheritedApprovers(path, files, aliases?.value ?? new Map()) ?? []
  }

  const fromCatalogOwners = (path: string): readonly Principal[] => {
    const people: Principal[] = []
    for (const directory of generateAncestorDirectories(path)) {
      const file = read(
        directory === '' ? catalogOwnersFileName : `${directory}/${catalogOwnersFileName}`,
        parseCatalogOwners,
      )
      if (file?.kind === 'broken') return []
      people.push(...(file?.value ?? []))
    }
    return people
  }

  const fromConfig = (names: readonly string[], where: 'packages' | 'maintainers'): readonly Principal[] => {
    const people: Principal[] = []
    const lists =
      where === 'maintainers'
        ? [config.owners.maintainers]
        : names
            .filter((name) => Object.hasOwn(config.owners.packages, name))
            .map((name) => config.owners.packages[name])
    for (const text of lists.flatMap((list) => list ?? [])) {
      const principal = parsePrincipal(text)
      // One bad name invalidates the whole list, as in every other source.
      if (principal === undefined) {
        problems.set(`config ${text}`, [
          {
            at: { file: '.github/catalog-bot.yml', line: 1, column: 1 },
            problem: `${JSON.stringify(text)} is not in the form login, login:id, or organization/team`,
          },
        ])
        return []
      }
      people.push(principal)
    }
    return people
  }

  const uses = (source: (typeof config.owners.sources)[number]): boolean => sources.has(source)

  /** Cached, because one file can declare many packages. */
  const ownersByPath = new Map<string, readonly Principal[]>()
  const lists = new Map<string, readonly Principal[]>()
  function findOwnersAt(path: string): readonly Principal[] {
    const before = ownersByPath.get(path)
    if (before) return before
    const found = removeDuplicatePrincipals([
      ...(uses('codeowners') ? fromCodeowners(path) : []),
      ...(uses('owners') ? fromOwners(path) : []),
      ...(uses('catalog-owners') ? fromCatalogOwners(path) : []),
    ])
    // Reuse equal lists, so that membership is checked once.
    const key = found.map(toPrincipalKey).join('\n')
    const one = lists.get(key) ?? found
    lists.set(key, one)
    ownersByPath.set(path, one)
    return one
  }

  function maintainers(): readonly Principal[] {
    const file = uses('config.yaml') ? read(configYamlPath, parseMaintainers) : undefined
    return removeDuplicatePrincipals([
      ...(file?.kind === 'read' ? file.value : []),
      ...fromConfig([], 'maintainers'),
    ])
  }

  return {
    ownersOf: (path, directory, packageName) => {
      // ci.yaml applies to a directory, and the configuration's map applies to a package. A directory's name also
      // counts as a package name.
      const directoryNames = directory !== '' ? [directory] : packageName === undefined ? [] : [packageName]
      const names = new Set(packageName === undefined ? directoryNames : [...directoryNames, packageName])
      const first = uses('ci.yaml') ? directoryNames.flatMap(fromCiYaml) : noOwners
      const found = findOwnersAt(path)
      const last = uses('packages') ? fromConfig([...names], 'packages') : noOwners
      return first.length + last.length === 0
        ? found
        : removeDuplicatePrincipals([...first, ...found, ...last])
    },
    maintainers: maintainers(),
    problems: () => [...problems.values()].flat(),
  }
}
