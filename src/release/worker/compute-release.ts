// Computes the file changes that release a merged bundle directory, from the base branch's tip and the registry's
// description of the image. Rejects links, so that a release never writes through one or replaces one.
import type { TreePathEntry } from '../../pull-request/change.ts'
import {
  findOpmMigrationError,
  renderBundle,
  compareBundleWithImage,
} from '@catalog-bot/bundle/render/render-bundle'
import { readRegistryBundle, type RegistryBundle } from '@catalog-bot/bundle/registry-bundle'
import type { ReleasedBundle } from '@catalog-bot/fbc/template/render-released-catalog'
import { renderChangeAsMermaid } from '../../pull-request/describe-change.ts'
import type { PackageSettingsFile } from '../../checks/bundles/post-release-catalog.ts'
import {
  isSafePathSegment,
  isPrintableAsciiName,
  planBundleRelease,
  type BundleReleasePlan,
  collectBundleNames,
  computeBundleReleaseFiles,
  findBundleReleaseProblems,
  type BaseCatalogFile,
  type BasePackageFiles,
} from '../../checks/bundles/release-plan.ts'
import { describePullRequestChangeAsLines } from '../../report/describe-change.ts'
import type { TreeReader } from '../../ports/repository.ts'
import {
  filterEntriesInBundleDirectory,
  hasManifestsDirectory,
  readBundleFiles,
  maxTotalTouchedBundleBytes,
} from '../../catalogs/read-bundle-files.ts'
import type { BundleImage, ReleaseRequest, ReleaseResult } from './release-pool.ts'
import { pickCsvFieldsForTemplates } from '@catalog-bot/bundle/render/csv-metadata'
import type { TreeSha } from '../../pull-request/ids.ts'

/** The tree holds something that a release must not overwrite. The message is a clause for users, without a period. */
export class UnsafeOverwriteError extends Error {
  override readonly name = 'Unwritable'
}

/** Four times the largest public one. Amending a larger one could lose values. */
const maxTemplateBytes = 1024 * 1024
/** GitHub rejects files above 100 MB and warns at half of that. */
const maxCatalogBytes = 48 * 1024 * 1024

interface BaseBranchPackageFileReader {
  /** Reads each file once. Rejects with a GitError, and with Unwritable. */
  read(
    mappings: readonly { readonly template: string; readonly catalogs: readonly string[] }[],
  ): Promise<BasePackageFiles>
}

type ReleaseComputationInput = Omit<ReleaseRequest, 'mirror' | 'budget'>
type RejectedRelease = Extract<ReleaseResult, { kind: 'refused' }>

/** Limit in bytes for all files of a release. The largest public one has a tenth of this. */
const maxReleaseFileBytes = 256 * 1024 * 1024
const maxReleaseSettingsFileBytes = 256 * 1024
/** The other problems usually follow from the first ones. */
const maxDisplayedReleaseProblems = 3

