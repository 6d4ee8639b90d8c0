// Determines which approvals a change requires, by path: its packages, their owners at the base, and its kind.
import {
  type RepositoryLayout,
  parseBundlePath,
  hasBundleManifests,
} from '../../pull-request/layout/layout.ts'
import { classifyPath } from '../../pull-request/layout/classify-path.ts'
import { createDistinctKeyCollector, hasPathInDirectory } from '../../pull-request/incremental-path-list.ts'
import type { PackageChange, CompositeListFileChange, TouchedPath } from '../../pull-request/change.ts'
import type { ChangeKind } from '../../config/change-kinds.ts'
import type { Finding, Location } from '@catalog-bot/findings/finding'
import { createFinding } from '@catalog-bot/findings/rule'
import { isIgnoreFile } from '@catalog-bot/fbc/load/select-files'
import { analyzeOwnerFileEdit, type OwnerFileEdit, type OwnershipInputs } from './owner-edit.ts'
import type { OwnershipResolver } from './authority.ts'
import { parseOwnerFilePath } from './owner-files.ts'
import type { Principal } from './principals.ts'
import {
  createRepositoryPathMapper,
  findDeclaredPackages,
  type PackageDeclarationIndex,
  findTouchedChannels,
} from './declared-packages.ts'
import { packageContentMismatchRule } from './rules.ts'
import { memoizePerObject, getOrCreate } from '@catalog-bot/findings/memoize'

export interface RequiredApproval {
  readonly path: string
  readonly at: Location
  readonly catalog?: string
  /** The path's package directory; '' if the layout has none. */
  readonly directory: string
  /** The changed package or, if no blob names one, the directory. */
  readonly package: string
  readonly kinds: readonly ChangeKind[]
  /** The channels that the change affects. Absent: unknown. */
  readonly channels?: readonly string[]
  readonly owners: readonly Principal[]
  /** For an owner file: the effect on owners. */
  readonly ownerEdit?: OwnerFileEdit
}

export interface RequiredApprovals {
  readonly required: readonly RequiredApproval[]
  readonly outside: readonly TouchedPath[]
  /** Changes that no approval can allow. */
  readonly findings: readonly Finding[]
}

export function computeRequiredApprovals(
  input: OwnershipInputs,
  authority: OwnershipResolver,
  result: OwnershipResolver,
): RequiredApprovals {
  const known = new BasePackageIndex(input)
  const required: RequiredApproval[] = []
  const outside: TouchedPath[] = []
  const findings: Finding[] = []
  // Not `push(...found.required)`: one file can hold more packages than a call takes arguments.
  const addOfFile = (found: ReturnType<typeof findRequiredCatalogApprovals>): void => {
    for (const requirement of found?.required ?? []) required.push(requirement)
    for (const finding of found?.findings ?? []) findings.push(finding)
  }
  const lists = new Map(input.change.lists?.map((list) => [list.path, list]))
  for (const path of input.change.paths) {
    const { role } = path
    const at: Location = { file: path.path, line: 1, column: 1 }
    if (role.kind === 'infrastructure') outside.push(path)
    else if (role.kind === 'references') {
      const list = lists.get(path.path)
      if (list === undefined) outside.push(path)
      else
        for (const requirement of findRequiredCompositeListApprovals(list, input, known, authority))
          required.push(requirement)
    } else if (role.kind === 'owners') {
      if (role.directory === undefined) outside.push(path)
      else {
        const owners = authority.ownersOf(path.path, role.directory)
        const edit = analyzeOwnerFileEdit(path, input, owners, authority, result)
        findings.push(...edit.findings)
        const kind = edit.changesOwners ? 'edit-owners' : 'edit-sources'
        required.push(toRequiredApprovalForDirectory(path, role.directory, known, kind, owners, edit))
      }
    } else if (role.kind === 'operator')
      required.push(
        toRequiredApprovalForDirectory(
          path,
          role.directory,
          known,
          classifyPackageSourceChange(path, input.basePaths),
          authority.ownersOf(path.path, role.directory),
        ),
      )
    else {
      const found = findRequiredCatalogApprovals(path, role, at, known, authority)
      if (found === undefined) outside.push(path)
      else addOfFile(found)
    }
  }
  for (const { path, role, at } of listExposedCatalogFiles(input))
    addOfFile(findRequiredCatalogApprovals({ path }, role, at, known, authority))
  return {
    required: [...required, ...findRequiredIndirectApprovals(input, known, required, authority)],
    outside,
    findings: [...findings, ...findBundleNameConflicts(input)],
  }
}

