// The third stage: reads the checks' inputs, except reviews and commands, from the repository and the caches. Reads the
// served content only of the changed packages.
import {
  buildServedCatalog,
  parseServedCatalogFile,
  type ServedCatalogFile,
} from '@catalog-bot/fbc/api/served-catalog'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { CatalogServerResponse } from '@catalog-bot/fbc/api/api-types'
import {
  createBundleImageNameFormatter,
  formatPlaceholderImage,
  type PostReleaseCatalog,
  type BundleImageNameFormatter,
  type PackageDirectoryState,
} from '../checks/bundles/post-release-catalog.ts'
import { selectOwnerFilePathsToRead } from '../checks/ownership/owner-files.ts'
import type { CheckInput, CatalogServerPackageResponses } from '../checks/check.ts'
import type { BlobSha, TreeSha } from '../pull-request/ids.ts'
import type { TreeReader } from '../ports/repository.ts'
import { readTextBlobOrEmpty, type CatalogLoader } from '../catalogs/catalog-loader.ts'
import { readPackagesByDirectory } from '../catalogs/find-layout.ts'
import type { TreeComparison } from './compare-trees.ts'
import type { BaseBranchState, EvaluatePullOptions } from './load-base-branch.ts'
import { readBundleDirectories } from './read-bundle-directories.ts'
import { readTemplates } from './read-templates.ts'
import {
  computeCatalogsFromDirectories,
  computeCatalogsFromTemplates,
  listTemplatesUsedByReleases,
  type LoadedTemplate,
} from '../checks/bundles/project-catalogs.ts'
import { catchTooLarge } from '../adapters/git/git-error.ts'
import type { CatalogChange, PullRequestChange } from '../pull-request/change.ts'
import { toRepositoryPath } from '../pull-request/compare-blobs.ts'
import {
  getPackageFilePaths,
  hasBundleObjectProperties,
  simulateCatalogServerResponse,
} from '../checks/install/served-bundles.ts'
import { getOrCreate } from '@catalog-bot/findings/memoize'

interface OpmQueryOptions {
  readonly opm: string
  /** Milliseconds that are left for opm in this evaluation, and bytes that may be written for it. */
  readonly left: { milliseconds: number; bytes: number }
}

/** Limits over all catalogs. Beyond them nothing more is served, and the check reports it. */
const servedPackageReadLimits = { packages: 60, bytes: 64 * 1024 * 1024 }
/** Milliseconds for opm in one evaluation. opm reads entire catalogs and builds a cache for each. */
const opmTimeoutMs = 15_000

interface ServedPackageReadContext {
  readonly treeReader: TreeReader
  readonly tree: TreeSha
  readonly left: { packages: number; bytes: number }
  /** Files read so far, by path, because one file can contain several packages. */
  readonly files: Map<string, ServedCatalogFile>
}

interface PostReleaseCatalogContext {
  readonly repository: TreeReader
  readonly loader: CatalogLoader
  readonly base: TreeSha
  readonly result: TreeSha
}

/** A release touches fewer. Each package costs rendering its catalogs. */
const maxPackagesWithPostReleaseCatalogs = 20
/** Four times the largest public one. Amending a larger one could lose values. */
const maxPostReleaseTemplateBytes = 1024 * 1024

