// The install steps that need the contents of bundles.
import type { BundleBlob } from '../../../catalog/facts/catalog.ts'
import type { BundleFormat } from '../../../bundle/bundle-files.ts'
import { compareWithImage } from '../../../bundle/render/compare-with-image.ts'
import { compareCrdsOfBundles } from '../../../bundle/upgrade/check-crd-upgrade.ts'
import { bundlePlaces } from '../../../bundle/bundle-places.ts'
import type { Finding, Severity } from '../../../findings/finding.ts'
import { withoutFindingDetails } from '../../images/restricted-bundle.ts'
import type { InstallStep, Remark } from '../install-report.ts'
import type { BundleContent, Tools } from '../bundle-content.ts'
import { targets, targetsOf, type Target } from '../targets.ts'
import { unpackName } from '../unpack-bundle.ts'
import { leftOut, step } from './step.ts'

export interface OpenedBundle {
  readonly blob: BundleBlob
  /** The targets that install this bundle. */
  readonly targets: readonly Target[]
  readonly content: BundleContent
}

/**
 * Weighs a finding about a bundle and says whether it is shown separately. A finding shown separately is not repeated
 * as an install failure.
 */
export type WeighFinding = (
  found: Finding,
  blob: BundleBlob,
) => { readonly severity: Severity | 'off'; readonly isShown: boolean }

interface ReadBundle extends OpenedBundle {
  readonly content: Extract<BundleContent, { readonly kind: 'bundle' }>
}

const asItIs: WeighFinding = ({ severity }) => ({ severity, isShown: false })

/** `format` is undefined if no bundle could be opened; then any target may apply. */
export function contentSteps(
  opened: readonly OpenedBundle[],
  before: Omit<OpenedBundle, 'targets'> | undefined,
  format: BundleFormat | undefined,
  { sha256, weigh = asItIs }: Tools & { readonly weigh?: WeighFinding },
): readonly InstallStep[] {
  const mine = format === undefined ? targets : targetsOf(format)
  const concerned = opened.map((one): OpenedBundle => ({
    ...one,
    targets: mine.filter((each) => one.targets.includes(each)),
  }))
  const readable = concerned.filter((one): one is ReadBundle => one.content.kind === 'bundle')
  const content = contentStep(concerned)
  const [root] = concerned
  const steps = [
    content,
    ...(mine.includes('OLM v0') ? [unpackingStep(readable, sha256)] : []),
    validationStep(readable),
    renderingStep(readable, weigh),
    schemasStep(readable, weigh),
    crdsStep(concerned.find((one) => one.targets.includes('OLM v1')) ?? root, before, weigh),
  ]
  if (opened.length === 0) return steps.map(({ id, title }) => leftOut(id, title, 'nothing is resolved'))
  if (readable.length > 0) return steps
  const rest = steps.slice(1).map(({ id, title }) => leftOut(id, title, 'no bundle could be opened'))
  return [content, ...rest]
}

function contentStep(opened: readonly OpenedBundle[]): InstallStep {
  const remarks = opened.flatMap(({ blob, content, targets: own }): readonly Remark[] => {
    if (content.kind === 'missing')
      return [{ kind: 'refused', says: `${blob.name}: ${content.reason}`, targets: own }]
    if (content.kind === 'unknown')
      return [
        {
          kind: 'unknown',
          says: `${blob.name}: its content could not be had: ${content.reason}`,
          targets: own,
        },
      ]
    return [...ofCatalog(blob, content.from, own), ...differences({ blob, content, targets: own })]
  })
  return step('content', 'The bundles are there, and are what the catalog says', [], remarks)
}

/** Only OLM v0 installs a bundle without an image from manifests in the catalog. */
function ofCatalog(
  { name, image }: BundleBlob,
  from: ReadBundle['content']['from'],
  own: readonly Target[],
): readonly Remark[] {
  if (from !== 'catalog') return []
  if (image === '')
    return [
      {
        kind: 'refused',
        says: `${name}: it has no image`,
        targets: own.filter((target) => target !== 'OLM v0'),
      },
    ]
  return [
    {
      kind: 'unknown',
      says: `${name}: no registry was asked for its image; its manifests are those of the catalog`,
      targets: own,
    },
  ]
}