/** Unchanged files that an ignore file no longer hides. They count as if the pull request added them. */
function listExposedCatalogFiles({ change, layout }: OwnershipInputs) {
  const touched = new Set(change.paths.map(({ path }) => path))
  if (![...touched].some(isIgnoreFile)) return []
  return change.catalogs.flatMap((catalog) => {
    const toPath = createRepositoryPathMapper(catalog)
    const before = new Set(catalog.base?.files.map(({ path }) => path))
    const exposed = catalog.result?.files.filter(
      ({ path }) => !before.has(path) && !touched.has(toPath(path)),
    )
    return (exposed ?? []).flatMap((file) => {
      const path = toPath(file.path)
      const role = classifyPath(path, layout)
      return role.kind === 'catalog' ? [{ path, role, at: { file: path, line: 1, column: 1 } }] : []
    })
  })
}

/** For a file of a package outside catalogs. `kind` applies if the base has the package. */
function toRequiredApprovalForDirectory(
  { path }: TouchedPath,
  directory: string,
  known: BasePackageIndex,
  kind: ChangeKind,
  owners: readonly Principal[],
  ownerEdit?: OwnerFileEdit,
): RequiredApproval {
  return {
    path,
    at: { file: path, line: 1, column: 1 },
    directory,
    package: directory,
    kinds: [known.isDirectory(directory) ? kind : 'add-package'],
    owners,
    ...(ownerEdit && { ownerEdit }),
  }
}

/**
 * The kind of change to a package's file outside catalogs. A bundle directory of the base counts as published: images
 * were built from it.
 */
function classifyPackageSourceChange({ path, after }: TouchedPath, basePaths: readonly string[]): ChangeKind {
  const bundle = parseBundlePath(path)
  if (bundle === undefined) return 'edit-sources'
  if (!hasBundleManifests(basePaths, bundle.root)) return 'add-bundle'
  return after === undefined ? 'remove-bundle' : 'edit-bundle'
}

/** Undefined if neither the path nor the content belongs to a package. */
function findRequiredCatalogApprovals(
  path: Pick<TouchedPath, 'path'>,
  role: { readonly catalog: string; readonly directory: string },
  at: Location,
  known: BasePackageIndex,
  authority: OwnershipResolver,
): { required: RequiredApproval[]; findings: Finding[] } | undefined {
  const { directory } = role
  const declared = known.declared(role.catalog)
  const spoken = declared?.inFile(path.path) ?? new Map<string, never>()
  // The owners of one package cannot approve a new catalog.
  const fresh: readonly ChangeKind[] = known.isNewCatalog(role.catalog) ? ['add-catalog'] : []
  if (spoken.size === 0) {
    if (directory === '') return undefined
    const kind = known.isDirectory(directory) ? 'edit-sources' : 'add-package'
    const owners = authority.ownersOf(path.path, directory)
    return {
      required: [{ path: path.path, at, directory, package: directory, kinds: [...fresh, kind], owners }],
      findings: [],
    }
  }
  const required: RequiredApproval[] = []
  const findings: Finding[] = []
  for (const [name, mark] of spoken) {
    const location: Location = { file: path.path, line: mark.line, column: mark.column }
    const elsewhere = known.homes(name).filter((home) => home !== directory)
    const [home] = elsewhere
    if (home !== undefined && !known.holds(directory, name))
      findings.push(
        createFinding(packageContentMismatchRule, location, {
          path: path.path,
          package: name,
          home: home === '' ? 'the catalog' : home,
        }),
      )
    const change = known.change(role.catalog, name)
    const ofPackage = change ? classifyPackageChange(change, known.has(name, directory, role.catalog)) : []
    const kinds: ChangeKind[] = [...fresh, ...ofPackage]
    if (ofPackage.length === 0) kinds.push('edit-sources')
    // Both the directory's owners and the package's owners must approve.
    for (const at of [directory, ...elsewhere]) {
      const where =
        at === directory ? path.path : [role.catalog, at, 'catalog.yaml'].filter(Boolean).join('/')
      required.push({
        path: path.path,
        at: location,
        catalog: role.catalog,
        directory: at,
        package: name,
        kinds,
        ...(change && { channels: known.channels(role.catalog, change) }),
        owners: authority.ownersOf(where, at, name),
      })
    }
  }
  return { required, findings }
}

