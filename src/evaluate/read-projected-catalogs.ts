// Reads the templates of the result and the catalogs of the base, to predict the catalogs after bundles are added.
import type { TreeSha } from '../pull-request/ids.ts'
import {
  formatPlaceholderImage,
  type ProjectedCatalog,
  type FormatBundleImageName,
} from '../checks/bundles/projected-catalog.ts'
import { projectCatalogsFromDirectories } from '../checks/bundles/project-from-directories.ts'
import {
  projectCatalogsFromTemplates,
  listTemplatesToRelease,
  type LoadedTemplate,
} from '../checks/bundles/project-from-templates.ts'
import type { PackageSources } from '../checks/bundles/package-sources.ts'
import { isGitError } from '../adapters/git/git-error.ts'
import type { TreeReader } from '../ports/repository.ts'
import type { CatalogLoader } from '../catalogs/catalog-loader.ts'

interface ProjectionContext {
  readonly repository: TreeReader
  readonly loader: CatalogLoader
  readonly base: TreeSha
  readonly result: TreeSha
}

/** Rejects with a GitError. */
export async function readProjectedCatalogs(
  directories: readonly PackageSources[],
  ctx: ProjectionContext,
  imageOf: FormatBundleImageName = formatPlaceholderImage,
): Promise<readonly ProjectedCatalog[]> {
  const found: ProjectedCatalog[] = []
  for (const sources of directories.slice(0, maxPackages)) {
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

/** A release touches fewer. Each package costs rendering its catalogs. */
const maxPackages = 20
/** Four times the largest public one. Amending a larger one could lose values (plain-json.ts). */
const maxTemplateBytes = 1024 * 1024

async function readTemplateForProjection(
  directory: string,
  name: string,
  catalogs: readonly string[],
  { repository, loader, base, result }: ProjectionContext,
): Promise<LoadedTemplate> {
  const loaded = await Promise.all(
    catalogs.map((catalog) => loader.load(repository, base, `catalogs/${catalog}/${directory}`)),
  )
  const known = loaded.filter((catalog) => catalog !== undefined)
  const entry = await repository.entry(result, `operators/${directory}/catalog-templates/${name}`)
  if (entry?.mode.startsWith('100') !== true) return { known }
  try {
    return { known, bytes: await repository.read(entry.oid, maxTemplateBytes) }
  } catch (error) {
    if (isGitError(error, 'too-large')) return { known, isTooLarge: true }
    throw error
  }
}
