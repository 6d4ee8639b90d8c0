// Who owns a path: the union of all configured sources in one tree. Decisions use the base tip's tree. A broken source
// gives no authority.
import type { Config } from '../../config/config.ts'
import { readCatalogOwners } from './sources/catalog-owners.ts'
import { readCiYaml } from './sources/ci-yaml.ts'
import { codeownersPaths } from '../../change/layout/classify-path.ts'
import { foldersAbove } from '../../change/layout/layout.ts'
import { codeownersOf, readCodeowners } from './sources/codeowners.ts'
import type { CodeownersLine } from './sources/codeowners.ts'
import { configYamlPath, readMaintainers } from './sources/config-yaml.ts'
import { catalogOwnersName, ciYamlPath } from './owner-files.ts'
import { broken } from './sources/owner-source.ts'
import type { Read, SourceProblem } from './sources/owner-source.ts'
import { aliasesPath, approversOf, ownersName, readAliases, readOwnersFile } from './sources/owners-file.ts'
import type { Aliases, OwnersFile } from './sources/owners-file.ts'
import { distinct, parsePrincipal, principalKey } from './principal.ts'
import type { Principal } from './principal.ts'

export interface Authority {
  /** Owners of a package's part of `path`. `directory` is its package directory, '' if the layout has none. */
  ownersOf(path: string, directory: string, packageName?: string): readonly Principal[]
  readonly maintainers: readonly Principal[]
  /** Problems in the sources read so far, without duplicates. */
  problems(): readonly SourceProblem[]
}

export interface OwnerTexts {
  has(path: string): boolean
  text(path: string): string | undefined
}

const nobody: readonly Principal[] = []

/** Reads each owner file once, when it is needed. */
export function readAuthority(tree: OwnerTexts, config: Config): Authority {
  const sources = new Set(config.owners.sources)
  const problems = new Map<string, readonly SourceProblem[]>()
  const cached = new Map<string, Read<unknown>>()

  function read<T>(path: string, parse: (file: string, text: string) => Read<T>): Read<T> | undefined {
    if (!tree.has(path)) return undefined
    if (!cached.has(path)) {
      const text = tree.text(path)
      const result =
        text === undefined
          ? broken({ file: path, line: 1, column: 1 }, 'it could not be read')
          : parse(path, text)
      cached.set(path, result)
      if (result.kind === 'broken') problems.set(path, result.problems)
    }
    return cached.get(path) as Read<T> | undefined
  }

  const fromCiYaml = (directory: string): readonly Principal[] => {
    const file = directory === '' ? undefined : read(ciYamlPath(directory), readCiYaml)
    return file?.kind === 'read' ? file.value.reviewers : []
  }

  const place = codeownersPaths.find((candidate) => tree.has(candidate))
  const fromCodeowners = (path: string): readonly Principal[] => {
    const file = place === undefined ? undefined : read<readonly CodeownersLine[]>(place, readCodeowners)
    return file?.kind === 'read' ? codeownersOf(path, file.value) : []
  }

  const fromOwners = (path: string): readonly Principal[] => {
    const aliases = read<Aliases>(aliasesPath, readAliases)
    if (aliases?.kind === 'broken') return []
    const files = new Map<string, Read<OwnersFile>>()
    for (const directory of foldersAbove(path)) {
      const file = read<OwnersFile>(
        directory === '' ? ownersName : `${directory}/${ownersName}`,
        readOwnersFile,
      )
      if (file !== undefined) files.set(directory, file)
    }
    return approversOf(path, files, aliases?.value ?? new Map()) ?? []
  }

  const fromCatalogOwners = (path: string): readonly Principal[] => {
    const people: Principal[] = []
    for (const directory of foldersAbove(path)) {
      const file = read(
        directory === '' ? catalogOwnersName : `${directory}/${catalogOwnersName}`,
        readCatalogOwners,
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
            problem: `${JSON.stringify(text)} is not login, login:id or organization/team`,
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
  const byPlace = new Map<string, readonly Principal[]>()
  const lists = new Map<string, readonly Principal[]>()
  function fromPlace(path: string): readonly Principal[] {
    const before = byPlace.get(path)
    if (before) return before
    const found = distinct([
      ...(uses('codeowners') ? fromCodeowners(path) : []),
      ...(uses('owners') ? fromOwners(path) : []),
      ...(uses('catalog-owners') ? fromCatalogOwners(path) : []),
    ])
    // Reuse equal lists, so that membership is checked once.
    const key = found.map(principalKey).join('\n')
    const one = lists.get(key) ?? found
    lists.set(key, one)
    byPlace.set(path, one)
    return one
  }

  function maintainers(): readonly Principal[] {
    const file = uses('config.yaml') ? read(configYamlPath, readMaintainers) : undefined
    return distinct([...(file?.kind === 'read' ? file.value : []), ...fromConfig([], 'maintainers')])
  }

  return {
    ownersOf: (path, directory, packageName) => {
      // ci.yaml is per directory, the configuration's map per package; a directory's name counts as a package name,
      // too.
      const places = directory !== '' ? [directory] : packageName === undefined ? [] : [packageName]
      const names = new Set(packageName === undefined ? places : [...places, packageName])
      const first = uses('ci.yaml') ? places.flatMap(fromCiYaml) : nobody
      const found = fromPlace(path)
      const last = uses('packages') ? fromConfig([...names], 'packages') : nobody
      return first.length + last.length === 0 ? found : distinct([...first, ...found, ...last])
    },
    maintainers: maintainers(),
    problems: () => [...problems.values()].flat(),
  }
}