/** The changed entries of a composite list. Each belongs to its package, wherever that is at the base. */
function findRequiredCompositeListApprovals(
  list: CompositeListFileChange,
  input: OwnershipInputs,
  known: BasePackageIndex,
  authority: OwnershipResolver,
): RequiredApproval[] {
  const { path } = list
  const entries: { name: string; kind: ChangeKind; line: number; column: number }[] = [
    ...list.added.map(({ name, mark }) => ({ name, kind: 'add-package' as const, ...mark })),
    ...list.removed.map(({ name }) => ({ name, kind: 'remove-package' as const, line: 1, column: 1 })),
    ...list.updated.map(({ name, before, after, mark }) => ({
      name,
      kind: before === after ? ('edit-sources' as const) : ('update-reference' as const),
      ...mark,
    })),
  ]
  return entries.flatMap(({ name, kind, line, column }) => {
    const homes = known.homes(name).filter((home) => home !== '')
    const folders = homes.flatMap((home) =>
      input.layout.catalogs
        .map(({ root }) => (root === '' ? home : `${root}/${home}`))
        .filter((folder) => known.isFolder(folder))
        .map((folder) => ({ where: `${folder}/catalog.yaml`, home })),
    )
    // Sources without a catalog: the operator's directory counts as the package.
    const beside = homes
      .filter((home) => !folders.some((located) => located.home === home))
      .map((home) => ({ where: `operators/${home}/ci.yaml`, home }))
    const sources = [...folders, ...beside]
    if (sources.length === 0) sources.push({ where: path, home: '' })
    const distinct = new Map<string, readonly Principal[]>()
    for (const { where, home } of sources) {
      const owners = authority.ownersOf(where, home, name)
      distinct.set(JSON.stringify(owners), owners)
    }
    // No directory: an approval carries over for the whole list only, not for one package's files.
    return [...distinct.values()].map((owners): RequiredApproval => ({
      path,
      at: { file: path, line, column },
      directory: '',
      package: name,
      kinds: [kind],
      owners,
    }))
  })
}

/** `exists`: whether the base already has the package, possibly in another catalog. */
function classifyPackageChange(change: PackageChange, exists: boolean): readonly ChangeKind[] {
  if (change.kind === 'added') return [exists ? 'add-to-catalog' : 'add-package']
  if (change.kind === 'removed') return ['remove-package']
  const { bundles, channels, deprecations } = change
  const kinds = new Set<ChangeKind>()
  if (bundles.added.length > 0) kinds.add('add-bundle')
  if (bundles.changed.length > 0) kinds.add('edit-bundle')
  if (bundles.removed.length > 0) kinds.add('remove-bundle')
  if (channels.added.length > 0) kinds.add('add-edge')
  if (channels.removed.length > 0) kinds.add('remove-channel')
  for (const { entries } of channels.changed) {
    kinds.add(entries.removed.length > 0 ? 'remove-entry' : 'add-edge')
    if (entries.added.length > 0 || entries.changed.length > 0) kinds.add('add-edge')
  }
  if (change.defaultChannel) kinds.add('edit-default-channel')
  if (change.metadata.length > 0 || change.others > 0) kinds.add('edit-metadata')
  if (deprecations.added.length + deprecations.removed.length + deprecations.changed.length > 0)
    kinds.add('deprecate')
  // Changes without a catalog effect: comments, order, formatting.
  return kinds.size === 0 ? ['edit-sources'] : [...kinds]
}

