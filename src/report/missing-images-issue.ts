// The issue that lists missing images. Its text depends only on the images.
import { compareCodeUnits } from '@catalog-bot/findings/finding'
import {
  ruleIdByImageScanFailureKind,
  type ImageScanFailureState,
  type ImageScanFailureKind,
} from '../checks/images/missing-images.ts'
import { formatIsoTime, formatCountWithNoun } from '@catalog-bot/findings/printable'
import { toCodeSpan, escapeMarkdown } from './escape.ts'
import { formatRuleLink } from './describe-findings.ts'
import { formatMention } from './next-steps.ts'

/** The hidden first line that identifies the issue among the issues of the same App (docs/dev/threats.md#t56). */
export const missingImagesMarker = '<!-- catalog-bot:image-scan -->'

export interface MissingImageLocation {
  /** '' if the reference does not belong to a package. */
  readonly package: string
  readonly bundle: string
  /** `listed`: an entry in a composite file. */
  readonly role: 'bundle' | 'related' | 'listed'
  readonly file: string
  readonly line: number
  /** Directory of the catalog, or '' for the repository root. Absent for a composite file. */
  readonly catalog?: string
  /** Absent for the default branch. */
  readonly branch?: string
}

export interface MissingImageReference extends ImageScanFailureState {
  readonly reference: string
  /** At least one, ordered by branch, catalog and file. */
  readonly places: readonly MissingImageLocation[]
}

export interface MissingImagesIssueOptions {
  readonly owners: ReadonlyMap<string, readonly string[]>
  /** Whether to mention owners so that GitHub notifies them. Otherwise, their names are shown as code. */
  readonly mentionOwners: boolean
  /** Base URL of the rule pages. The page of a rule is `<rulesUrl>/<id>.md`. */
  readonly rulesUrl?: string | undefined
}

/** GitHub rejects more than 65,536 characters. */
const maxIssueBodyLength = 60_000
const maxDisplayedImageLocations = 5
const maxDisplayedPackageOwners = 10

/** Title and body. Escapes untrusted text. Counts the entries that do not fit. */
export function renderMissingImagesIssue(
  missing: readonly MissingImageReference[],
  options: MissingImagesIssueOptions,
): { readonly title: string; readonly body: string } {
  const packages = groupMissingImagesByPackage(missing)
  const head = [
    missingImagesMarker,
    'Catalogs in this repository reference images that are missing or have changed. Users cannot install or upgrade to a version whose image is missing.',
    'catalog-bot checked each image at least twice, with some time between the checks. This list omits images whose registry did not give a clear response (private images, rate limits, outages).',
  ].join('\n\n')
  const kinds = new Set(missing.map(({ kind }) => kind))
  const foot = [
    `### What to do\n\n${[...kinds]
      .sort()
      .map((kind) => formatMissingImageAdvice(kind, options))
      .join('\n')}`,
    '<sub>catalog-bot updates this text and closes the issue when every image is available again. If you close the issue, catalog-bot reopens it only when another image goes missing.</sub>',
  ].join('\n\n')
  const remainingLength = maxIssueBodyLength - head.length - foot.length - 300
  const shown: string[] = []
  const left = { entries: 0, packages: 0 }
  let used = 0
  for (const [name, images] of packages) {
    const heading = formatPackageHeading(name, options)
    const entries: string[] = []
    for (const image of images) {
      const entry = describeMissingImage(image, name)
      const length = entry.length + 1 + (entries.length === 0 ? heading.length + 4 : 0)
      if (used + length > remainingLength) break
      used += length
      entries.push(entry)
    }
    if (entries.length > 0) shown.push(`${heading}\n\n${entries.join('\n')}`)
    if (entries.length < images.length) {
      left.entries += images.length - entries.length
      left.packages += 1
    }
  }
  const rest =
    left.entries === 0
      ? []
      : [
          `… and ${formatCountWithNoun(left.entries, 'more reference')} in ${formatCountWithNoun(left.packages, 'package')} that do not fit here. To list all of them, run ${toCodeSpan('catalog-bot images DIR')}.`,
        ]
  return {
    title: `${formatCountWithNoun(missing.length, 'image')} in ${formatMissingImagesIssueTitle(packages)} ${missing.length === 1 ? 'is' : 'are'} missing or changed`,
    body: [head, ...shown, ...rest, foot].join('\n\n'),
  }
}

/** Title and body of the closed issue, and the comment that closes it. */
export const resolvedMissingImagesIssue = {
  title: 'No images are missing',
  body: `${missingImagesMarker}\n\nEvery image in this issue is available again or is no longer referenced by a catalog.\n\n<sub>catalog-bot reopens this issue when images go missing.</sub>`,
  comment:
    'Every image in this issue is available again or is no longer referenced by a catalog. catalog-bot closes this issue.',
}

