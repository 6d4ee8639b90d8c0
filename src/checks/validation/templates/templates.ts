// Renders templates and compares them with the checked-in catalogs. Reuses bundles that the base has, so most pull
// requests need no questions.
import { parseImageReference } from '../../../go/reference/image-reference.ts'
import { assemble } from '../../../catalog/facts/assemble.ts'
import type { Catalog } from '../../../catalog/facts/catalog.ts'
import type { BundleSource, RenderedBundle } from '../../../catalog/template/bundle-source.ts'
import { findDrift, type Drift } from '../../../catalog/template/drift.ts'
import {
  isTemplateSchema,
  renderTemplate,
  templateImages,
} from '../../../catalog/template/render-template.ts'
import { readTemplateDocument } from '../../../catalog/template/template-file.ts'
import type { WritableCatalog } from '../../../catalog/write/writable.ts'
import type { TemplateState } from '../../../change/layout/template-pairs.ts'
import type { Config } from '../../../config/config.ts'
import type { Finding, Location } from '../../../findings/finding.ts'
import { finding, type Rule } from '../../../findings/rule.ts'
import type { CheckInput, CheckOutcome, Offer } from '../../check.ts'
import { isAllowedRegistry } from '../../images/named-image.ts'
import type { Answers, Question } from '../../questions.ts'
import { offerPatch } from './offer-patch.ts'
import { openBundle, type OpenedBundle } from './open-bundle.ts'
import { catalogDiffersFromTemplate } from './catalog-differs-from-template.ts'
import { templateRules } from './rules.ts'
import { renderCommand } from './render-command.ts'
import { renderedBefore } from './rendered-before.ts'
import { unrenderableTemplate } from './unrenderable-template.ts'

export interface JudgedTemplates {
  readonly findings: readonly Finding[]
  readonly unanswered: CheckOutcome['unanswered']
  readonly offers?: readonly Offer[]
}

/** Asks for bundles that must be rendered from their images. */
export function askTemplates({ templates = [], config }: CheckInput, answers: Answers): readonly Question[] {
  return templates.flatMap((state) => {
    const needs = needsOf(state, config)
    return needs.kind === 'images' ? needs.asked.map((image) => openBundle(image, answers).question) : []
  })
}

export function judgeTemplates({ templates = [], config }: CheckInput, answers: Answers): JudgedTemplates {
  const judged = templates.map((state) => judgeOne(state, config, answers))
  return {
    findings: judged.flatMap(({ findings }) => findings),
    unanswered: judged.flatMap(({ unanswered }) => unanswered),
    offers: judged.flatMap(({ offers = [] }) => offers),
  }
}

type Needs =
  | { readonly kind: 'none' }
  | { readonly kind: 'broken'; readonly reason: string }
  | {
      readonly kind: 'images'
      readonly source: Uint8Array
      readonly before: ReadonlyMap<string, RenderedBundle>
      readonly asked: readonly string[]
    }

/** opm's errors for an object without a schema, and for a document with only comments. */
const saysNothing = /missing required 'schema' field$|schema: unexpected end of JSON input$/

function needsOf(state: TemplateState, config: Config): Needs {
  const { source, isStated, result } = state
  // Do not ask if all rules are off.
  if (templateRules.every(({ id }) => isOff(config.rules[id]))) return { kind: 'none' }
  // Removed together with its catalog, or never present.
  if (source === undefined)
    return isStated && result ? { kind: 'broken', reason: 'there is no such file' } : { kind: 'none' }
  if (source === 'too-large') return { kind: 'broken', reason: 'it is larger than any template' }
  if (source === 'too-many')
    return {
      kind: 'broken',
      reason:
        'the pull request changes more templates than the bot renders at once; split it into several pull requests',
    }
  if (!isStated && result === undefined) return { kind: 'none' }
  const document = readTemplateDocument(source)
  // If only the file name suggests a template, the schema must confirm it.
  if (!isStated && document.ok && !isTemplateSchema(document.value.schema)) return { kind: 'none' }
  if (!isStated && !document.ok && saysNothing.test(document.error)) return { kind: 'none' }
  const images = templateImages(source)
  if (!images.ok) return { kind: 'broken', reason: images.error }
  const before = renderedBefore(document.ok ? document.value.schema : '', state)
  const asked = images.value.filter((image) => image !== '' && !before.has(image))
  const refused = asked.flatMap((image) => {
    const { reference, reason } = parseImageReference(image)
    if (!reference) return [`${image} is not an image reference: ${reason}`]
    return isAllowedRegistry(reference, config.images.registries)
      ? []
      : [`${image} is in a registry that this repository does not allow`]
  })
  if (refused.length > 0) return { kind: 'broken', reason: inBrief(refused) }
  return { kind: 'images', source, before, asked }
}

