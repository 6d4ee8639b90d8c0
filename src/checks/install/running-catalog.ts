// Judges what a catalog server answered and whether the catalog image starts one. Sends no requests.
import type { Catalog } from '../../catalog/facts/catalog.ts'
import { quote } from '../../go/text.ts'
import type { InstallStep, Remark } from './install-report.ts'
import { leftOut, step } from './steps/step.ts'
import { targets } from './targets.ts'

export type AskedServer = {
  /** For people: `our own server`, `opm`. */
  readonly server: string
} & (
  | {
      readonly kind: 'answered'
      /** The server holds only some packages. */
      readonly isPart?: true
      readonly packages: readonly string[]
      readonly defaultChannel: string
      readonly channels: readonly { readonly name: string; readonly head: string }[]
      readonly bundles: readonly { readonly channel: string; readonly name: string }[]
      /** The server's error messages. */
      readonly refusals: readonly string[]
    }
  | { readonly kind: 'refused'; readonly reason: string }
  /** The server did not run, which says nothing about the catalog. */
  | { readonly kind: 'unknown'; readonly reason: string }
)

export interface CatalogImage {
  readonly reference: string
  /** From the image label that names the catalog directory. */
  readonly directory: string | undefined
  readonly entrypoint: readonly string[]
  readonly command: readonly string[]
  readonly user: string
  readonly platform: string
}

export interface RunningCatalog {
  readonly asked: readonly AskedServer[]
  /** One image per platform; empty for a directory. */
  readonly images: readonly CatalogImage[]
}

/** `head` is the channel head that we computed from the catalog. */
export function runningStep(
  running: RunningCatalog | undefined,
  about: {
    readonly catalog: Catalog
    readonly package: string
    readonly channel: string
    readonly head?: string | undefined
  },
): InstallStep {
  // Without an image, the check has not seen the catalog start.
  const title = running?.images.length ? 'The catalog runs' : 'A server answers from the catalog'
  if (running === undefined || running.asked.length + running.images.length === 0)
    return leftOut('running', title, 'no server was asked')
  const facts: string[] = []
  const remarks: Remark[] = []
  const refuse = (says: string) => remarks.push({ kind: 'refused', says, targets })
  for (const asked of running.asked)
    if (asked.kind === 'unknown')
      remarks.push({ kind: 'unknown', says: `${asked.server} could not be asked: ${asked.reason}`, targets })
    else if (asked.kind === 'refused') refuse(`${asked.server} does not serve it: ${asked.reason}`)
    else {
      const problems = [...problemsOf(asked, about)]
      problems.forEach((problem) => refuse(`${asked.server}: ${problem}`))
      if (problems.length === 0)
        facts.push(
          `${asked.server} ${asked.isPart ? `lists ${about.package}` : `lists ${asked.packages.length} packages`}, and gives ${asked.bundles.length} bundles of ${about.package}`,
        )
    }
  if (running.images.length === 0) facts.push('it is in no image, so how it starts was not checked')
  for (const image of running.images) {
    const { problems, warnings } = judgeImage(image)
    for (const says of problems) remarks.push({ kind: 'refused', says, targets: ['OLM v0'] })
    for (const says of warnings) remarks.push({ kind: 'warning', says, targets: ['OLM v0'] })
    if (problems.length === 0)
      facts.push(
        `its image for ${image.platform} starts ${[...image.entrypoint, ...image.command].join(' ')}`,
      )
  }
  return step('running', title, facts, remarks)
}

function* problemsOf(
  {
    packages,
    isPart,
    defaultChannel,
    channels,
    bundles,
    refusals,
  }: Extract<AskedServer, { readonly kind: 'answered' }>,
  { catalog, package: its, channel, head }: Parameters<typeof runningStep>[1],
): Generator<string> {
  yield* refusals
  const missing = new Set(
    catalog.packages
      .map(({ name }) => name)
      .filter((name) => (name === its || !isPart) && !packages.includes(name)),
  )
  if (missing.size > 0) yield `it does not list ${[...missing].slice(0, 3).map(quote).join(', ')}`
  const wanted = catalog.packages.find(({ name }) => name === its)?.defaultChannel
  if (wanted !== undefined && defaultChannel !== wanted)
    yield `the default channel of ${quote(its)} is ${quote(defaultChannel)}, not ${quote(wanted)}`
  const served = channels.find(({ name }) => name === channel)
  if (!served) yield `it has no channel ${quote(channel)}`
  else if (head !== undefined && served.head !== head)
    yield `the head of channel ${quote(channel)} is ${quote(served.head)}, not ${quote(head)}`
  const entries = catalog.channels
    .filter((blob) => blob.package === its)
    .flatMap(({ name, entries: all }) => all.map((entry) => ({ channel: name, name: entry.name })))
  const given = new Set(bundles.map((bundle) => `${bundle.channel}\n${bundle.name}`))
  const absent = entries.filter((entry) => !given.has(`${entry.channel}\n${entry.name}`))
  const [first] = absent
  if (first)
    yield `it does not give ${quote(first.name)} of channel ${quote(first.channel)}${absent.length > 1 ? ` and ${absent.length - 1} more` : ''}`
}

/** OLM v0 runs the image unchanged, so its command must serve the directory that the label names. */
function judgeImage({ reference, directory, entrypoint, command, user, platform }: CatalogImage): {
  readonly problems: readonly string[]
  readonly warnings: readonly string[]
} {
  const problems: string[] = []
  const warnings: string[] = []
  const which = `${reference} for ${platform}`
  const [program = '', ...rest] = [...entrypoint, ...command]
  if (directory === undefined) problems.push(`${which}: no label says where its catalog lies`)
  if (!/(?:^|\/)opm$/.test(program))
    warnings.push(
      `${which}: it starts ${quote(program)}, and not opm: whether that serves the catalog is not known`,
    )
  else if (rest[0] !== 'serve') problems.push(`${which}: it starts opm, and not opm serve`)
  else if (directory !== undefined && !rest.some((argument) => isDirectory(argument, directory)))
    problems.push(`${which}: it serves another directory than the label names, ${quote(`/${directory}`)}`)
  if (user === '' || /^(?:0|root)(?::|$)/.test(user))
    warnings.push(`${which}: it runs as root, which the restricted pod security of OLM does not allow`)
  return { problems, warnings }
}

function isDirectory(argument: string, directory: string): boolean {
  return (
    argument
      .split('/')
      .filter((part) => part !== '' && part !== '.')
      .join('/') === directory
  )
}
