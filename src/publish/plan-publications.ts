// Plans publications by catalog and image repository. Pure. Reports duplicate or impossible entries instead.
import { minimatch } from 'minimatch'
import type { CatalogRoot, RepositoryLayout } from '../pull-request/layout/layout.ts'
import type { PublishEntry } from '../config/publish.ts'
import type { PublishImageSettings } from './process/publish-protocol.ts'
import { normalizeImageRepository } from './process/push-targets.ts'

export interface CatalogPublication {
  /** State key: branch, catalog, image repository and first tag. */
  readonly id: string
  readonly branch: string
  readonly catalog: CatalogRoot
  /** `quay.io/org/catalog`. */
  readonly image: string
  readonly tags: readonly string[]
  readonly settings: PublishImageSettings
  readonly environment: string
  readonly entry: PublishEntry
}

export interface PublicationPlan {
  readonly publications: readonly CatalogPublication[]
  /** Sentences without a full stop. */
  readonly problems: readonly PublicationPlanProblem[]
}

export interface PublicationPlanProblem {
  readonly root: string
  readonly image: string
  readonly tags: readonly string[]
  readonly why: string
}

/** `layouts`: by branch. Branches that are missing in it are not served. */
export function planPublications(
  entries: readonly PublishEntry[],
  defaultBranch: string,
  layouts: ReadonlyMap<string, RepositoryLayout>,
): PublicationPlan {
  const found: CatalogPublication[] = []
  const problems: PublicationPlanProblem[] = []
  for (const entry of entries) {
    const { catalog: glob, branch = defaultBranch, repository, tags } = entry
    const addProblem = (why: string, root = glob) => problems.push({ root, image: repository, tags, why })
    const image = normalizeImageRepository(repository)
    const layout = layouts.get(branch)
    if (image === undefined) {
      addProblem(`${repository} is not a valid image repository name`)
      continue
    }
    if (layout === undefined) {
      addProblem(`branch ${branch} does not exist or is not listed under branches in the configuration`)
      continue
    }
    const catalogs = layout.catalogs.filter((catalog) => matchesCatalogGlob(catalog, glob))
    if (catalogs.length === 0) addProblem(`no catalog matches ${glob}`)
    for (const catalog of catalogs) {
      const made = createPublication({ ...entry, branch }, catalog, image)
      if (typeof made === 'string') addProblem(made, catalog.root)
      else found.push(made)
    }
  }
  return removeConflictingPublications(found, problems)
}

function matchesCatalogGlob({ root, names = [root] }: CatalogRoot, glob: string): boolean {
  return [root, ...names].some((name) => name === glob || minimatch(name === '' ? '.' : name, glob))
}

function createPublication(
  entry: PublishEntry & { readonly branch: string },
  catalog: CatalogRoot,
  image: string,
): CatalogPublication | string {
  const fill = createPublishTemplateRenderer(catalog)
  const tags = entry.tags.map((tag) => fill(tag))
  const environment = fill(entry.environment)
  for (const text of [...tags, environment])
    if (text === undefined)
      return 'a tag or environment uses {version}, but the catalog layout does not define a version'
  const wrong = tags.find((tag) => !isValidTag(tag ?? ''))
  if (wrong !== undefined) return `${wrong} is not a valid tag`
  const { base, platforms, cache, compression, format } = entry
  return {
    id: `${entry.branch} ${catalog.root} ${image}:${tags[0]}`,
    branch: entry.branch,
    catalog,
    image,
    tags: tags as string[],
    settings: { base, platforms, cache, compression, format },
    environment: environment as string,
    entry,
  }
}

/** Two catalogs with one tag would overwrite each other forever. */
function removeConflictingPublications(
  planned: readonly CatalogPublication[],
  problems: PublicationPlanProblem[],
): PublicationPlan {
  const holders = new Map<string, Set<CatalogPublication>>()
  const claimTag = (key: string, publication: CatalogPublication) => {
    const known = holders.get(key)
    if (known === undefined) holders.set(key, new Set([publication]))
    else known.add(publication)
  }
  for (const publication of planned) {
    claimTag(publication.id, publication)
    for (const tag of publication.tags) claimTag(`${publication.image}:${tag}`, publication)
  }
  const clashing = new Set([...holders.values()].filter(({ size }) => size > 1).flatMap((all) => [...all]))
  for (const { catalog, image, tags } of clashing)
    problems.push({
      root: catalog.root,
      image,
      tags,
      why: 'another catalog in the configuration uses the same image and tag',
    })
  return { publications: planned.filter((one) => !clashing.has(one)), problems }
}

/** Returns undefined if a placeholder has no value. */
export function createPublishTemplateRenderer(
  { root, version }: CatalogRoot,
  more: Readonly<Record<string, string>> = {},
): (template: string) => string | undefined {
  const values: Readonly<Record<string, string | undefined>> = {
    name: root.split('/').at(-1) || 'catalog',
    version,
    ...more,
  }
  return (template) => {
    let missing = false
    const text = template.replace(/\{([a-z]+)\}/g, (_all, name: string) => {
      const value = Object.hasOwn(values, name) ? values[name] : undefined
      if (value === undefined) missing = true
      return value ?? ''
    })
    return missing ? undefined : text
  }
}

export const isValidTag = (text: string): boolean => /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/.test(text)

/** Returns the permanent tag, or undefined if the image gets none. */
export function formatPermanentImageTag(
  { entry, catalog }: CatalogPublication,
  commit: string,
): string | undefined {
  if (entry.retention.keep === 0) return undefined
  const tag = createPublishTemplateRenderer(catalog, { commit: commit.slice(0, 12) })(entry.retention.tag)
  return tag !== undefined && isValidTag(tag) ? tag : undefined
}
