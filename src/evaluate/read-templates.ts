// Reads the templates that a change touches and the catalogs rendered from them. The base's configuration and ci.yaml
// files define the pairs; the merge result provides their content.
import type { Catalog } from '@catalog-bot/fbc/facts/catalog'
import type { PullRequestChange } from '../pull-request/change.ts'
import type { TreeSha } from '../pull-request/ids.ts'
import type { RepositoryLayout } from '../pull-request/layout/layout.ts'
import { hasPath } from '../pull-request/incremental-path-list.ts'
import {
  findTouchedTemplateCatalogPairs,
  type TemplateCatalogPair,
  type LoadedTemplateCatalogPair,
} from '../pull-request/layout/template-pairs.ts'
import type { Config } from '../config/config.ts'
import { catchTooLarge } from '../adapters/git/git-error.ts'
import type { TreeReader } from '../ports/repository.ts'
import { readTextBlobOrEmpty, type CatalogLoader } from '../catalogs/catalog-loader.ts'
import { resolveTreePath } from '../catalogs/linked-file.ts'

export interface TemplateReadContext {
  readonly repository: TreeReader
  readonly loader: CatalogLoader
  readonly config: Config
  readonly base: TreeShaWithPaths
  readonly result: TreeShaWithPaths
  /** Links whose target changes; a template can be a link. */
  readonly links?: readonly string[]
}

interface TreeShaWithPaths {
  readonly tree: TreeSha
  readonly paths: readonly string[]
}

/** Twenty times the largest public template. */
const maxLoadedTemplateBytes = 4 * 1024 * 1024
/** Rendering full bundles takes about a second per ten megabytes. */
const maxCatalogBytesForSuggestedPatch = 4 * 1024 * 1024

/**
 * Limits for all templates of a change: a megabyte costs a tenth of a second per round of questions, and one blob can
 * be at any number of paths. Far above a change of every package of the largest public catalog.
 */
const totalTemplateSizeLimits = { bytes: 16 * 1024 * 1024, templates: 2000 }

/** Rejects with a GitError when a tree cannot be read. */
export async function readTemplates(
  change: PullRequestChange,
  layout: RepositoryLayout,
  ctx: TemplateReadContext,
): Promise<readonly LoadedTemplateCatalogPair[]> {
  const { repository, loader, config, base, result, links = [] } = ctx
  const touched = [...change.paths.map(({ path }) => path), ...links]
  const pairs = findTouchedTemplateCatalogPairs(
    {
      trees: [base.paths, result.paths],
      layout,
      stated: config.templates,
      ciYaml: await readCiYamlFiles(ctx, touched),
    },
    touched,
  )
  const sources: (readonly [pair: TemplateCatalogPair, source: LoadedTemplateCatalogPair['source']])[] = []
  let bytes = 0
  for (const pair of pairs) {
    const isFull =
      sources.length >= totalTemplateSizeLimits.templates || bytes >= totalTemplateSizeLimits.bytes
    const source = isFull ? 'too-many' : await readTemplateFile(repository, result.tree, pair.template)
    if (source instanceof Uint8Array) bytes += source.length
    sources.push([pair, source])
  }
  return Promise.all(
    sources.map(async ([pair, source]): Promise<LoadedTemplateCatalogPair> => {
      if (source === 'too-many') return { ...pair, source, known: [] }
      const [checkedIn, own] = await Promise.all([
        loader.load(repository, result.tree, pair.catalog),
        loader.load(repository, base.tree, pair.catalog),
      ])
      const file = pair.offer === 'patch' ? await readSingleFileCatalog(own, checkedIn, ctx) : undefined
      return {
        ...pair,
        ...(file && { file }),
        ...(source && { source }),
        ...(checkedIn && { result: checkedIn }),
        known: own ? [own] : await loadPackageFromAllCatalogs(pair.catalog, layout, ctx),
      }
    }),
  )
}

/** Undefined where the file is too large to render for a patch. */
async function readSingleFileCatalog(
  own: Catalog | undefined,
  checkedIn: Catalog | undefined,
  { repository, base, result }: TemplateReadContext,
): Promise<LoadedTemplateCatalogPair['file']> {
  const [path, ...more] = new Set(
    [...(own?.files ?? []), ...(checkedIn?.files ?? [])].map((file) => file.path),
  )
  const bytes = [...(own?.files ?? []), ...(checkedIn?.files ?? [])].map((file) => file.bytes)
  if (path === undefined || more.length > 0 || bytes.some((size) => size > maxCatalogBytesForSuggestedPatch))
    return undefined
  const read = async (tree: TreeSha) => {
    const entry = await repository.entry(tree, path)
    return entry?.mode.startsWith('100') === true ? repository.read(entry.oid) : undefined
  }
  const [before, after] = await Promise.all([read(base.tree), read(result.tree)])
  return before && after && { path, base: before, result: after }
}

/** For a catalog that the base lacks: its bundles are in the same package's directories of other catalogs. */
async function loadPackageFromAllCatalogs(
  catalog: string,
  layout: RepositoryLayout,
  { loader, repository, base }: TemplateReadContext,
) {
  const directory = catalog.slice(catalog.lastIndexOf('/') + 1)
  const found = await Promise.all(
    layout.catalogs.map(({ root }) => loader.load(repository, base.tree, `${root}/${directory}`)),
  )
  return found.filter((one) => one !== undefined)
}

/** Searches by directory name, because a package's directories share one name. */
async function readCiYamlFiles(
  { repository, base }: TemplateReadContext,
  touched: readonly string[],
): Promise<(directory: string) => string | undefined> {
  const texts = new Map<string, string>()
  for (const directory of new Set(touched.flatMap((path) => path.split('/')))) {
    const path = `operators/${directory}/ci.yaml`
    const entry = hasPath(base.paths, path) ? await repository.entry(base.tree, path) : undefined
    if (entry?.mode.startsWith('100')) texts.set(directory, await readTextBlobOrEmpty(repository, entry.oid))
  }
  return (directory) => texts.get(directory)
}

async function readTemplateFile(
  repository: TreeReader,
  tree: TreeSha,
  path: string,
): Promise<LoadedTemplateCatalogPair['source']> {
  // The ownership check rejects new links (T07); existing ones are followed.
  const entry = await repository.entry(tree, path)
  const isFile = entry?.mode.startsWith('100') === true
  const { file } = isFile ? { file: entry.oid } : await resolveTreePath(repository, tree, path)
  if (file === undefined) return undefined
  return (await catchTooLarge(repository.read(file, maxLoadedTemplateBytes))) ?? 'too-large'
}