/**
 * A package that changes although no touched path declares it, because a file elsewhere, such as an ignore file, hides
 * or exposes it. The owners of each of its directories must still approve, because one file can be in another directory.
 */
function findRequiredIndirectApprovals(
  input: OwnershipInputs,
  known: BasePackageIndex,
  required: readonly RequiredApproval[],
  authority: OwnershipResolver,
): RequiredApproval[] {
  const spoken = new Map<string, Set<string>>(input.change.catalogs.map(({ root }) => [root, new Set()]))
  for (const { catalog, package: name } of required) if (catalog !== undefined) spoken.get(catalog)?.add(name)
  return input.change.catalogs.flatMap(({ root, packages }) =>
    packages
      .filter(({ name }) => spoken.get(root)?.has(name) !== true)
      .flatMap((change) => {
        const directories = new Set([...change.directories, ...known.homes(change.name)])
        return [...directories].map((directory): RequiredApproval => {
          const path = [root, directory].filter((part) => part !== '').join('/')
          return {
            path,
            at: { file: path, line: 1, column: 1 },
            catalog: root,
            directory,
            package: change.name,
            kinds: classifyPackageChange(change, known.has(change.name, directory, root)),
            channels: known.channels(root, change),
            owners: authority.ownersOf(`${path}/catalog.yaml`, directory, change.name),
          }
        })
      }),
  )
}

/** New bundles with the name of another package's bundle. Both would claim the same ClusterServiceVersion. */
function findBundleNameConflicts({ change }: OwnershipInputs): Finding[] {
  return change.catalogs.flatMap((catalog) => {
    const { result, packages } = catalog
    const toPath = createRepositoryPathMapper(catalog)
    const owners = new Map<string, Set<string>>()
    for (const { name, package: owner } of result?.bundles ?? [])
      owners.set(name, (owners.get(name) ?? new Set()).add(owner))
    return packages.flatMap(({ name: packageName, bundles }) =>
      bundles.added.flatMap(({ name, place }) => {
        const other = findFirstDifferentName(owners.get(name) ?? [], packageName)
        if (other === undefined) return []
        const path = toPath(place.file)
        const at: Location = { file: path, line: place.line, column: place.column }
        return [
          createFinding(packageContentMismatchRule, at, {
            path,
            package: packageName,
            home: other,
            bundle: name,
          }),
        ]
      }),
    )
  })
}

function findFirstDifferentName(names: Iterable<string>, name: string): string | undefined {
  for (const other of names) if (other !== name) return other
  return undefined
}

/** The packages and directories of the base, as far as known. */
class BasePackageIndex {
  readonly #input: OwnershipInputs
  readonly #newCatalogs: ReadonlySet<string>
  readonly #held = new Map<string, ReadonlySet<string>>()
  readonly #directories: ReadonlySet<string>
  readonly #declared: ReadonlyMap<string, PackageDeclarationIndex>
  readonly #changes: ReadonlyMap<string, ReadonlyMap<string, PackageChange>>

