// The owners of a path, from all configured sources in one tree. An invalid source does not grant authority.
import type { Config } from '../../config/config.ts'
import {
  createBrokenOwnerSourceResult,
  type OwnerSourceReadResult,
  type OwnerSourceProblem,
  parseCatalogOwners,
  parseOwnershipCiYaml,
  configYamlPath,
  parseMaintainers,
} from './sources/owner-source.ts'
import { codeownersPaths } from '../../pull-request/layout/classify-path.ts'
import { iterateAncestorDirectories } from '../../pull-request/layout/layout.ts'
import { findCodeowners, parseCodeownersFile } from './sources/codeowners.ts'
import { catalogOwnersFileName, toPackageCiYamlPath, joinPath } from './owner-files.ts'
import {
  ownersAliasesPath,
  findInheritedApprovers,
  ownersFileName,
  parseOwnersAliases,
  parseOwnersFile,
  type OwnersFile,
} from './sources/owners-file.ts'
import { removeDuplicatePrincipals, parsePrincipal, toPrincipalKey, type Principal } from './principals.ts'

export interface OwnerFileTreeReader {
  has(path: string): boolean
  text(path: string): string | undefined
}

/** Reads each owner file once, when it is needed. */
export class OwnershipResolver {
  readonly maintainers: readonly Principal[]
  readonly #tree: OwnerFileTreeReader
  readonly #config: Config
  readonly #sources: ReadonlySet<Config['owners']['sources'][number]>
  readonly #codeownersPath: string | undefined
  readonly #problems = new Map<string, readonly OwnerSourceProblem[]>()
  readonly #files = new Map<string, OwnerSourceReadResult<unknown>>()
  /** Cached, because one file can declare many packages. */
  readonly #ownersByPath = new Map<string, readonly Principal[]>()
  readonly #lists = new Map<string, readonly Principal[]>()

  constructor(tree: OwnerFileTreeReader, config: Config) {
    this.#tree = tree
    this.#config = config
    this.#sources = new Set(config.owners.sources)
    this.#codeownersPath = codeownersPaths.find((candidate) => tree.has(candidate))
    this.maintainers = this.#readMaintainers()
  }

  /** Owners of a package's part of `path`. `directory` is its package directory, '' if the layout has none. */
  ownersOf(path: string, directory: string, packageName?: string): readonly Principal[] {
    // ci.yaml applies to a directory, the configuration's map to a package. A directory counts as a name too.
    const directoryNames = directory !== '' ? [directory] : packageName === undefined ? [] : [packageName]
    const names = new Set(packageName === undefined ? directoryNames : [...directoryNames, packageName])
    const first = this.#sources.has('ci.yaml') ? directoryNames.flatMap((name) => this.#readCiYaml(name)) : []
    const found = this.#findOwnersAt(path)
    const last = this.#sources.has('packages')
      ? this.#parseConfiguredOwners(
          [...names]
            .filter((name) => Object.hasOwn(this.#config.owners.packages, name))
            .flatMap((name) => this.#config.owners.packages[name] ?? []),
        )
      : []
    return first.length + last.length === 0 ? found : removeDuplicatePrincipals([...first, ...found, ...last])
  }

  /** Problems in the sources read so far, without duplicates. */
  problems(): readonly OwnerSourceProblem[] {
    return [...this.#problems.values()].flat()
  }

  #read<T>(path: string, parse: (file: string, text: string) => OwnerSourceReadResult<T>) {
    if (!this.#tree.has(path)) return undefined
    if (!this.#files.has(path)) {
      const text = this.#tree.text(path)
      const result =
        text === undefined
          ? createBrokenOwnerSourceResult({ file: path, line: 1, column: 1 }, 'the file could not be read')
          : parse(path, text)
      this.#files.set(path, result)
      if (result.kind === 'broken') this.#problems.set(path, result.problems)
    }
    return this.#files.get(path) as OwnerSourceReadResult<T> | undefined
  }

  #readMaintainers(): readonly Principal[] {
    const file = this.#sources.has('config.yaml') ? this.#read(configYamlPath, parseMaintainers) : undefined
    return removeDuplicatePrincipals([
      ...(file?.kind === 'read' ? file.value : []),
      ...this.#parseConfiguredOwners(this.#config.owners.maintainers),
    ])
  }

  #findOwnersAt(path: string): readonly Principal[] {
    const before = this.#ownersByPath.get(path)
    if (before) return before
    const found = removeDuplicatePrincipals([
      ...(this.#sources.has('codeowners') ? this.#readCodeowners(path) : []),
      ...(this.#sources.has('owners') ? this.#readOwners(path) : []),
      ...(this.#sources.has('catalog-owners') ? this.#readCatalogOwners(path) : []),
    ])
    // Reuse equal lists, so that membership is checked once.
    const key = found.map(toPrincipalKey).join('\n')
    const one = this.#lists.get(key) ?? found
    this.#lists.set(key, one)
    this.#ownersByPath.set(path, one)
    return one
  }

  #readCiYaml(directory: string): readonly Principal[] {
    const file =
      directory === '' ? undefined : this.#read(toPackageCiYamlPath(directory), parseOwnershipCiYaml)
    return file?.kind === 'read' ? file.value.reviewers : []
  }

  #readCodeowners(path: string): readonly Principal[] {
    const file =
      this.#codeownersPath === undefined ? undefined : this.#read(this.#codeownersPath, parseCodeownersFile)
    return file?.kind === 'read' ? findCodeowners(path, file.value) : []
  }

  #readOwners(path: string): readonly Principal[] {
    const aliases = this.#read(ownersAliasesPath, parseOwnersAliases)
    if (aliases?.kind === 'broken') return []
    const files = new Map<string, OwnerSourceReadResult<OwnersFile>>()
    for (const directory of iterateAncestorDirectories(path)) {
      const file = this.#read(joinPath(directory, ownersFileName), parseOwnersFile)
      if (file !== undefined) files.set(directory, file)
    }
    return findInheritedApprovers(path, files, aliases?.value ?? new Map()) ?? []
  }

  #readCatalogOwners(path: string): readonly Principal[] {
    const people: Principal[] = []
    for (const directory of iterateAncestorDirectories(path)) {
      const file = this.#read(joinPath(directory, catalogOwnersFileName), parseCatalogOwners)
      if (file?.kind === 'broken') return []
      people.push(...(file?.value ?? []))
    }
    return people
  }

  #parseConfiguredOwners(texts: readonly string[]): readonly Principal[] {
    const people: Principal[] = []
    for (const text of texts) {
      const principal = parsePrincipal(text)
      // One bad name invalidates the whole list, as in every other source.
      if (principal === undefined) {
        this.#problems.set(`config ${text}`, [
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
}
