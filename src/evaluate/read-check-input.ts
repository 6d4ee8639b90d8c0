// The third stage: reads the checks' other inputs, apart from reviews and commands, from the repository and memory.
import {
  createBundleImageNameFormatter,
  formatPlaceholderImage,
  type ProjectedCatalog,
  type BundleImageNameFormatter,
  type PackageSources,
} from '../checks/bundles/projected-catalog.ts'
import { selectOwnerFilePathsToRead } from '../checks/ownership/owner-files.ts'
import type { CheckInput } from '../checks/check.ts'
import type { BlobSha, TreeSha } from '../pull-request/ids.ts'
import type { TreeReader } from '../ports/repository.ts'
import { readTextBlobOrEmpty, type CatalogLoader } from '../catalogs/catalog-loader.ts'
import { readPackagesByDirectory } from '../catalogs/find-layout.ts'
import { readPublishedBundles } from '../catalogs/read-bundle-files.ts'
import type { TreeComparison } from './compare-trees.ts'
import type { EvaluatePullOptions } from './evaluate-options.ts'
import { readBundleDirectories } from './read-bundle-directories.ts'
import { readTemplates } from './read-templates.ts'
import { readServedPackages } from './served-packages.ts'
import type { BaseBranchState } from './load-base.ts'
import {
  projectCatalogsFromDirectories,
  projectCatalogsFromTemplates,
  listTemplatesToRelease,
  type LoadedTemplate,
} from '../checks/bundles/project-catalogs.ts'
import { isGitError } from '../adapters/git/git-error.ts'

interface CatalogProjectionContext {
  readonly repository: TreeReader
  readonly loader: CatalogLoader
  readonly base: TreeSha
  readonly result: TreeSha
}

/** A release touches fewer. Each package costs rendering its catalogs. */
const maxProjectedPackages = 20

/** Four times the largest public one. Amending a larger one could lose values (plain-json.ts). */
const maxProjectedTemplateBytes = 1024 * 1024

/** Rejects with a GitError or StoreError. */
export async function readCheckInput(
  { snapshot, baseTree, basePaths, config, configDigest, epoch }: BaseBranchState,
  { change, layout, links, treeReader, resultPaths, resultTree, carried, pulls }: TreeComparison,
  { loader, memory, demandsSignatures: requiresSignedCommits = false, opm }: EvaluatePullOptions,
): Promise<CheckInput> {
  const ctx = { repository: treeReader, loader, tree: baseTree }
  const directories = await readPackagesByDirectory(change, layout, basePaths, ctx)
  const published = await readPublishedBundles(change, layout, basePaths, ctx)
  const sides = { repository: treeReader, loader, base: baseTree, result: resultTree }
  const bundleDirectories = await readBundleDirectories(change, { ...sides, layout })
  const ownerPaths = selectOwnerFilePathsToRead(basePaths, change)
  return {
    // Logins stay with the account first seen, because a released login can be registered by another person (T25).
    accounts: await memory.firstSeenAccounts(snapshot.repository, new Map()),
    snapshot,
    config,
    configDigest,
    epoch,
    layout,
    change,
    basePaths,
    packagesByDirectory: directories,
    published,
    ownerFiles: await readBaseAndResultOwnerFiles(
      treeReader,
      { base: baseTree, result: resultTree },
      ownerPaths,
    ),
    approvals: [],
    bundleDirectories,
    projectedCatalogs: await readProjectedCatalogs(
      bundleDirectories,
      sides,
      createBundleImageNameFormatter(config.bundles.image),
    ),
    incomingCommits: { ...carried.commits, pulls },
    requiresSignedCommits,
    served: await readServedPackages(change, treeReader, resultTree, opm),
    templates: await readTemplates(change, layout, {
      links: links.map(({ path }) => path),
      repository: treeReader,
      loader,
      config,
      base: { tree: baseTree, paths: basePaths },
      result: { tree: resultTree, paths: resultPaths },
    }),
  }
}

export async function readBaseAndResultOwnerFiles(
  repository: TreeReader,
  trees: { readonly base: TreeSha; readonly result: TreeSha },
  paths: readonly string[],
): Promise<CheckInput['ownerFiles']> {
  const texts = new Map<BlobSha, Promise<string>>()
  const textOf = (oid: BlobSha): Promise<string> => {
    const text = texts.get(oid) ?? readTextBlobOrEmpty(repository, oid)
    texts.set(oid, text)
    return text
  }
  const readSide = async (tree: TreeSha): Promise<ReadonlyMap<string, string>> => {
    const found = await Promise.all(
      paths.map(async (path) => {
        const entry = await repository.entry(tree, path)
        const isFile = entry?.mode.startsWith('100') === true
        return isFile ? [[path, await textOf(entry.oid)] as const] : []
      }),
    )
    return new Map(found.flat())
  }
  const [base, result] = await Promise.all([readSide(trees.base), readSide(trees.result)])
  return { base, result }
}

/** Rejects with a GitError. */
export async function readProjectedCatalogs(
  directories: readonly PackageSources[],
  ctx: CatalogProjectionContext,
  imageOf: BundleImageNameFormatter = formatPlaceholderImage,
): Promise<readonly ProjectedCatalog[]> {
  const found: ProjectedCatalog[] = []
  for (const sources of directories.slice(0, maxProjectedPackages)) {
    const templates = new Map<string, LoadedTemplate>()
    for (const { template_name: name, catalog_names: catalogs } of listTemplatesToRelease(sources))
      templates.set(name, await readTemplateForProjection(sources.directory, name, catalogs, ctx))
    found.push(
      ...projectCatalogsFromTemplates(sources, templates, imageOf),
      ...projectCatalogsFromDirectories(sources, imageOf),
    )
  }
  return found
}

async function readTemplateForProjection(
  directory: string,
  name: string,
  catalogs: readonly string[],
  { repository, loader, base, result }: CatalogProjectionContext,
): Promise<LoadedTemplate> {
  const loaded = await Promise.all(
    catalogs.map((catalog) => loader.load(repository, base, `catalogs/${catalog}/${directory}`)),
  )
  const known = loaded.filter((catalog) => catalog !== undefined)
  const entry = await repository.entry(result, `operators/${directory}/catalog-templates/${name}`)
  if (entry?.mode.startsWith('100') !== true) return { known }
  try {
    return { known, bytes: await repository.read(entry.oid, maxProjectedTemplateBytes) }
  } catch (error) {
    if (isGitError(error, 'too-large')) return { known, isTooLarge: true }
    throw error
  }
}
