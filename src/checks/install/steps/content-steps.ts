// The install steps that need the contents of bundles.
import type { BundleBlob } from '@catalog-bot/fbc/facts/catalog'
import type { BundleFormat } from '@catalog-bot/bundle/bundle-files'
import { compareBundleWithImage } from '@catalog-bot/bundle/render/render-bundle'
import { compareBundledCrds } from '@catalog-bot/bundle/upgrade/check-crd-upgrade'
import { createBundleFieldLocator } from '@catalog-bot/bundle/manifest-document'
import type { Finding, Severity } from '@catalog-bot/findings/finding'
import { redactBundleFindings } from '../../images/redact-restricted-bundle.ts'
import {
  type InstallStep,
  type InstallNote,
  createSkippedInstallStep,
  createInstallStep,
  installTargets,
  listInstallTargetsForFormat,
  type InstallTarget,
} from '../install-report.ts'
import {
  type BundleContentForInstall,
  type InstallSimulationDependencies,
  computeUnpackConfigMapName,
} from '../install-analysis.ts'

export interface BundleWithInstallTargets {
  readonly blob: BundleBlob
  readonly targets: readonly InstallTarget[]
  readonly content: BundleContentForInstall
}

/**
 * Determines the severity of a finding about a bundle and whether it is shown separately. A finding that is shown
 * separately is not repeated as an install failure.
 */
export type InstallFindingClassifier = (
  found: Finding,
  blob: BundleBlob,
) => { readonly severity: Severity | 'off'; readonly isShown: boolean }

interface ReadableBundleWithInstallTargets extends BundleWithInstallTargets {
  readonly content: Extract<BundleContentForInstall, { readonly kind: 'bundle' }>
}

const keepOriginalFindingSeverity: InstallFindingClassifier = ({ severity }) => ({ severity, isShown: false })

/** `format` is undefined if no bundle could be opened. In this case, any target can apply. */
export function createBundleContentSteps(
  opened: readonly BundleWithInstallTargets[],
  before: Omit<BundleWithInstallTargets, 'targets'> | undefined,
  format: BundleFormat | undefined,
  {
    sha256,
    classify = keepOriginalFindingSeverity,
  }: InstallSimulationDependencies & { readonly classify?: InstallFindingClassifier },
): readonly InstallStep[] {
  const mine = format === undefined ? installTargets : listInstallTargetsForFormat(format)
  const concerned = opened.map((one): BundleWithInstallTargets => ({
    ...one,
    targets: mine.filter((each) => one.targets.includes(each)),
  }))
  const readable = concerned.filter(
    (one): one is ReadableBundleWithInstallTargets => one.content.kind === 'bundle',
  )
  const content = createContentAvailabilityStep(concerned)
  const [root] = concerned
  const steps = [
    content,
    ...(mine.includes('OLM v0') ? [createBundleUnpackingStep(readable, sha256)] : []),
    createBundleValidationStep(readable),
    createManifestRenderStep(readable, classify),
    createKubeObjectSchemaStep(readable, classify),
    createCrdUpgradeStep(concerned.find((one) => one.targets.includes('OLM v1')) ?? root, before, classify),
  ]
  if (opened.length === 0)
    return steps.map(({ id, title }) => createSkippedInstallStep(id, title, 'Nothing resolves.'))
  if (readable.length > 0) return steps
  const rest = steps
    .slice(1)
    .map(({ id, title }) => createSkippedInstallStep(id, title, 'No bundle could be opened.'))
  return [content, ...rest]
}

function createContentAvailabilityStep(opened: readonly BundleWithInstallTargets[]): InstallStep {
  const remarks = opened.flatMap(({ blob, content, targets: own }): readonly InstallNote[] => {
    if (content.kind === 'missing')
      return [{ kind: 'refused', says: `${blob.name}: ${content.reason}`, targets: own }]
    if (content.kind === 'unknown')
      return [{ kind: 'unknown', says: `${blob.name} could not be opened: ${content.reason}`, targets: own }]
    return [
      ...createInlineBundleNotes(blob, content.from, own),
      ...createCatalogMismatchNotes({ blob, content, targets: own }),
    ]
  })
  return createInstallStep('content', 'Bundles exist and match the catalog', [], remarks)
}

/** Only OLM v0 installs a bundle without an image from manifests in the catalog. */
function createInlineBundleNotes(
  { name, image }: BundleBlob,
  from: ReadableBundleWithInstallTargets['content']['from'],
  own: readonly InstallTarget[],
): readonly InstallNote[] {
  if (from !== 'catalog') return []
  const others = own.filter((target) => target !== 'OLM v0')
  if (image === '') return [{ kind: 'refused', says: `${name} has no image.`, targets: others }]
  const message = `The image of ${name} was not looked up; the manifests in the catalog were used instead.`
  return [{ kind: 'unknown', says: message, targets: own }]
}