function judgeOne(state: TemplateState, config: Config, answers: Answers): JudgedTemplates {
  const needs = needsOf(state, config)
  if (needs.kind === 'none') return { findings: [], unanswered: [] }
  if (needs.kind === 'broken') return { findings: [broken(state, needs.reason)], unanswered: [] }
  const { source, before, asked } = needs
  const bundles = new Map(before)
  const refused: string[] = []
  const unanswered: CheckOutcome['unanswered'][number][] = []
  let isRestricted = false
  for (const image of asked) {
    const { answer } = openBundle(image, answers)
    if (answer.kind === 'bundle') {
      bundles.set(image, answer.bundle)
      isRestricted ||= answer.isRestricted
    } else if (waits(answer, state))
      unanswered.push({
        question: `what ${image} renders to, for ${state.template}`,
        reason: answer.reason,
        retryAfter: answer.kind === 'unknown' ? answer.retryAfter : privateRetry,
      })
    else refused.push(`${image}: ${answer.reason}`)
  }
  if (refused.length > 0) return { findings: [broken(state, inBrief(refused))], unanswered: [] }
  if (unanswered.length > 0) return { findings: [], unanswered }
  const rendered = renderTemplate(source, sourceOf(bundles))
  if (!rendered.ok)
    return { findings: [broken(state, isRestricted ? guardedReason : rendered.error)], unanswered: [] }
  // Other rules report unreadable catalogs.
  const checkedIn = state.result ?? assemble([])
  if (checkedIn.loadErrors.length > 0) return { findings: [], unanswered: [] }
  const drifts = findDrift(rendered.value, withoutTemplate(checkedIn, state), {
    comparesDescriptions: knowsDescriptions(rendered.value, bundles),
  })
  if (drifts.length === 0) return { findings: [], unanswered: [] }
  const offer = offerPatch(state)
  const differences = isRestricted ? withoutImageDetails(drifts) : drifts.map(inWords)
  return {
    findings: [drifted(state, checkedIn, drifts, differences)],
    unanswered: [],
    ...(offer && { offers: [offer] }),
  }
}

const privateRetry = 900

/**
 * A private image looks like a missing one, and time does not change that. It blocks only if the configuration names
 * the pair; otherwise it is a remark.
 */
function waits(
  answer: Extract<OpenedBundle['answer'], { readonly reason: string }>,
  { isStated }: TemplateState,
): boolean {
  return answer.kind === 'unknown' || (answer.kind === 'missing-or-private' && isStated)
}

function sourceOf(bundles: ReadonlyMap<string, RenderedBundle>): BundleSource {
  return (reference) => {
    const bundle = bundles.get(reference)
    return bundle ? { ok: true, value: [bundle] } : { ok: false, error: `${reference} is not known` }
  }
}

/**
 * The semver template copies description and icon from the head's ClusterServiceVersion, which we do not keep for
 * bundles of the base.
 */
function knowsDescriptions(
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
function withoutTemplate(catalog: Catalog, { template }: TemplateState): Catalog {
  return { ...catalog, others: catalog.others.filter(({ place }) => place.file !== template) }
}

function drifted(
  state: TemplateState,
  checkedIn: Catalog,
  drifts: readonly Drift[],
  differences: readonly string[],
): Finding {
  const { template, catalog } = state
  const at = drifts.find((drift) => drift.at !== undefined)?.at
  const start: Location = { file: template, line: 1, column: 1 }
  return stated(
    state,
    catalogDiffersFromTemplate,
    at ?? start,
    {
      template,
      catalog,
      differences,
      command: renderCommand(state, checkedIn),
      files: checkedIn.files.length,
    },
    at && [{ at: start, note: 'the template' }],
  )
}

function inWords({ kind, subject, fields }: Drift): string {
  switch (kind) {
    case 'missing':
      return `${subject} is missing`
    case 'extra':
      return `${subject} is not in the template`
    case 'differs':
      return `${subject} differs (${fields.join(', ')})`
  }
}

// Do not repeat names and versions from restricted bundles (BundleAnswer.isRestricted).
const guardedReason =
  'the bundles that it names do not render; whoever may pull them sees why with "catalog-bot render"'

/** Names what only the catalog has; counts what it lacks, because that may come from a restricted image. */
function withoutImageDetails(drifts: readonly Drift[]): readonly string[] {
  const missing = drifts.filter(({ kind }) => kind === 'missing').length
  const others = drifts.filter(({ kind }) => kind !== 'missing').map(inWords)
  const lacks = `${missing} ${missing === 1 ? 'thing that it renders to is' : 'things that it renders to are'} missing`
  return missing === 0 ? others : [...others, lacks]
}

function broken(state: TemplateState, reason: string): Finding {
  const { template, catalog } = state
  const at = state.source === undefined ? undefined : { file: template, line: 1, column: 1 }
  return stated(state, unrenderableTemplate, at, { template, catalog, reason })
}

/** A mismatch is an error if the configuration names the pair. */
function stated<Data extends object>(
  { isStated }: TemplateState,
  rule: Rule<Data>,
  at: Location | undefined,
  data: Data,
  related?: Finding['related'],
): Finding {
  const found = finding(rule, at, data, related)
  return isStated ? { ...found, severity: 'error' } : found
}

function isOff(setting: Config['rules'][string] | undefined): boolean {
  return (typeof setting === 'object' ? setting.severity : setting) === 'off'
}

const mostReasons = 3

function inBrief(reasons: readonly string[]): string {
  const more = reasons.length - mostReasons
  return `${reasons.slice(0, mostReasons).join('; ')}${more > 0 ? `; and ${more} more` : ''}`
}
