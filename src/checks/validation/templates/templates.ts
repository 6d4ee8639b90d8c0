// Compares rendered templates with the checked-in catalogs. Reuses bundles of the base instead of asking.
import { parseImageReference } from '@catalog-bot/fbc/go/reference/image-reference'
import { type Catalog, assembleCatalog } from '@catalog-bot/fbc/facts/catalog'
import { createRenderedBundleLookup, type RenderedBundle } from '@catalog-bot/fbc/template/bundle-source'
import { computeTemplateDrift, type TemplateDrift } from '@catalog-bot/fbc/template/find-drift'
import {
  isTemplateSchema,
  renderTemplate,
  getTemplateImages,
} from '@catalog-bot/fbc/template/render-template'
import { parseTemplateDocument } from '@catalog-bot/fbc/template/template-document'
import type { WritableCatalog } from '@catalog-bot/fbc/write/writable-catalog'
import type { Finding, Location } from '@catalog-bot/findings/finding'
import { createFinding, type FindingRule } from '@catalog-bot/findings/rule'
import {
  type LoadedTemplateCatalogPair,
  hasTemplateFileExtension,
  type TemplateCatalogPair,
} from '../../../pull-request/layout/template-pairs.ts'
import type { Config } from '../../../config/config.ts'
import type { CheckInput, CheckOutcome, SuggestedPatch, PendingLookup } from '../../check.ts'
import { isAllowedRegistry } from '../../images/named-image.ts'
import { privateImageRetrySeconds, type LookupResults, type LookupRequest } from '../../lookups.ts'
import { suggestTemplatePatch } from './suggest-patch.ts'
import {
  findTemplateBundle,
  type TemplateBundleLookupResult,
  findAlreadyRenderedBundles,
} from './template-bundles.ts'
import * as templateRules from './rules.ts'
import { formatTruncatedClauses } from '@catalog-bot/findings/printable'

export interface TemplateCheckResult {
  readonly findings: readonly Finding[]
  readonly unanswered: CheckOutcome['unanswered']
  readonly suggestedPatches?: readonly SuggestedPatch[]
}

/** Asks for bundles that must be rendered from their images. */
export function listTemplateImageLookups(
  { templates = [], config }: CheckInput,
  answers: LookupResults,
): readonly LookupRequest[] {
  return templates.flatMap((state) => {
    const needs = findTemplateRenderInputs(state, config)
    return needs.kind === 'images'
      ? needs.images.map((image) => findTemplateBundle(image, answers).question)
      : []
  })
}

export function evaluateTemplates(
  { templates = [], config }: CheckInput,
  answers: LookupResults,
): TemplateCheckResult {
  const results = templates.map((state) => evaluateTemplate(state, config, answers))
  return {
    findings: results.flatMap(({ findings }) => findings),
    unanswered: results.flatMap(({ unanswered }) => unanswered),
    suggestedPatches: results.flatMap(({ suggestedPatches = [] }) => suggestedPatches),
  }
}

type TemplateRenderInputs =
  | { readonly kind: 'none' }
  | { readonly kind: 'broken'; readonly reason: string }
  | {
      readonly kind: 'images'
      readonly source: Uint8Array
      readonly before: ReadonlyMap<string, RenderedBundle>
      readonly images: readonly string[]
    }

/** opm's errors for an object without a schema, and for a document with only comments. */
const emptyTemplateErrorPattern = /missing required 'schema' field$|schema: unexpected end of JSON input$/

function findTemplateRenderInputs(state: LoadedTemplateCatalogPair, config: Config): TemplateRenderInputs {
  const { source, isStated, result } = state
  // Do not ask if all rules are off.
  if (Object.values(templateRules).every(({ id }) => isRuleDisabled(config.rules[id])))
    return { kind: 'none' }
  // Removed together with its catalog, or never present.
  if (source === undefined)
    return isStated && result ? { kind: 'broken', reason: 'the file does not exist' } : { kind: 'none' }
  if (source === 'too-large') return { kind: 'broken', reason: 'the file is too large for a template' }
  if (source === 'too-many')
    return {
      kind: 'broken',
      reason:
        'the pull request changes more templates than catalog-bot can render at a time; split it into several pull requests',
    }
  if (!isStated && result === undefined) return { kind: 'none' }
  const document = parseTemplateDocument(source)
  // If only the file name suggests a template, the schema must confirm it.
  if (!isStated && document.ok && !isTemplateSchema(document.value.schema)) return { kind: 'none' }
  if (!isStated && !document.ok && emptyTemplateErrorPattern.test(document.error)) return { kind: 'none' }
  const images = getTemplateImages(source)
  if (!images.ok) return { kind: 'broken', reason: images.error }
  const before = findAlreadyRenderedBundles(document.ok ? document.value.schema : '', state)
  const missing = images.value.filter((image) => image !== '' && !before.has(image))
  const rejected = missing.flatMap((image) => {
    const { reference, reason } = parseImageReference(image)
    if (!reference) return [`${image} is not a valid image reference: ${reason}`]
    return isAllowedRegistry(reference, config.images.registries)
      ? []
      : [`${image} is in a registry that this repository does not allow`]
  })
  if (rejected.length > 0)
    return { kind: 'broken', reason: formatTruncatedClauses(rejected, maxListedDriftReasons) }
  return { kind: 'images', source, before, images: missing }
}