/** Differences between catalog and bundle. With a different name, package or version, OLM installs the wrong thing. */
function differences({ blob, content: { facts }, targets: own }: ReadBundle): readonly Remark[] {
  if (!facts.statement) return []
  return compareWithImage(blob, facts.statement, blob.image).map(({ field, catalog, image, isIdentity }) => ({
    kind: isIdentity ? 'refused' : 'warning',
    says: `${blob.name}: the catalog says ${field} ${catalog ?? '(nothing)'}, the bundle ${image ?? '(nothing)'}`,
    targets: own,
  }))
}

function unpackingStep(readable: readonly ReadBundle[], sha256: Tools['sha256']): InstallStep {
  const title = 'OLM v0 unpacks the bundles'
  const v0: readonly Target[] = ['OLM v0']
  const facts: string[] = []
  const remarks: Remark[] = []
  const its = readable.filter((one) => one.targets.includes('OLM v0'))
  if (its.length === 0) return leftOut('unpacking', title, 'OLM v0 installs none of the bundles')
  for (const { blob, content } of its) {
    const { unpacked } = content.facts
    if (!unpacked) {
      if (content.from === 'catalog') facts.push(`${blob.name}: its manifests come with the catalog`)
      else remarks.push({ kind: 'unknown', says: `${blob.name}: it was not unpacked`, targets: v0 })
      continue
    }
    const { bytes, keys, problems, open, largest } = unpacked
    const name = sha256 && blob.image !== '' ? `, as ${unpackName(blob.image, sha256)}` : ''
    facts.push(`${blob.name}: ${keys.length} files, ${bytes} bytes packed${name}`)
    const files = largest.map((one) => `${one.file} (${one.bytes})`).join(', ')
    for (const problem of problems)
      remarks.push({ kind: 'refused', says: `${blob.name}: ${problem}`, targets: v0 })
    for (const says of open)
      remarks.push({ kind: 'unknown', says: `${blob.name}: ${says}; largest: ${files}`, targets: v0 })
  }
  const isDone = remarks.length > 0 || its.some(({ content }) => content.facts.unpacked)
  return isDone ? step('unpacking', title, facts, remarks) : leftOut('unpacking', title, ...facts)
}

/** Rules whose findings stop OLM v0 and RukPak. OLM v1's refusals come from its renderer. */
const fatal: ReadonlySet<string> = new Set([
  'broken-chart',
  'broken-crd',
  'broken-deployment',
  'broken-webhook',
  'duplicate-crd',
  'invalid-csv-name',
  'several-csvs',
  'undecodable-manifest',
  'unreadable-bundle',
  'unserved-owned-crd',
  'unusable-install-modes',
])
/** Only OLM v0 limits kinds and reads just one document per file. */
const fatalForV0: ReadonlySet<string> = new Set(['kind-not-bundled', 'several-documents-in-manifest'])
/** The unpacking step reports these. */
const toldElsewhere: ReadonlySet<string> = new Set([
  'colliding-file-names',
  'misnamed-annotations-file',
  'nested-bundle-directory',
  'oversized-bundle-content',
])

function validationStep(readable: readonly ReadBundle[]): InstallStep {
  const remarks = readable.flatMap(({ blob, content: { facts }, targets: own }) =>
    // The unpacking step reports the size.
    facts.invalid
      .filter(({ rule }) => !toldElsewhere.has(rule))
      .map((finding): Remark => {
        const says = inWords(blob, finding)
        if (fatalForV0.has(finding.rule))
          return { kind: 'refused', says, targets: own.filter((target) => target === 'OLM v0') }
        if (fatal.has(finding.rule))
          return { kind: 'refused', says, targets: own.filter((target) => target !== 'OLM v1') }
        return { kind: 'warning', says, targets: own }
      }),
  )
  return step('validation', 'The bundles are valid', [], remarks)
}

function renderingStep(readable: readonly ReadBundle[], weigh: WeighFinding): InstallStep {
  const facts: string[] = []
  const remarks: Remark[] = []
  for (const { blob, content, targets: own } of readable) {
    const { rendering, rukPak } = content.facts
    const isRegistry = rendering.format === 'registry+v1'
    const renderers = isRegistry ? own.filter((target) => target === 'OLM v1') : own
    // OLM v1 rejects the bundle regardless of the configured severity.
    const areShown =
      rendering.findings.length > 0 &&
      rendering.findings.map((one) => weigh(one, blob).isShown).every(Boolean)
    for (const message of rendering.refusals)
      remarks.push({
        kind: 'refused',
        says: `${blob.name}: ${message}`,
        targets: renderers,
        ...(areShown && { isShown: true }),
      })
    for (const says of rendering.open)
      remarks.push({ kind: 'unknown', says: `${blob.name}: ${says}`, targets: renderers })
    const converter = own.filter((target) => target === 'RukPak registry')
    for (const says of rukPak)
      remarks.push({ kind: 'refused', says: `${blob.name}: ${says}`, targets: converter })
    if (rendering.refusals.length === 0) facts.push(`${blob.name}: ${kindsOf(rendering.kinds)}`)
  }
  return step('rendering', 'It becomes objects of a cluster', facts, remarks)
}