/** Rejects with a GitError or StoreError. */
export async function readCheckInput(
  { snapshot, baseTree, basePaths, config, configDigest, epoch }: BaseBranchState,
  { change, layout, links, treeReader, resultPaths, resultTree, incoming, pulls, published }: TreeComparison,
  { loader, memory, demandsSignatures: requiresSignedCommits = false, opm }: EvaluatePullOptions,
): Promise<CheckInput> {
  const sides = { repository: treeReader, loader, base: baseTree, result: resultTree }
  const [accounts, directories, bundleDirectories] = await Promise.all([
    // A login belongs to its first account, because another user can register a released login (T25).
    memory.firstSeenAccounts(snapshot.repository, new Map()),
    readPackagesByDirectory(change, layout, basePaths, { ...sides, tree: baseTree }),
    readBundleDirectories(change, { ...sides, layout }),
  ])
  const ownerPaths = selectOwnerFilePathsToRead(basePaths, change)
  return {
    accounts,
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
    projectedCatalogs: await readPostReleaseCatalogs(
      bundleDirectories,
      sides,
      createBundleImageNameFormatter(config.bundles.image),
    ),
    incomingCommits: { ...incoming.commits, pulls },
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
  const textOf = (oid: BlobSha) => getOrCreate(texts, oid, () => readTextBlobOrEmpty(repository, oid))
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
export async function readPostReleaseCatalogs(
  directories: readonly PackageDirectoryState[],
  ctx: PostReleaseCatalogContext,
  imageOf: BundleImageNameFormatter = formatPlaceholderImage,
): Promise<readonly PostReleaseCatalog[]> {
  const found: PostReleaseCatalog[] = []
  for (const sources of directories.slice(0, maxPackagesWithPostReleaseCatalogs)) {
    const templates = new Map<string, LoadedTemplate>()
    for (const { template_name: name, catalog_names: catalogs } of listTemplatesUsedByReleases(sources))
      templates.set(name, await readTemplateForPostReleaseCatalog(sources.directory, name, catalogs, ctx))
    found.push(
      ...computeCatalogsFromTemplates(sources, templates, imageOf),
      ...computeCatalogsFromDirectories(sources, imageOf),
    )
  }
  return found
}

async function readTemplateForPostReleaseCatalog(
  directory: string,
  name: string,
  catalogs: readonly string[],
  { repository, loader, base, result }: PostReleaseCatalogContext,
): Promise<LoadedTemplate> {
  const loaded = await Promise.all(
    catalogs.map((catalog) => loader.load(repository, base, `catalogs/${catalog}/${directory}`)),
  )
  const known = loaded.filter((catalog) => catalog !== undefined)
  const entry = await repository.entry(result, `operators/${directory}/catalog-templates/${name}`)
  if (entry?.mode.startsWith('100') !== true) return { known }
  const bytes = await catchTooLarge(repository.read(entry.oid, maxPostReleaseTemplateBytes))
  return bytes === undefined ? { known, isTooLarge: true } : { known, bytes }
}

/**
 * The packages that a change touches, as a server would return them. Reads their files again in full because a
 * catalog's facts omit the manifests. By catalog root, then by package. Rejects with a GitError.
 */
async function readServedPackages(
  { catalogs }: Pick<PullRequestChange, 'catalogs'>,
  treeReader: TreeReader,
  tree: TreeSha,
  opm?: string,
): Promise<ReadonlyMap<string, ReadonlyMap<string, CatalogServerPackageResponses>>> {
  const served = new Map<string, Map<string, CatalogServerPackageResponses>>()
  const remaining = { ...servedPackageReadLimits }
  const forOpm = { milliseconds: opmTimeoutMs, bytes: servedPackageReadLimits.bytes }
  for (const change of catalogs) {
    const ofCatalog = new Map<string, CatalogServerPackageResponses>()
    const files = new Map<string, ServedCatalogFile>()
    for (const { name } of change.packages) {
      const one =
        change.result && remaining.packages > 0
          ? await readServedPackage(change, name, { treeReader, tree, left: remaining, files })
          : undefined
      if (one) ofCatalog.set(name, one)
    }
    if (opm !== undefined && ofCatalog.size > 0) {
      const theirs = await queryOpmForChangedPackages(
        change,
        [...ofCatalog.keys()],
        { look: treeReader, tree },
        { opm, left: forOpm },
      )
      for (const [index, [name, one]] of [...ofCatalog].entries())
        ofCatalog.set(name, { ...one, responses: [...one.responses, ...theirs.slice(index, index + 1)] })
    }
    served.set(change.root, ofCatalog)
  }
  return served
}

async function readServedPackage(
  { root, result }: CatalogChange,
  packageName: string,
  { treeReader, tree, left, files: known }: ServedPackageReadContext,
): Promise<CatalogServerPackageResponses | undefined> {
  const paths = result ? getPackageFilePaths(result, packageName) : new Set<string>()
  if (!result || paths.size === 0) return undefined
  const files = []
  for (const path of paths) {
    const file = known.get(path) ?? (await readFile(path))
    if (file === undefined) return undefined
    known.set(path, file)
    files.push({ path, file })
  }
  left.packages -= 1
  const read = buildServedCatalog(files)
  const objects = new Map<string, readonly string[]>()
  for (const blob of result.bundles.filter((bundle) => bundle.package === packageName)) {
    if (blob.image !== '' || !hasBundleObjectProperties(blob) || !read.ok) continue
    const channel = result.channels.find(
      ({ package: its, entries }) => its === packageName && entries.some(({ name }) => name === blob.name),
    )
    const key = channel && { package: packageName, channel: channel.name, name: blob.name }
    const bundle = key && read.value.bundle(key)
    if (bundle) objects.set(blob.name, bundle.object)
  }
  return { responses: [simulateCatalogServerResponse(read, packageName)], objects }

  async function readFile(path: string): Promise<ServedCatalogFile | undefined> {
    const entry = await treeReader.entry(tree, toRepositoryPath(root, path))
    // Links are not followed.
    if (entry?.mode.startsWith('100') !== true) return undefined
    const bytes = await treeReader.read(entry.oid)
    left.bytes -= bytes.length
    return left.bytes < 0 ? undefined : parseServedCatalogFile(bytes)
  }
}

/** One answer for each package, in the given order. Rejects with a GitError. */
async function queryOpmForChangedPackages(
  { root, result }: CatalogChange,
  packageNames: readonly string[],
  { look, tree }: { readonly look: TreeReader; readonly tree: TreeSha },
  { opm, left }: OpmQueryOptions,
): Promise<readonly CatalogServerResponse[]> {
  const unknown = (reason: string): readonly CatalogServerResponse[] =>
    packageNames.map(() => ({ server: 'opm', kind: 'unknown', reason }))
  if (left.milliseconds <= 0) return unknown('this evaluation ran out of time before it could run opm')
  const scratch = await mkdtemp(join(tmpdir(), 'catalog-bot-opm-'))
  try {
    for (const { path } of result?.files ?? []) {
      const entry = await look.entry(tree, toRepositoryPath(root, path))
      if (entry?.mode.startsWith('100') !== true) return unknown(`${path} is a link`)
      const bytes = await look.read(entry.oid)
      left.bytes -= bytes.length
      if (left.bytes < 0) return unknown('the catalog is too large to pass to opm')
      const parts = path.split('/')
      if (parts.some((part) => part === '' || part === '.' || part === '..'))
        return unknown(`${path} points outside the catalog`)
      await mkdir(dirname(join(scratch, path)), { recursive: true })
      await writeFile(join(scratch, path), bytes)
    }
    // Loaded lazily, because few installations configure opm, and loading gRPC takes a third of an evaluation's start time.
    const { queryOpmServer: askOpm } = await import('@catalog-bot/fbc-server/opm-server')
    const started = performance.now()
    const results = await askOpm(opm, scratch, packageNames, left.milliseconds)
    left.milliseconds -= performance.now() - started
    return results
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}
