// The image references of a repository's catalogs on served branches, and the owners of their packages.
import { minimatch } from 'minimatch'
import { parseImageReference } from '@catalog-bot/fbc/go/reference/image-reference'
import type { TreeSha } from '../pull-request/ids.ts'
import { classifyPath } from '../pull-request/layout/classify-path.ts'
import {
  isPossibleCompositeListPath,
  findCompositeListImageReferences,
  type LocatedImageReference,
} from '../pull-request/references/composite-list.ts'
import { readRepositoryLayout } from '../catalogs/find-layout.ts'
import type { RepositoryLayout } from '../pull-request/layout/layout.ts'
import type { TreePathEntry } from '../pull-request/change.ts'
import { collectCatalogImageReferences, isAllowedRegistry } from '../checks/images/named-image.ts'
import { formatPrincipal } from '../checks/ownership/principals.ts'
import type { Config } from '../config/config.ts'
import { catchTooLarge } from '../adapters/git/git-error.ts'
import type { MissingImageLocation } from '../report/missing-images-issue.ts'
import { readConfig, readOwnership } from '../catalogs/read-config.ts'
import type { JobContext } from '../jobs/job-context.ts'

export interface ScannedBranch {
  readonly branch?: string
  readonly tree: TreeSha
  readonly config: Config
  readonly layout: RepositoryLayout
  readonly entries: readonly TreePathEntry[]
}

/** Bounds what a glob can match. */
const maxScannedBranches = 50

/**
 * Returns the default branch first, then those its configuration names. Empty if that configuration is unreadable,
 * because image ownership is then unknown. Other branches with unreadable configuration are omitted.
 */
export async function loadScannedBranches(ctx: JobContext): Promise<readonly ScannedBranch[]> {
  const { forge, repository, app } = ctx
  const main = await forge.defaultBranch()
  const one = await loadScannedBranch(main)
  if (one === undefined) return []
  const scanned = [one]
  const globs = one.config.branches
  const branches = globs.length === 0 ? [] : await forge.branches()
  const served = branches.filter((name) => name !== main && globs.some((glob) => minimatch(name, glob)))
  for (const branch of served.sort().slice(0, maxScannedBranches)) {
    const other = await loadScannedBranch(branch)
    if (other !== undefined) scanned.push({ ...other, branch })
  }
  return scanned

  async function loadScannedBranch(branch: string): Promise<ScannedBranch | undefined> {
    await repository.fetch(branch)
    const tip = await repository.tip(branch)
    if (tip === undefined) return undefined
    const tree = await repository.treeOf(tip)
    const { config, findings } = await readConfig(repository, tree)
    if (findings.length > 0) {
      app.log.warn(
        { repository: forge.repository, branch },
        'the configuration is invalid; skipping the image scan of this branch',
      )
      return undefined
    }
    const entries = await repository.list(tree)
    const layout = await readRepositoryLayout(repository, entries, config.catalogs)
    return { tree, config, layout, entries }
  }
}

/** Distinct references of allowed registries, and how many exceed `budget`. */
export async function listImageReferences(
  scanned: readonly ScannedBranch[],
  budget: { readonly references: number; readonly hosts: number },
  ctx: JobContext,
): Promise<{ readonly references: readonly string[]; readonly left: number }> {
  const found = new Set<string>()
  const hosts = new Set<string>()
  const omitted = new Set<string>()
  for (const one of scanned)
    await forEachImageReference(one, ctx, ({ reference }) => {
      if (found.has(reference) || omitted.has(reference)) return
      const parsed = parseImageReference(reference).reference
      // Skip malformed references and registries that the repository does not allow.
      if (parsed === undefined || !isAllowedRegistry(parsed, one.config.images.registries)) return
      const fits = hosts.has(parsed.host) || hosts.size < budget.hosts
      if (!fits || found.size >= budget.references) return void omitted.add(reference)
      hosts.add(parsed.host)
      found.add(reference)
    })
  return { references: [...found], left: omitted.size }
}

export async function readImageReferenceLocations(
  references: ReadonlySet<string>,
  scanned: readonly ScannedBranch[],
  ctx: JobContext,
): Promise<{
  readonly places: ReadonlyMap<string, readonly MissingImageLocation[]>
  readonly owners: ReadonlyMap<string, readonly string[]>
}> {
  const locations = new Map<string, MissingImageLocation[]>()
  const owners = new Map<string, Set<string>>()
  for (const one of scanned) {
    const here: MissingImageLocation[] = []
    await forEachImageReference(one, ctx, ({ reference, package: name, bundle, role, at }, catalog) => {
      if (!references.has(reference)) return
      const location: MissingImageLocation = {
        package: name,
        bundle,
        role,
        file: at.file,
        line: at.line,
        ...(catalog !== undefined && { catalog }),
        ...(one.branch !== undefined && { branch: one.branch }),
      }
      const known = locations.get(reference)
      if (known === undefined) locations.set(reference, [location])
      else known.push(location)
      here.push(location)
    })
    await addImageReferenceOwners(owners, one, here, ctx)
  }
  return { places: locations, owners: new Map([...owners].map(([name, people]) => [name, [...people]])) }
}

async function forEachImageReference(
  { tree, layout, entries }: ScannedBranch,
  { app, repository }: JobContext,
  see: (reference: LocatedImageReference, catalog?: string) => void,
): Promise<void> {
  for (const { root } of layout.catalogs) {
    const catalog = await app.loader.load(repository, tree, root)
    if (catalog !== undefined)
      for (const reference of collectCatalogImageReferences(catalog)) see(reference, root)
  }
  for (const { path, oid, mode } of entries) {
    if (mode !== '100644' || !isPossibleCompositeListPath(path)) continue
    const bytes = await catchTooLarge(repository.read(oid, 1024 * 1024))
    if (bytes !== undefined)
      for (const reference of findCompositeListImageReferences(path, bytes)) see(reference)
  }
}

async function addImageReferenceOwners(
  owners: Map<string, Set<string>>,
  { config, layout, entries }: ScannedBranch,
  locations: readonly MissingImageLocation[],
  { repository }: JobContext,
): Promise<void> {
  const spots = locations.map(({ file, package: name }) => {
    const role = classifyPath(file, layout)
    return { path: file, package: name, directory: ('directory' in role ? role.directory : undefined) ?? '' }
  })
  const authority = await readOwnership(repository, entries, config, spots)
  for (const { path, directory, package: name } of spots) {
    const people = owners.get(name) ?? new Set()
    for (const principal of authority.ownersOf(path, directory, name)) people.add(formatPrincipal(principal))
    owners.set(name, people)
  }
}
