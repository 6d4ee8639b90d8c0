// Evaluates the responses of a catalog server and whether the catalog image starts one. Sends no requests.
import type { Catalog } from '@catalog-bot/fbc/facts/catalog'
import type { CatalogServerResponse } from '@catalog-bot/fbc/api/api-types'
import { quoteLikeGo } from '@catalog-bot/fbc/go/text'
import {
  type InstallStep,
  type InstallNote,
  createSkippedInstallStep,
  createInstallStep,
  installTargets,
} from './install-report.ts'

export interface CatalogServerImageConfig {
  readonly reference: string
  /** From the image label that names the catalog directory. */
  readonly directory: string | undefined
  readonly entrypoint: readonly string[]
  readonly command: readonly string[]
  readonly user: string
  readonly platform: string
}

export interface CatalogServerObservation {
  readonly responses: readonly CatalogServerResponse[]
  /** One image per platform; empty for a directory. */
  readonly images: readonly CatalogServerImageConfig[]
}

/** `head` is the channel head that catalog-bot computed from the catalog. */
export function createCatalogServerStep(
  running: CatalogServerObservation | undefined,
  about: {
    readonly catalog: Catalog
    readonly package: string
    readonly channel: string
    readonly head?: string | undefined
  },
): InstallStep {
  // Without an image, the check has not seen the catalog start.
  const title = running?.images.length
    ? 'The catalog image serves the catalog'
    : 'A running server serves the catalog'
  if (running === undefined || running.responses.length + running.images.length === 0)
    return createSkippedInstallStep('running', title, 'No server was queried.')
  const facts: string[] = []
  const remarks: InstallNote[] = []
  const addNote = (kind: InstallNote['kind'], message: string) =>
    remarks.push({ kind, says: message, targets: installTargets })
  for (const response of running.responses)
    if (response.kind === 'unknown')
      addNote('unknown', `${response.server} could not be queried: ${response.reason}`)
    else if (response.kind === 'refused')
      addNote('refused', `${response.server} does not serve the catalog: ${response.reason}`)
    else {
      const problems = [...listCatalogServerNotes(response, about)]
      problems.forEach((problem) => addNote('refused', `${response.server}: ${problem}`))
      if (problems.length === 0)
        facts.push(
          `${response.server} ${response.isPart ? `lists ${about.package}` : `lists ${response.packages.length} packages`} and returns ${response.bundles.length} bundles of ${about.package}.`,
        )
    }
  if (running.images.length === 0)
    facts.push('Startup was not checked, because the catalog is not in an image.')
  for (const image of running.images) {
    const notes = [...validateCatalogServerImage(image)]
    remarks.push(...notes)
    if (!notes.some(({ kind }) => kind === 'refused'))
      facts.push(
        `The image for ${image.platform} starts ${[...image.entrypoint, ...image.command].join(' ')}.`,
      )
  }
  return createInstallStep('running', title, facts, remarks)
}

function* listCatalogServerNotes(
  {
    packages,
    isPart,
    defaultChannel,
    channels,
    bundles,
    errors,
  }: Extract<CatalogServerResponse, { readonly kind: 'answered' }>,
  { catalog, package: its, channel, head }: Parameters<typeof createCatalogServerStep>[1],
): Generator<string> {
  yield* errors
  const missing = new Set(
    catalog.packages
      .map(({ name }) => name)
      .filter((name) => (name === its || !isPart) && !packages.includes(name)),
  )
  if (missing.size > 0)
    yield `the server does not list ${[...missing].slice(0, 3).map(quoteLikeGo).join(', ')}`
  const expectedDefault = catalog.packages.find(({ name }) => name === its)?.defaultChannel
  if (expectedDefault !== undefined && defaultChannel !== expectedDefault)
    yield `the default channel of ${quoteLikeGo(its)} is ${quoteLikeGo(defaultChannel)}, not ${quoteLikeGo(expectedDefault)}`
  const served = channels.find(({ name }) => name === channel)
  if (!served) yield `the server has no channel ${quoteLikeGo(channel)}`
  else if (head !== undefined && served.head !== head)
    yield `the head of channel ${quoteLikeGo(channel)} is ${quoteLikeGo(served.head)}, not ${quoteLikeGo(head)}`
  const entries = catalog.channels
    .filter((blob) => blob.package === its)
    .flatMap(({ name, entries: all }) => all.map((entry) => ({ channel: name, name: entry.name })))
  const given = new Set(bundles.map((bundle) => `${bundle.channel}\n${bundle.name}`))
  const absent = entries.filter((entry) => !given.has(`${entry.channel}\n${entry.name}`))
  const [first] = absent
  if (first)
    yield `the server does not return ${quoteLikeGo(first.name)} in channel ${quoteLikeGo(first.channel)}${absent.length > 1 ? ` and ${absent.length - 1} more` : ''}`
}

/** OLM v0 runs the image unchanged, so its command must serve the directory that the label names. */
function* validateCatalogServerImage({
  reference,
  directory,
  entrypoint,
  command,
  user,
  platform,
}: CatalogServerImageConfig): Generator<InstallNote> {
  const createNote = (kind: InstallNote['kind'], problem: string): InstallNote => ({
    kind,
    says: `${reference} for ${platform}: ${problem}`,
    targets: ['OLM v0'],
  })
  const [program = '', ...rest] = [...entrypoint, ...command]
  if (directory === undefined) yield createNote('refused', 'no label specifies the catalog directory')
  if (!/(?:^|\/)opm$/.test(program))
    yield createNote(
      'warning',
      `it starts ${quoteLikeGo(program)} instead of opm, so whether it serves the catalog is unknown`,
    )
  else if (rest[0] !== 'serve') yield createNote('refused', 'it starts opm without the serve command')
  else if (
    directory !== undefined &&
    !rest.some((argument) => isCatalogDirectoryArgument(argument, directory))
  )
    yield createNote(
      'refused',
      `it does not serve ${quoteLikeGo(`/${directory}`)}, the directory that its label specifies`,
    )
  if (user === '' || /^(?:0|root)(?::|$)/.test(user))
    yield createNote('warning', "it runs as root, which OLM's restricted pod security rejects")
}

function isCatalogDirectoryArgument(argument: string, directory: string): boolean {
  return (
    argument
      .split('/')
      .filter((part) => part !== '' && part !== '.')
      .join('/') === directory
  )
}