function kindsOf(kinds: readonly (readonly [kind: string, count: number])[]): string {
  return kinds.length === 0 ? 'no objects' : kinds.map(([kind, count]) => `${count} ${kind}`).join(', ')
}

function schemasStep(readable: readonly ReadBundle[], weigh: WeighFinding): InstallStep {
  const remarks = readable.flatMap(({ blob, content: { facts }, targets: own }) => [
    ...facts.manifests.flatMap((found) => remarkOf(blob, found, own, weigh)),
    // OLM never applies examples.
    ...facts.examples
      .flatMap((found) => remarkOf(blob, found, own, weigh))
      .map((remark): Remark => ({ ...remark, kind: 'warning' })),
  ])
  return step('schemas', 'A cluster takes the objects', [], remarks)
}

function crdsStep(
  root: OpenedBundle | undefined,
  before: Omit<OpenedBundle, 'targets'> | undefined,
  weigh: WeighFinding,
): InstallStep {
  const title = 'Custom resources outlive the upgrade'
  const all: readonly Target[] = ['OLM v0', 'OLM v1']
  if (!before || root?.content.kind !== 'bundle')
    return leftOut('crds', title, 'there is nothing to upgrade from')
  if (!root.targets.some((target) => all.includes(target)))
    return leftOut('crds', title, 'OLM does not take bundles of this format')
  // These findings are at most warnings for OLM v0, so a missing check doesn't make its result unknown.
  const open = (says: string): InstallStep =>
    step(
      'crds',
      title,
      [],
      [
        { kind: 'unknown', says, targets: ['OLM v1'] },
        { kind: 'warning', says, targets: ['OLM v0'] },
      ],
    )
  if (before.content.kind !== 'bundle')
    return open(`${before.blob.name}, the old head: its content could not be had: ${before.content.reason}`)
  const [old, now] = [before.content.facts, root.content.facts]
  const large = old.largestCrds === undefined ? now.largestCrds : old.largestCrds
  if (large !== undefined) return open(`the CRDs are larger than the ${large} characters that are compared`)
  const placeOf = root.content.files && bundlePlaces(root.content.files)
  if (!old.crds) return open(`${before.blob.name}, the old head: its CRDs could not be read`)
  if (!now.crds) return open(`${root.blob.name}: its CRDs could not be read`)
  if (old.crds.length === 0) return leftOut('crds', title, `${before.blob.name} has no CRDs`)
  const found = compareCrdsOfBundles(old.crds, now.crds, placeOf)
  const isRestricted = (old.isRestricted ?? false) || (now.isRestricted ?? false)
  const shown = isRestricted ? withoutFindingDetails(found, root.blob.image) : found
  const remarks = shown.flatMap((one): Remark[] => {
    const { severity, isShown } = weigh(one, root.blob)
    if (severity === 'off') return []
    const says = inWords(root.blob, one)
    // OLM v0 usually accepts what OLM v1 rejects here.
    return one.data?.['isSilent'] === true
      ? [{ kind: 'warning', says, targets: all }]
      : [
          { kind: 'refused', says, targets: ['OLM v1'], ...(isShown && { isShown: true as const }) },
          { kind: 'warning', says, targets: ['OLM v0'] },
        ]
  })
  return step('crds', title, [`from ${before.blob.name} to ${root.blob.name}`], remarks)
}

function remarkOf(
  blob: BundleBlob,
  found: Finding,
  own: readonly Target[],
  weigh: WeighFinding,
): readonly Remark[] {
  const { severity, isShown } = weigh(found, blob)
  if (severity === 'off') return []
  return [
    {
      kind: severity === 'error' ? 'refused' : 'warning',
      says: inWords(blob, found),
      targets: own,
      ...(isShown && { isShown: true as const }),
    },
  ]
}

function inWords({ name }: BundleBlob, { what, at, rule }: Finding): string {
  return `${name}: ${what}${at ? ` (${at.file}, line ${at.line})` : ''} [${rule}]`
}