/** Differences between catalog and bundle. With a different name, package or version, OLM installs the wrong thing. */
function createCatalogMismatchNotes({
  blob,
  content: { facts },
  targets: own,
}: ReadableBundleWithInstallTargets): readonly InstallNote[] {
  if (!facts.statement) return []
  return compareBundleWithImage(blob, facts.statement, blob.image).map(
    ({ field, catalog, image, isIdentity }) => ({
      kind: isIdentity ? 'refused' : 'warning',
      says: `${blob.name}: ${field} is ${catalog ?? '(absent)'} in the catalog and ${image ?? '(absent)'} in the bundle.`,
      targets: own,
    }),
  )
}

function createBundleUnpackingStep(
  readable: readonly ReadableBundleWithInstallTargets[],
  sha256: InstallSimulationDependencies['sha256'],
): InstallStep {
  const title = 'OLM v0 can unpack the bundles'
  const v0: readonly InstallTarget[] = ['OLM v0']
  const facts: string[] = []
  const remarks: InstallNote[] = []
  const its = readable.filter((one) => one.targets.includes('OLM v0'))
  if (its.length === 0)
    return createSkippedInstallStep('unpacking', title, 'OLM v0 installs none of the bundles.')
  for (const { blob, content } of its) {
    const { unpacked } = content.facts
    if (!unpacked) {
      if (content.from === 'catalog') facts.push(`The catalog contains the manifests of ${blob.name}.`)
      else remarks.push({ kind: 'unknown', says: `${blob.name} was not unpacked.`, targets: v0 })
      continue
    }
    const { bytes, keys, problems, open, largest } = unpacked
    const name =
      sha256 && blob.image !== '' ? `, unpacked as ${computeUnpackConfigMapName(blob.image, sha256)}` : ''
    facts.push(`${blob.name}: ${keys.length} files, ${bytes} bytes compressed${name}`)
    const files = largest.map((one) => `${one.file} (${one.bytes})`).join(', ')
    for (const problem of problems)
      remarks.push({ kind: 'refused', says: `${blob.name}: ${problem}`, targets: v0 })
    for (const problem of open) {
      const message = `${blob.name}: ${problem} Largest files: ${files}.`
      remarks.push({ kind: 'unknown', says: message, targets: v0 })
    }
  }
  const isDone = remarks.length > 0 || its.some(({ content }) => content.facts.unpacked)
  return isDone
    ? createInstallStep('unpacking', title, facts, remarks)
    : createSkippedInstallStep('unpacking', title, ...facts)
}