function evaluateTemplate(
  state: LoadedTemplateCatalogPair,
  config: Config,
  answers: LookupResults,
): TemplateCheckResult {
  const needs = findTemplateRenderInputs(state, config)
  if (needs.kind === 'none') return { findings: [], unanswered: [] }
  const rejectTemplate = (reason: string): TemplateCheckResult => ({
    findings: [createUnrenderableTemplateFinding(state, reason)],
    unanswered: [],
  })
  if (needs.kind === 'broken') return rejectTemplate(needs.reason)
  const { source, before, images } = needs
  const bundles = new Map(before)
  const rejected: string[] = []
  const unanswered: PendingLookup[] = []
  let isRestricted = false
  for (const image of images) {
    const { answer } = findTemplateBundle(image, answers)
    if (answer.kind === 'bundle') {
      bundles.set(image, answer.bundle)
      isRestricted ||= answer.isRestricted
    } else if (shouldWaitForBundleImage(answer, state))
      unanswered.push({
        question: `the rendered content of ${image} for ${state.template}`,
        reason: answer.reason,
        retryAfter: answer.kind === 'unknown' ? answer.retryAfter : privateImageRetrySeconds,
      })
    else rejected.push(`${image}: ${answer.reason}`)
  }
  if (rejected.length > 0) return rejectTemplate(formatTruncatedClauses(rejected, maxListedDriftReasons))
  if (unanswered.length > 0) return { findings: [], unanswered }
  const rendered = renderTemplate(
    source,
    createRenderedBundleLookup(bundles, (reference) => `${reference} is unknown`),
  )
  if (!rendered.ok) return rejectTemplate(isRestricted ? restrictedBundleRenderErrorMessage : rendered.error)
  // Other rules report unreadable catalogs.
  const checkedIn = state.result ?? assembleCatalog([])
  if (checkedIn.loadErrors.length > 0) return { findings: [], unanswered: [] }
  const drifts = computeTemplateDrift(rendered.value, excludeTemplateFileBlobs(checkedIn, state), {
    comparesDescriptions: hasCsvsOfDefaultChannelHeads(rendered.value, bundles),
  })
  if (drifts.length === 0) return { findings: [], unanswered: [] }
  const offer = suggestTemplatePatch(state)
  const differences = isRestricted ? formatRedactedTemplateDrifts(drifts) : drifts.map(formatTemplateDrift)
  return {
    findings: [createTemplateDriftFinding(state, checkedIn, drifts, differences)],
    unanswered: [],
    ...(offer && { suggestedPatches: [offer] }),
  }
}

/**
 * A private image looks like a missing one, and waiting does not change that. It blocks only if the configuration lists
 * the pair. Otherwise, it causes a warning.
 */
function shouldWaitForBundleImage(
  answer: Extract<TemplateBundleLookupResult['answer'], { readonly reason: string }>,
  { isStated }: LoadedTemplateCatalogPair,
): boolean {
  return answer.kind === 'unknown' || (answer.kind === 'missing-or-private' && isStated)
}

/**
 * The semver template copies description and icon from the head's ClusterServiceVersion, which is not stored for
 * bundles of the base.
 */
function hasCsvsOfDefaultChannelHeads(
  { packages, channels, bundles }: WritableCatalog,
  known: ReadonlyMap<string, RenderedBundle>,
): boolean {
  return packages.every(({ name, defaultChannel, description }) => {
    if (description !== undefined) return true
    const channel = channels.find((one) => one.package === name && one.name === defaultChannel)
    const head = channel?.entries?.at(-1)?.name
    return bundles.every((bundle) => bundle.name !== head || known.get(bundle.image)?.csv !== undefined)
  })
}