  constructor(input: OwnershipInputs) {
    this.#input = input
    this.#newCatalogs = new Set(
      input.change.catalogs.filter(({ base }) => !base?.files.length).map(({ root }) => root),
    )
    this.#directories = listPackageDirectories(input)
    this.#declared = new Map(
      input.change.catalogs.map((catalog) => [catalog.root, findDeclaredPackages(catalog)]),
    )
    this.#changes = new Map(
      input.change.catalogs.map(({ root, packages }) => [
        root,
        new Map(packages.map((change) => [change.name, change])),
      ]),
    )
  }

  change(root: string, name: string): PackageChange | undefined {
    return this.#changes.get(root)?.get(name)
  }

  channels(root: string, change: PackageChange): readonly string[] {
    return this.#channels(change)(root, this.#input)
  }
  readonly #channels = memoizePerObject((change: PackageChange) => {
    let known: readonly string[] | undefined
    return (root: string, { change: { catalogs } }: OwnershipInputs): readonly string[] =>
      (known ??= findTouchedChannels(catalogs.find((catalog) => catalog.root === root) ?? {}, change))
  })

  isFolder(path: string): boolean {
    return hasPathInDirectory(this.#input.basePaths, path)
  }

  /** Whether the base has no file of a touched catalog. */
  isNewCatalog(root: string): boolean {
    return this.#newCatalogs.has(root)
  }

  declared(root: string): PackageDeclarationIndex | undefined {
    return this.#declared.get(root)
  }

  isDirectory(name: string): boolean {
    return this.#directories.has(name)
  }

  /** Packages of a directory at the base, in any catalog. */
  #namesIn(directory: string): ReadonlySet<string> {
    return getOrCreate(this.#held, directory, () => {
      const names = new Set(this.#input.packagesByDirectory?.get(directory))
      for (const declared of this.#declared.values())
        for (const name of declared.inDirectory(directory)) names.add(name)
      return names
    })
  }

  /**
   * Whether the base has this package in this directory: in this catalog or, if both have the same name, in any
   * catalog.
   */
  has(name: string, directory: string, root: string): boolean {
    const held = this.#namesIn(directory)
    if (held.has(name)) return true
    if (directory === '') return false
    // A directory with other packages gains one. An unreadable directory counts by its name.
    const here = this.#declared.get(root)?.inDirectory(directory).size ?? 0
    return here === 0 && held.size === 0 && name === directory && this.isDirectory(directory)
  }

  holds(directory: string, name: string): boolean {
    return this.#namesIn(directory).has(name)
  }

  /** Directories of a package at the base; '' for the catalog itself. A directory with the package's name counts. */
  homes(name: string): readonly string[] {
    const homes = new Set<string>()
    for (const declared of this.#declared.values())
      for (const home of declared.homeDirectories(name)) homes.add(home)
    for (const [directory, names] of this.#input.packagesByDirectory ?? [])
      if (names.includes(name)) homes.add(directory)
    if (this.isDirectory(name)) homes.add(name)
    return [...homes]
  }
}

/** The package directories of the base. Computed incrementally from one base to the next. */
export const listPackageDirectories = ({
  basePaths,
  layout,
}: Pick<OwnershipInputs, 'basePaths' | 'layout'>): ReadonlySet<string> =>
  getPackageDirectoryLister(layout)(basePaths)

/** Cache size. The branches of one process have few layouts, which differ only in the roots of their catalogs. */
const maxCachedDirectoryListers = 16
const packageDirectoryListerCache = new Map<string, (paths: readonly string[]) => ReadonlySet<string>>()

function getPackageDirectoryLister(layout: RepositoryLayout) {
  const key = JSON.stringify(layout.catalogs.map(({ root }) => root))
  const directoriesOf =
    packageDirectoryListerCache.get(key) ??
    createDistinctKeyCollector<string>((path) => findPackageDirectory(path, layout))
  packageDirectoryListerCache.delete(key)
  packageDirectoryListerCache.set(key, directoriesOf)
  for (const oldest of packageDirectoryListerCache.keys())
    if (packageDirectoryListerCache.size > maxCachedDirectoryListers)
      packageDirectoryListerCache.delete(oldest)
  return directoriesOf
}

function findPackageDirectory(path: string, layout: RepositoryLayout): string | undefined {
  const role = classifyPath(path, layout)
  if (!('directory' in role) || !role.directory) return undefined
  // Of the owner files, only ci.yaml makes a package exist: it describes the package.
  return role.kind !== 'owners' || parseOwnerFilePath(path)?.kind === 'ci.yaml' ? role.directory : undefined
}
