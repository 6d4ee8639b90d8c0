// Reads the templates of the result and the catalogs of the base, to predict the catalogs after bundles are added.
import type { TreeSha } from '../change/ids.ts'
import { placeholderImage, type Becoming, type ImageName } from '../checks/bundles/becoming.ts'
import { becomingOfDirectories } from '../checks/bundles/becoming-of-directories.ts'
import {
  becomingOfTemplates,
  templatesToRelease,
  type ReadTemplate,
} from '../checks/bundles/becoming-of-templates.ts'
import type { PackageSources } from '../checks/bundles/package-sources.ts'
import { isGitError } from '../git/git-error.ts'
import type { ReadTree } from '../ports/repository.ts'
import type { CatalogLoader } from './catalogs/catalog-loader.ts'

interface Places {
  readonly repository: ReadTree
  readonly loader: CatalogLoader
  readonly base: TreeSha
  readonly result: TreeSha
}

/** Rejects with a GitError. */
export async function readBecoming(
  directories: readonly PackageSources[],
  places: Places,
  imageOf: ImageName = placeholderImage,
): Promise<readonly Becoming[]> {
  const found: Becoming[] = []
  for (const sources of directories.slice(0, mostPackages)) {
    const templates = new Map<string, ReadTemplate>()
    for (const { template_name: name, catalog_names: catalogs } of templatesToRelease(sources))
      templates.set(name, await readTemplate(sources.directory, name, catalogs, places))
    found.push(
      ...becomingOfTemplates(sources, templates, imageOf),
      ...becomingOfDirectories(sources, imageOf),
    )
  }
  return found
}

/** A release touches fewer. Each package costs rendering its catalogs. */
const mostPackages = 20
/** Four times the largest public one. Amending a larger one could lose values (plain-json.ts). */
const largestTemplate = 1024 * 1024

async function readTemplate(
  directory: string,
  name: string,
  catalogs: readonly string[],
  { repository, loader, base, result }: Places,
): Promise<ReadTemplate> {
  const loaded = await Promise.all(
    catalogs.map((catalog) => loader.load(repository, base, `catalogs/${catalog}/${directory}`)),
  )
  const known = loaded.filter((catalog) => catalog !== undefined)
  const entry = await repository.entry(result, `operators/${directory}/catalog-templates/${name}`)
  if (entry?.mode.startsWith('100') !== true) return { known }
  try {
    return { known, bytes: await repository.read(entry.oid, largestTemplate) }
  } catch (error) {
    if (isGitError(error, 'too-large')) return { known, isTooLarge: true }
    throw error
  }
}
