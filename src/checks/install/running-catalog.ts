// Whether a catalog runs: what a server of it answered when it was asked for packages and bundles, and whether the image
// that carries it starts one. Judges what others asked; asks nobody.
import type { Catalog } from '../../catalog/facts/catalog.ts'
import { quote } from '../../go/text.ts'
import type { InstallStep, Remark } from './install-report.ts'
import { leftOut, step } from './steps/step.ts'
import { targets } from './targets.ts'

/** What became of asking one server. */
export type AskedServer = {
  /** For people: `our own server`, `opm`. */
  readonly server: string
} & (
  | {
      readonly kind: 'answered'
      /** It was given some packages only. */
      readonly isPart?: true
      readonly packages: readonly string[]
      readonly defaultChannel: string
      readonly channels: readonly { readonly name: string; readonly head: string }[]
      /** The bundles that it gave, by their channel. */
      readonly bundles: readonly { readonly channel: string; readonly name: string }[]
      /** What it would not answer, in its words. */
      readonly refusals: readonly string[]
    }
  /** It does not serve the catalog. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** It could not be asked: that says nothing of the catalog. */
  | { readonly kind: 'unknown'; readonly reason: string }
)

/** How a catalog image starts, as its config says. */
export interface CatalogImage {
  readonly reference: string
  /** Of the label that says where the catalog lies. */
  readonly directory: string | undefined
  readonly entrypoint: readonly string[]
  readonly command: readonly string[]
  readonly user: string
  readonly platform: string
}

export interface RunningCatalog {
  readonly asked: readonly AskedServer[]
  /** An image for each platform; none for a directory. */
  readonly images: readonly CatalogImage[]
}

/** `head` is the channel's, as it was told from the catalog itself. */
export function runningStep(
  running: RunningCatalog | undefined,
  about: {
    readonly catalog: Catalog
    readonly package: string
    readonly channel: string
    readonly head?: string | undefined
  },
): InstallStep {
  // Without an image it was not seen to start: only a server was asked what is in it.
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

/** OLM v0 runs the image as it is: what it starts has to serve the catalog that the label names. */
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