/** Rejects with a GitError, ChangeTooLargeError or Unwritable. */
export async function computeRelease(
  order: ReleaseComputationInput,
  repository: TreeReader,
): Promise<ReleaseResult> {
  const { tree, directory, version, image } = order
  if (!isSafePathSegment(directory))
    return createRejectedRelease('the name of the package directory contains unsupported characters')
  if (!isSafePathSegment(version))
    return createRejectedRelease('the name of the bundle directory contains unsupported characters')
  const entries = await repository.list(tree, `operators/${directory}`)
  const root = `operators/${directory}/${version}`
  const its = filterEntriesInBundleDirectory(entries, root)
  if (!hasManifestsDirectory(its, root))
    return createSkippedReleaseResult('the bundle directory no longer exists')
  const config = await readPackageSettingsFile(repository, its, [
    `${root}/release-config.yaml`,
    `${root}/release-config.yml`,
  ])
  if (!config) return createSkippedReleaseResult('the bundle directory has no release-config.yaml')
  const ciYaml = await readPackageSettingsFile(repository, entries, [`operators/${directory}/ci.yaml`])
  const plan = planBundleRelease(ciYaml, config)
  if (plan.ok === 'nothing') return createSkippedReleaseResult(plan.why)
  if (!plan.ok) return createRejectedRelease(plan.error)
  const files = await readBundleFiles(repository, its, root, { left: maxTotalTouchedBundleBytes })
  const { bundle } = readRegistryBundle(files)
  if (!bundle) return createRejectedRelease('opm cannot read the bundle directory')
  if (!isPrintableAsciiName(bundle.csv.name) || !isPrintableAsciiName(bundle.package))
    return createRejectedRelease(
      'the bundle name or package name is too long or contains unsupported characters',
    )
  const base = createBaseBranchPackageFileReader(repository, tree, directory, entries)
  if (await isBundleInAllCatalogs(bundle.csv.name, plan.value, base)) return { kind: 'done' }
  if (!image) return { kind: 'awaited' }
  const rendered = toReleasedBundle(bundle, image)
  return 'kind' in rendered
    ? rendered
    : prepareReleaseFiles(rendered, plan.value, order, { repository, base })
}

/** The directory's content, under the image's digest. */
function toReleasedBundle(
  bundle: RegistryBundle,
  { reference, content }: BundleImage,
): ReleasedBundle | RejectedRelease {
  const problem = findOpmMigrationError(bundle, reference)
  if (problem !== undefined) return createRejectedRelease(problem)
  if (!content) return { ...createRejectedRelease('opm cannot read the image as a bundle'), isImage: true }
  const withMetadata = renderBundle(bundle, reference, { csvMetadata: true })
  const [differs] = compareBundleWithImage(
    { ...withMetadata, relatedImages: withMetadata.relatedImages ?? [] },
    content,
    reference,
  )
  // People approved the directory, so an image with other content must not be released under its name.
  if (differs)
    return {
      ...createRejectedRelease(
        `the bundle image does not match the bundle directory: ${differs.field} differs`,
      ),
      isImage: true,
    }
  return {
    image: reference,
    withMetadata,
    withObjects: renderBundle(bundle, reference),
    csv: pickCsvFieldsForTemplates(bundle.csv.data),
  }
}

async function prepareReleaseFiles(
  bundle: ReleasedBundle,
  { templates, isMergedByItself }: BundleReleasePlan,
  { tree, directory, config }: ReleaseComputationInput,
  { repository, base }: { readonly repository: TreeReader; readonly base: BaseBranchPackageFileReader },
): Promise<ReleaseResult> {
  const made = computeBundleReleaseFiles(await base.read(templates), bundle, templates)
  if (!made.ok) return createRejectedRelease(made.error)
  const { files, changes } = made.value
  if (files.length === 0) return { kind: 'done' }
  if (files.reduce((sum, { bytes }) => sum + bytes.length, 0) > maxReleaseFileBytes)
    return createRejectedRelease('the total size of the changed files exceeds what catalog-bot can write')
  const [{ template } = { template: '' }] = templates
  const file = `operators/${directory}/catalog-templates/${template}`
  const problems = findBundleReleaseProblems(changes, { directory, file }, config)
  if (problems.length > 0)
    return createRejectedRelease(formatReleaseProblems(problems.map(({ what, rule }) => `${what} (${rule})`)))
  const change = { paths: [], catalogs: changes, references: [] }
  const graph = renderChangeAsMermaid(change)
  const { name = '', package: its = directory } = bundle.withMetadata
  return {
    kind: 'ready',
    name,
    package: its,
    isMergedByItself,
    files: await Promise.all(
      files.map(async ({ path, bytes }) => {
        const entry = await repository.entry(tree, path)
        return { path, bytes, isExecutable: entry?.mode === '100755' }
      }),
    ),
    lines: describePullRequestChangeAsLines(change),
    ...(graph !== undefined && { graph }),
  }
}