/** Excludes a template that is among its rendered files. */
function excludeTemplateFileBlobs(catalog: Catalog, { template }: LoadedTemplateCatalogPair): Catalog {
  return { ...catalog, others: catalog.others.filter(({ place }) => place.file !== template) }
}

function createTemplateDriftFinding(
  state: LoadedTemplateCatalogPair,
  checkedIn: Catalog,
  drifts: readonly TemplateDrift[],
  differences: readonly string[],
): Finding {
  const { template, catalog } = state
  const at = drifts.find((drift) => drift.at !== undefined)?.at
  const start: Location = { file: template, line: 1, column: 1 }
  const command = formatRenderCommand(state, checkedIn)
  const data = { template, catalog, differences, command, files: checkedIn.files.length }
  const related = at && [{ at: start, note: 'the template' }]
  return createTemplateFinding(
    state,
    templateRules.catalogDiffersFromTemplateRule,
    at ?? start,
    data,
    related,
  )
}

function formatTemplateDrift({ kind, subject, fields }: TemplateDrift): string {
  switch (kind) {
    case 'missing':
      return `${subject} is missing`
    case 'extra':
      return `${subject} is not in the template`
    case 'differs':
      return `${subject} differs (${fields.join(', ')})`
  }
}

// Omits names and versions from restricted bundles (BundleImageLookupResult.isRestricted).
const restrictedBundleRenderErrorMessage =
  'the bundles of the template cannot be rendered; users who can pull the images can run "catalog-bot render" to see why'

/** Lists items that only the catalog has. Only counts missing items, because they might come from a restricted image. */
function formatRedactedTemplateDrifts(drifts: readonly TemplateDrift[]): readonly string[] {
  const missing = drifts.filter(({ kind }) => kind === 'missing').length
  const others = drifts.filter(({ kind }) => kind !== 'missing').map(formatTemplateDrift)
  const lacks = `${missing} rendered ${missing === 1 ? 'item is' : 'items are'} missing from the catalog`
  return missing === 0 ? others : [...others, lacks]
}

function createUnrenderableTemplateFinding(state: LoadedTemplateCatalogPair, reason: string): Finding {
  const { template, catalog } = state
  const at = state.source === undefined ? undefined : { file: template, line: 1, column: 1 }
  const data = { template, catalog, reason }
  return createTemplateFinding(state, templateRules.unrenderableTemplateRule, at, data)
}

/** A mismatch is an error if the configuration lists the pair. */
function createTemplateFinding<Data extends object>(
  { isStated }: LoadedTemplateCatalogPair,
  rule: FindingRule<Data>,
  at: Location | undefined,
  data: Data,
  related?: Finding['related'],
): Finding {
  const found = createFinding(rule, at, data, related)
  return isStated ? { ...found, severity: 'error' } : found
}

function isRuleDisabled(setting: Config['rules'][string] | undefined): boolean {
  return (typeof setting === 'object' ? setting.severity : setting) === 'off'
}

const maxListedDriftReasons = 3

/** Uses the checked-in catalog's format and kind of metadata. */
function formatRenderCommand({ template, catalog }: TemplateCatalogPair, checkedIn: Catalog): string {
  const types = new Set(checkedIn.bundles.flatMap(({ properties }) => properties.map(({ type }) => type)))
  const migrates = types.has('olm.csv.metadata') && !types.has('olm.bundle.object')
  const file = chooseRenderOutputPath(catalog, checkedIn)
  return [
    'catalog-bot render',
    quotePathForShell(template),
    `-o ${file.endsWith('.json') ? 'json' : 'yaml'}`,
    ...(migrates ? ['--migrate-level bundle-object-to-csv-metadata'] : []),
    `> ${quotePathForShell(file)}`,
  ].join(' ')
}

/** The catalog's only file, or one that can replace several. */
function chooseRenderOutputPath(catalog: string, { files }: Catalog): string {
  if (hasTemplateFileExtension(catalog)) return catalog
  const [first, ...more] = files
  return first && more.length === 0 ? first.path : `${catalog}/catalog.yaml`
}

/** Quotes untrusted paths so that the shell treats them as plain text. */
function quotePathForShell(path: string): string {
  const safe = path.startsWith('-') ? `./${path}` : path
  return /^[\w./@+,:=-]+$/.test(safe) ? safe : `'${safe.replaceAll("'", `'\\''`)}'`
}