/** A reference as the body shows it. Used to find it in an issue that has no record. */
export const formatImageReferenceAsCode = (reference: string): string => toCodeSpan(reference, 500)

function groupMissingImagesByPackage(
  missing: readonly MissingImageReference[],
): readonly (readonly [name: string, images: readonly MissingImageReference[]])[] {
  const packages = new Map<string, MissingImageReference[]>()
  for (const image of missing)
    for (const name of new Set(image.places.map((location) => location.package))) {
      const images = packages.get(name)
      if (images === undefined) packages.set(name, [image])
      else images.push(image)
    }
  for (const images of packages.values()) images.sort((a, b) => compareCodeUnits(a.reference, b.reference))
  return [...packages].sort(([a], [b]) => compareCodeUnits(a, b))
}

function formatMissingImagesIssueTitle(packages: ReturnType<typeof groupMissingImagesByPackage>): string {
  const [[name] = [''], ...others] = packages
  // A title is plain text, but a name in it could still mention a user or close an issue.
  return others.length === 0 && /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(name)
    ? name
    : formatCountWithNoun(packages.length, 'package')
}

function formatPackageHeading(name: string, { owners, mentionOwners }: MissingImagesIssueOptions): string {
  const people = owners.get(name) ?? []
  const shown = people
    .slice(0, maxDisplayedPackageOwners)
    .map((person) => (mentionOwners ? formatMention(person) : toCodeSpan(person)))
  const more =
    people.length > maxDisplayedPackageOwners ? ` and ${people.length - maxDisplayedPackageOwners} more` : ''
  const heading = `### ${name === '' ? 'Outside packages' : toCodeSpan(name)}`
  return shown.length === 0 ? heading : `${heading}\n\nOwners: ${shown.join(', ')}${more}`
}

function describeMissingImage(
  { reference, kind, reason, since, places }: MissingImageReference,
  packageName: string,
): string {
  const day = formatIsoTime(since).slice(0, 10)
  const here = places.filter((location) => location.package === packageName)
  const lines = here
    .slice(0, maxDisplayedImageLocations)
    .map((location) => `  - ${formatImageLocation(location)}`)
  if (here.length > maxDisplayedImageLocations)
    lines.push(`  - … and ${formatCountWithNoun(here.length - maxDisplayedImageLocations, 'more location')}`)
  return [
    `- ${formatImageReferenceAsCode(reference)} **${missingImageProblemLabels[kind]}**, first detected on ${day}: ${escapeMarkdown(reason, 300)}`,
    ...lines,
  ].join('\n')
}

function formatImageLocation({ bundle, role, file, line, catalog, branch }: MissingImageLocation): string {
  const at = toCodeSpan(`${file}:${line}`, 300)
  const on = branch === undefined ? '' : ` on branch ${toCodeSpan(branch)}`
  if (role === 'listed') return `the entry ${toCodeSpan(bundle)} in ${at}${on}`
  const subject = role === 'bundle' ? 'the bundle image' : 'a related image'
  const where = catalog === undefined || catalog === '' ? '' : ` in the catalog ${toCodeSpan(catalog)}`
  return `${subject} of ${toCodeSpan(bundle)}${where}: ${at}${on}`
}

const missingImageProblemLabels: Readonly<Record<ImageScanFailureKind, string>> = {
  gone: 'is missing',
  'digest-mismatch': 'does not match its digest',
  unsupported: 'has a format that clusters cannot pull',
  'tag-moved': 'has a tag that was moved',
}

const adviceByMissingImageKind: Readonly<Record<ImageScanFailureKind, string>> = {
  gone: 'push the image again under the same reference. Alternatively, remove from the catalogs the versions that need the image, but keep an upgrade path for users who installed them',
  'digest-mismatch':
    'ask the registry administrators why this digest has different content. Users cannot install the version until the registry is fixed',
  unsupported:
    'push the image again in a current format (OCI, or Docker schema 2), and use its new digest in a new version',
  'tag-moved':
    'use the new digest in a new version, or remove the tag from the reference. Clusters pull by digest',
}

function formatMissingImageAdvice(kind: ImageScanFailureKind, options: MissingImagesIssueOptions): string {
  const page = formatRuleLink({ rule: ruleIdByImageScanFailureKind[kind] }, options)
  return `- If an image ${missingImageProblemLabels[kind]} (${page}), ${adviceByMissingImageKind[kind]}.`
}
