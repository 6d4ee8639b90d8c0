// Computes the file changes that release a merged bundle directory, from the base branch's tip and the registry's
// description of the image.
import type { ListedEntry } from '../../change/path-change.ts'
import { compareWithImage } from '../../bundle/render/compare-with-image.ts'
import { migrationProblem, renderBundle } from '../../bundle/render/render-bundle.ts'
import { templateCsv } from '../../bundle/render/template-csv.ts'
import { readRegistryBundle, type RegistryBundle } from '../../bundle/registry-bundle.ts'
import type { ReleasedBundle } from '../../catalog/template/released-catalog.ts'
import { changeAsMermaid } from '../../change/draw-change.ts'
import type { SettingsText } from '../../checks/bundles/package-sources.ts'
import { namesIn, releaseFiles } from '../../checks/bundles/release-files.ts'
import { isPlainName, isWord, planRelease, type ReleasePlan } from '../../checks/bundles/release-plan.ts'
import { releaseProblems } from '../../checks/bundles/release-problems.ts'
import { describeChangeLines } from '../../messages/describe-change.ts'
import type { ReadTree } from '../../ports/repository.ts'
import { bundleEntries, hasManifest, readFiles, mostTouchedBytes } from '../read-bundle-files.ts'
import { openPackageAtBase, readRegular, type OpenPackage } from './package-at-base.ts'
import type { BundleImage, ReleaseOrder, ReleaseStanding } from './release-order.ts'

type Order = Omit<ReleaseOrder, 'mirror' | 'budget'>
type Refused = Extract<ReleaseStanding, { kind: 'refused' }>

/** Limit in bytes for all files of a release. The largest public one has a tenth of this. */
const mostWritten = 256 * 1024 * 1024
const largestSettings = 256 * 1024
/** The other problems usually follow from the first ones. */
const shownProblems = 3

/** Rejects with a GitError, TooLarge or Unwritable. */
export async function workOutRelease(order: Order, repository: ReadTree): Promise<ReleaseStanding> {
  const { tree, directory, version, image } = order
  if (!isPlainName(directory)) return refused('the directory of the package has no plain name')
  if (!isPlainName(version)) return refused('its directory has no plain name')
  const entries = await repository.list(tree, `operators/${directory}`)
  const root = `operators/${directory}/${version}`
  const its = bundleEntries(entries, root)
  if (!hasManifest(its, root)) return unwanted('its directory is gone')
  const config = await readSettingsText(repository, its, [
    `${root}/release-config.yaml`,
    `${root}/release-config.yml`,
  ])
  if (!config) return unwanted('it has no release-config.yaml')
  const ciYaml = await readSettingsText(repository, entries, [`operators/${directory}/ci.yaml`])
  const plan = planRelease(ciYaml, config)
  if (plan.ok === 'nothing') return unwanted(plan.why)
  if (!plan.ok) return refused(plan.error)
  const files = await readFiles(repository, its, root, { left: mostTouchedBytes })
  const { bundle } = readRegistryBundle(files)
  if (!bundle) return refused('opm cannot read its directory')
  if (!isWord(bundle.csv.name) || !isWord(bundle.package))
    return refused('its name, or that of its package, is no plain name')
  const base = openPackageAtBase(repository, tree, directory, entries)
  if (await isEverywhere(bundle.csv.name, plan.value, base)) return { kind: 'done' }
  if (!image) return { kind: 'awaited' }
  const rendered = asReleased(bundle, image)
  return 'kind' in rendered ? rendered : written(rendered, plan.value, order, { repository, base })
}

/** The directory's content, under the image's digest. */
function asReleased(bundle: RegistryBundle, { reference, content }: BundleImage): ReleasedBundle | Refused {
  const problem = migrationProblem(bundle, reference)
  if (problem !== undefined) return refused(problem)
  if (!content) return { ...refused('opm cannot read its image as a bundle'), isImage: true }
  const withMetadata = renderBundle(bundle, reference, { csvMetadata: true })
  const [differs] = compareWithImage(
    { ...withMetadata, relatedImages: withMetadata.relatedImages ?? [] },
    content,
    reference,
  )
  // People approved the directory, so an image with other content must not be released under its name.
  if (differs)
    return {
      ...refused(`its image holds something else than its directory: ${differs.field} differs`),
      isImage: true,
    }
  return {
    image: reference,
    withMetadata,
    withObjects: renderBundle(bundle, reference),
    csv: templateCsv(bundle.csv.data),
  }
}

async function written(
  bundle: ReleasedBundle,
  { templates, isMergedByItself }: ReleasePlan,
  { tree, directory, config }: Order,
  { repository, base }: { readonly repository: ReadTree; readonly base: OpenPackage },
): Promise<ReleaseStanding> {
  const made = releaseFiles(await base.read(templates), bundle, templates)
  if (!made.ok) return refused(made.error)
  const { files, changes } = made.value
  if (files.length === 0) return { kind: 'done' }
  if (files.reduce((sum, { bytes }) => sum + bytes.length, 0) > mostWritten)
    return refused('its files are larger together than the bot writes')
  const [{ template } = { template: '' }] = templates
  const file = `operators/${directory}/catalog-templates/${template}`
  const problems = releaseProblems(changes, { directory, file }, config)
  if (problems.length > 0) return refused(inWords(problems.map(({ what, rule }) => `${what} (${rule})`)))
  const change = { paths: [], catalogs: changes, references: [] }
  const graph = changeAsMermaid(change)
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
    lines: describeChangeLines(change),
    ...(graph !== undefined && { graph }),
  }
}

function inWords(problems: readonly string[]): string {
  const more = problems.length - shownProblems
  const shown = problems.slice(0, shownProblems).join('; ')
  return `the catalogs would not be valid: ${shown}${more > 0 ? `; and ${more} more` : ''}`
}

async function isEverywhere(name: string, { templates }: ReleasePlan, base: OpenPackage): Promise<boolean> {
  const { catalogs } = await base.read(templates)
  return templates.every((one) =>
    one.catalogs.every((catalog) => {
      const bytes = catalogs.get(catalog)?.bytes
      return bytes !== undefined && namesIn([bytes]).has(name)
    }),
  )
}

async function readSettingsText(
  repository: ReadTree,
  entries: readonly ListedEntry[],
  paths: readonly string[],
): Promise<SettingsText | undefined> {
  const entry = entries.find(({ path, mode }) => paths.includes(path) && mode.startsWith('100'))
  if (!entry) return undefined
  const bytes = await readRegular(repository, entry, largestSettings)
  return { path: entry.path, text: new TextDecoder().decode(bytes) }
}

function refused(why: string): Refused {
  return { kind: 'refused', why }
}

function unwanted(why: string): ReleaseStanding {
  return { kind: 'unwanted', why }
}