/** Rules whose findings prevent an install with OLM v0 and RukPak. For OLM v1, its renderer determines this. */
const installBlockingRuleIds: ReadonlySet<string> = new Set([
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
const olmV0BlockingRuleIds: ReadonlySet<string> = new Set([
  'kind-not-bundled',
  'several-documents-in-manifest',
])
/** The unpacking step reports these. */
const bundleUnpackingStepRuleIds: ReadonlySet<string> = new Set([
  'colliding-file-names',
  'misnamed-annotations-file',
  'nested-bundle-directory',
  'oversized-bundle-content',
])

function createBundleValidationStep(readable: readonly ReadableBundleWithInstallTargets[]): InstallStep {
  const remarks = readable.flatMap(({ blob, content: { facts }, targets: own }) =>
    // The unpacking step reports the size.
    facts.invalid
      .filter(({ rule }) => !bundleUnpackingStepRuleIds.has(rule))
      .map((finding): InstallNote => {
        const message = formatBundleFinding(blob, finding)
        if (olmV0BlockingRuleIds.has(finding.rule))
          return { kind: 'refused', says: message, targets: own.filter((target) => target === 'OLM v0') }
        if (installBlockingRuleIds.has(finding.rule))
          return { kind: 'refused', says: message, targets: own.filter((target) => target !== 'OLM v1') }
        return { kind: 'warning', says: message, targets: own }
      }),
  )
  return createInstallStep('validation', 'Bundles are valid', [], remarks)
}

function createManifestRenderStep(
  readable: readonly ReadableBundleWithInstallTargets[],
  classify: InstallFindingClassifier,
): InstallStep {
  const facts: string[] = []
  const remarks: InstallNote[] = []
  for (const { blob, content, targets: own } of readable) {
    const { rendering, rukPak } = content.facts
    const isRegistry = rendering.format === 'registry+v1'
    const renderers = isRegistry ? own.filter((target) => target === 'OLM v1') : own
    // OLM v1 rejects the bundle regardless of the configured severity.
    const areShown =
      rendering.findings.length > 0 &&
      rendering.findings.map((one) => classify(one, blob).isShown).every(Boolean)
    for (const message of rendering.refusals)
      remarks.push({
        kind: 'refused',
        says: `${blob.name}: ${message}`,
        targets: renderers,
        ...(areShown && { isShown: true }),
      })
    for (const question of rendering.open)
      remarks.push({ kind: 'unknown', says: `${blob.name}: ${question}`, targets: renderers })
    const converter = own.filter((target) => target === 'RukPak registry')
    for (const problem of rukPak)
      remarks.push({ kind: 'refused', says: `${blob.name}: ${problem}`, targets: converter })
    if (rendering.refusals.length === 0)
      facts.push(`${blob.name}: ${formatKubeObjectKindCounts(rendering.kinds)}`)
  }
  return createInstallStep('rendering', "The installer can render the bundle's objects", facts, remarks)
}

function formatKubeObjectKindCounts(kinds: readonly (readonly [kind: string, count: number])[]): string {
  return kinds.length === 0 ? 'no objects' : kinds.map(([kind, count]) => `${count} ${kind}`).join(', ')
}

function createKubeObjectSchemaStep(
  readable: readonly ReadableBundleWithInstallTargets[],
  classify: InstallFindingClassifier,
): InstallStep {
  const remarks = readable.flatMap(({ blob, content: { facts }, targets: own }) => [
    ...facts.manifests.flatMap((found) => createInstallNotesForFinding(blob, found, own, classify)),
    // OLM never applies examples.
    ...facts.examples
      .flatMap((found) => createInstallNotesForFinding(blob, found, own, classify))
      .map((remark): InstallNote => ({ ...remark, kind: 'warning' })),
  ])
  return createInstallStep('schemas', 'The API server accepts the objects', [], remarks)
}

function createCrdUpgradeStep(
  root: BundleWithInstallTargets | undefined,
  before: Omit<BundleWithInstallTargets, 'targets'> | undefined,
  classify: InstallFindingClassifier,
): InstallStep {
  const title = 'Existing custom resources survive the upgrade'
  const all: readonly InstallTarget[] = ['OLM v0', 'OLM v1']
  if (!before || root?.content.kind !== 'bundle')
    return createSkippedInstallStep('crds', title, 'There is no earlier version to upgrade from.')
  if (!root.targets.some((target) => all.includes(target)))
    return createSkippedInstallStep('crds', title, 'OLM does not install bundles in this format.')
  // These findings are at most warnings for OLM v0, so a missing check doesn't make its result unknown.
  const createUnknownStep = (message: string): InstallStep =>
    createInstallStep(
      'crds',
      title,
      [],
      [
        { kind: 'unknown', says: message, targets: ['OLM v1'] },
        { kind: 'warning', says: message, targets: ['OLM v0'] },
      ],
    )
  if (before.content.kind !== 'bundle')
    return createUnknownStep(
      `The previous head, ${before.blob.name}, could not be opened: ${before.content.reason}`,
    )
  const [old, now] = [before.content.facts, root.content.facts]
  const large = old.exceededCrdLimit === undefined ? now.exceededCrdLimit : old.exceededCrdLimit
  if (large !== undefined)
    return createUnknownStep(`The CRDs were not compared, because they exceed ${large} characters.`)
  const locationOf = root.content.files && createBundleFieldLocator(root.content.files)
  if (!old.crds)
    return createUnknownStep(`The CRDs of the previous head, ${before.blob.name}, could not be read.`)
  if (!now.crds) return createUnknownStep(`The CRDs of ${root.blob.name} could not be read.`)
  if (old.crds.length === 0)
    return createSkippedInstallStep('crds', title, `${before.blob.name} has no CRDs.`)
  const found = compareBundledCrds(old.crds, now.crds, locationOf)
  const isRestricted = (old.isRestricted ?? false) || (now.isRestricted ?? false)
  const shown = isRestricted ? redactBundleFindings(found, root.blob.image) : found
  const remarks = shown.flatMap((one): InstallNote[] => {
    const { severity, isShown } = classify(one, root.blob)
    if (severity === 'off') return []
    const message = formatBundleFinding(root.blob, one)
    // OLM v0 usually accepts what OLM v1 rejects here.
    return one.data?.['isSilent'] === true
      ? [{ kind: 'warning', says: message, targets: all }]
      : [
          { kind: 'refused', says: message, targets: ['OLM v1'], ...(isShown && { isShown: true as const }) },
          { kind: 'warning', says: message, targets: ['OLM v0'] },
        ]
  })
  return createInstallStep('crds', title, [`Compared ${before.blob.name} with ${root.blob.name}.`], remarks)
}

function createInstallNotesForFinding(
  blob: BundleBlob,
  found: Finding,
  own: readonly InstallTarget[],
  classify: InstallFindingClassifier,
): readonly InstallNote[] {
  const { severity, isShown } = classify(found, blob)
  if (severity === 'off') return []
  return [
    {
      kind: severity === 'error' ? 'refused' : 'warning',
      says: formatBundleFinding(blob, found),
      targets: own,
      ...(isShown && { isShown: true as const }),
    },
  ]
}

function formatBundleFinding({ name }: BundleBlob, { what, at, rule }: Finding): string {
  return `${name}: ${what}${at ? ` (${at.file}, line ${at.line})` : ''} [${rule}]`
}
