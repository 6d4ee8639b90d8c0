// The steps of an install for which its bundles are opened: what is in them, what unpacking makes of it, what OLM would
// create, and whether a cluster takes that.
import type { BundleBlob } from '../../../catalog/facts/catalog.ts'
import type { BundleFormat } from '../../../bundle/bundle-files.ts'
import { compareWithImage } from '../../../bundle/render/compare-with-image.ts'
import { renderBundle } from '../../../bundle/render/render-bundle.ts'
import { readRegistryBundle } from '../../../bundle/registry-bundle.ts'
import { validateBundle } from '../../../bundle/validate-bundle.ts'
import { checkExamples } from '../../../bundle/kubernetes/check-examples.ts'
import { checkManifests } from '../../../bundle/kubernetes/check-manifests.ts'
import { checkCrdUpgrade } from '../../../bundle/upgrade/check-crd-upgrade.ts'
import type { Finding } from '../../../findings/finding.ts'
import type { InstallStep, Remark } from '../install-report.ts'
import { renderedBundle } from '../rendered-bundle.ts'
import { rukPakRefusals } from '../rukpak-refusals.ts'
import type { BundleContent, Tools } from '../bundle-content.ts'
import { targets, targetsOf, type Target } from '../targets.ts'
import { unpackBundle } from '../unpack-bundle.ts'
import { step } from './step.ts'

export interface OpenedBundle {
  readonly blob: BundleBlob
  readonly content: BundleContent
}

interface FilesOfBundle {
  readonly blob: BundleBlob
  readonly content: Extract<BundleContent, { readonly kind: 'files' }>
}

/** The first of the bundles is the one that is installed; the others come along. */
export function contentSteps(
  opened: readonly OpenedBundle[],
  before: OpenedBundle | undefined,
  format: BundleFormat,
  tools: Tools,
): readonly InstallStep[] {
  const readable = opened.filter((one): one is FilesOfBundle => one.content.kind === 'files')
  const own = targetsOf(format)
  const content = contentStep(opened, own)
  const [root] = opened
  const steps = [
    content,
    unpackingStep(readable, tools),
    validationStep(readable, format),
    renderingStep(readable, root?.blob),
    schemasStep(readable, own),
    crdsStep(root, before),
  ]
  if (readable.length > 0 || opened.length === 0)
    return opened.length === 0 ? steps.map((each) => leftOut(each, 'nothing is resolved')) : steps
  return [content, ...steps.slice(1).map((each) => leftOut(each, 'no bundle could be opened'))]
}

function leftOut({ id, title }: InstallStep, why: string): InstallStep {
  return { id, title, outcome: 'left out', facts: [why], remarks: [] }
}

function contentStep(opened: readonly OpenedBundle[], own: readonly Target[]): InstallStep {
  const remarks = opened.flatMap(({ blob, content }): readonly Remark[] => {
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
    return differences({ blob, content }, own)
  })
  return step('content', 'The bundles are there, and are what the catalog says', [], remarks)
}

/** What the catalog says otherwise than the bundle. Another name, package or version: the wrong thing is installed. */
function differences({ blob, content }: FilesOfBundle, own: readonly Target[]): readonly Remark[] {
  const { bundle } = readRegistryBundle(content.files)
  if (!bundle) return []
  // Whole manifests are not compared: catalogs may keep them in several ways.
  const { relatedImages = [], ...rendered } = renderBundle({ ...bundle, objects: [] }, blob.image)
  return compareWithImage(blob, { ...rendered, relatedImages }, blob.image).map(
    ({ field, catalog, image, isIdentity }) => ({
      kind: isIdentity ? 'refused' : 'warning',
      says: `${blob.name}: the catalog says ${field} ${catalog ?? '(nothing)'}, the bundle ${image ?? '(nothing)'}`,
      targets: own,
    }),
  )
}

function unpackingStep(readable: readonly FilesOfBundle[], { packedSize, sha256 }: Tools): InstallStep {
  const v0: readonly Target[] = ['OLM v0']
  const facts: string[] = []
  const remarks: Remark[] = []
  for (const { blob, content } of readable) {
    const { name, bytes, keys, problems, open, largest } = unpackBundle(content.files, {
      reference: blob.image,
      packedSize,
      sha256,
    })
    facts.push(
      `${blob.name}: ${keys.length} files, ${bytes} bytes packed${name === undefined ? '' : `, as ${name}`}`,
    )
    const files = largest.map((one) => `${one.file} (${one.bytes})`).join(', ')
    for (const problem of problems)
      remarks.push({ kind: 'refused', says: `${blob.name}: ${problem}`, targets: v0 })
    for (const says of open)
      remarks.push({ kind: 'unknown', says: `${blob.name}: ${says}; largest: ${files}`, targets: v0 })
  }
  return step('unpacking', 'OLM v0 unpacks the bundles', facts, remarks)
}