function formatReleaseProblems(problems: readonly string[]): string {
  const more = problems.length - maxDisplayedReleaseProblems
  const shown = problems.slice(0, maxDisplayedReleaseProblems).join('; ')
  return `the resulting catalogs would be invalid: ${shown}${more > 0 ? `; and ${more} more` : ''}`
}

async function isBundleInAllCatalogs(
  name: string,
  { templates }: BundleReleasePlan,
  base: BaseBranchPackageFileReader,
): Promise<boolean> {
  const { catalogs } = await base.read(templates)
  return templates.every((one) =>
    one.catalogs.every((catalog) => {
      const bytes = catalogs.get(catalog)?.bytes
      return bytes !== undefined && collectBundleNames([bytes]).has(name)
    }),
  )
}

async function readPackageSettingsFile(
  repository: TreeReader,
  entries: readonly TreePathEntry[],
  paths: readonly string[],
): Promise<PackageSettingsFile | undefined> {
  const entry = entries.find(({ path, mode }) => paths.includes(path) && mode.startsWith('100'))
  if (!entry) return undefined
  const bytes = await readRegularFile(repository, entry, maxReleaseSettingsFileBytes)
  return { path: entry.path, text: new TextDecoder().decode(bytes) }
}

const createRejectedRelease = (why: string): RejectedRelease => ({ kind: 'refused', why })

const createSkippedReleaseResult = (why: string): ReleaseResult => ({ kind: 'unwanted', why })

/** `entries`: all below `operators/<directory>`. Names must be plain ones. */
function createBaseBranchPackageFileReader(
  repository: TreeReader,
  tree: TreeSha,
  directory: string,
  entries: readonly TreePathEntry[],
): BaseBranchPackageFileReader {
  const folder = `operators/${directory}/catalog-templates`
  const templates = new Map<string, Uint8Array>()
  const catalogs = new Map<string, BaseCatalogFile>()
  const known = new Set<string>()

  async function readCatalog(name: string): Promise<BaseCatalogFile | undefined> {
    const all = await repository.list(tree, `catalogs/${name}`)
    // Naming a catalog doesn't create it.
    if (!all.some(({ path }) => path.startsWith(`catalogs/${name}/`))) return undefined
    const root = `catalogs/${name}/${directory}`
    if (all.some(({ path }) => path === root)) throw new UnsafeOverwriteError(`${root} is not a directory`)
    const [entry, ...more] = all.filter(({ path }) => path.startsWith(`${root}/`))
    if (!entry) return { path: `${root}/catalog.yaml`, format: 'yaml' }
    if (more.length > 0)
      throw new UnsafeOverwriteError(`${root} contains several files, but catalog-bot can update only one`)
    return {
      path: entry.path,
      format: entry.path.endsWith('.json') ? 'json' : 'yaml',
      bytes: await readRegularFile(repository, entry, maxCatalogBytes),
    }
  }

  return {
    async read(mappings) {
      if (entries.some(({ path }) => path === folder))
        throw new UnsafeOverwriteError(`${folder} is not a directory`)
      for (const { template, catalogs: names } of mappings) {
        const path = `${folder}/${template}`
        const entry = entries.find((one) => one.path === path)
        if (entries.some((one) => one.path.startsWith(`${path}/`)))
          throw new UnsafeOverwriteError(`${path} is a directory`)
        if (entry && !templates.has(template))
          templates.set(template, await readRegularFile(repository, entry, maxTemplateBytes))
        for (const name of names) {
          if (known.has(name)) continue
          known.add(name)
          const found = await readCatalog(name)
          if (found) catalogs.set(name, found)
        }
      }
      return { directory, templates, catalogs }
    },
  }
}

/** Rejects with a GitError, and with Unwritable for a link. */
async function readRegularFile(
  repository: TreeReader,
  { path, mode, oid }: TreePathEntry,
  maxBytes: number,
): Promise<Uint8Array> {
  if (!mode.startsWith('100')) throw new UnsafeOverwriteError(`${path} is not a regular file`)
  return repository.read(oid, maxBytes)
}