/** What keeps OLM v0, and RukPak after it, from installing; OLM v1's own reasons come from its renderer. */
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
/** OLM v0 alone has its own list of kinds, and reads one document of a file. */
const fatalForV0: ReadonlySet<string> = new Set(['kind-not-bundled', 'several-documents-in-manifest'])
/** Told by the step that unpacks. */
const toldElsewhere: ReadonlySet<string> = new Set([
  'colliding-file-names',
  'misnamed-annotations-file',
  'nested-bundle-directory',
  'oversized-bundle-content',
])

function validationStep(readable: readonly FilesOfBundle[], format: BundleFormat): InstallStep {
  const own = targetsOf(format)
  const remarks = readable.flatMap(({ blob, content: { files, labels } }) =>
    // Its size is told by the step that unpacks.
    validateBundle(files, { labels })
      .findings.filter(({ rule, severity }) => severity === 'error' && !toldElsewhere.has(rule))
      .map((finding): Remark => {
        const says = inWords(blob, finding)
        if (fatalForV0.has(finding.rule)) return { kind: 'refused', says, targets: ['OLM v0'] }
        if (fatal.has(finding.rule))
          return { kind: 'refused', says, targets: own.filter((target) => target !== 'OLM v1') }
        return { kind: 'warning', says, targets: own }
      }),
  )
  return step('validation', 'The bundles are valid', [], remarks)
}

function renderingStep(readable: readonly FilesOfBundle[], root: BundleBlob | undefined): InstallStep {
  const facts: string[] = []
  const remarks: Remark[] = []
  for (const { blob, content } of readable) {
    const rendering = renderedBundle(content.files)
    const own = rendering.format === undefined ? targets : targetsOf(rendering.format)
    const renderers = rendering.format === 'registry+v1' ? (['OLM v1'] as const) : own
    for (const { message } of rendering.refusals)
      remarks.push({ kind: 'refused', says: `${blob.name}: ${message}`, targets: renderers })
    for (const says of rendering.open)
      remarks.push({ kind: 'unknown', says: `${blob.name}: ${says}`, targets: renderers })
    // RukPak installs one bundle and looks for no others.
    if (blob === root)
      for (const says of rukPakRefusals(content.files))
        remarks.push({ kind: 'refused', says: `${blob.name}: ${says}`, targets: ['RukPak registry'] })
    if (rendering.refusals.length === 0) facts.push(`${blob.name}: ${kindsOf(rendering.objects)}`)
  }
  return step('rendering', 'It becomes objects of a cluster', facts, remarks)
}

function kindsOf(objects: readonly { readonly kind: string }[]): string {
  const counts = [...Map.groupBy(objects, ({ kind }) => kind)].map(
    ([kind, { length }]) => `${length} ${kind}`,
  )
  return counts.length === 0 ? 'no objects' : counts.join(', ')
}

function schemasStep(readable: readonly FilesOfBundle[], own: readonly Target[]): InstallStep {
  const remarks = readable.flatMap(({ blob, content: { files } }) => [
    ...checkManifests(files).map((found) => remarkOf(blob, found, own)),
    // An example is for people to apply: OLM never does.
    ...checkExamples(files).map((found): Remark => ({ ...remarkOf(blob, found, own), kind: 'warning' })),
  ])
  return step('schemas', 'A cluster takes the objects', [], remarks)
}

function crdsStep(root: OpenedBundle | undefined, before: OpenedBundle | undefined): InstallStep {
  const title = 'Custom resources outlive the upgrade'
  if (!before || root?.content.kind !== 'files')
    return {
      id: 'crds',
      title,
      outcome: 'left out',
      facts: ['there is nothing to upgrade from'],
      remarks: [],
    }
  const all: readonly Target[] = ['OLM v0', 'OLM v1']
  if (before.content.kind !== 'files')
    return step(
      'crds',
      title,
      [],
      [
        {
          kind: 'unknown',
          says: `${before.blob.name}, the old head: its content could not be had: ${before.content.reason}`,
          targets: all,
        },
      ],
    )
  const remarks = checkCrdUpgrade(before.content.files, root.content.files).flatMap((found): Remark[] => {
    const says = inWords(root.blob, found)
    // What OLM v1 refuses, OLM v0 mostly lets happen.
    return found.data?.['isSilent'] === true
      ? [{ kind: 'warning', says, targets: all }]
      : [
          { kind: 'refused', says, targets: ['OLM v1'] },
          { kind: 'warning', says, targets: ['OLM v0'] },
        ]
  })
  return step('crds', title, [`from ${before.blob.name} to ${root.blob.name}`], remarks)
}

function remarkOf(blob: BundleBlob, found: Finding, own: readonly Target[]): Remark {
  return {
    kind: found.severity === 'error' ? 'refused' : 'warning',
    says: inWords(blob, found),
    targets: own,
  }
}

function inWords({ name }: BundleBlob, { what, at, rule }: Finding): string {
  return `${name}: ${what}${at ? ` (${at.file}, line ${at.line})` : ''} [${rule}]`
}
