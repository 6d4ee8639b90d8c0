// The install check: simulates an install of every package that a change touches. Missing data results in "unknown",
// never in a pass or a failure.
import { toRepositoryPath } from '../../pull-request/compare-blobs.ts'
import { formatImageReference, parseImageReference } from '@catalog-bot/fbc/go/reference/image-reference'
import type { BundleBlob } from '@catalog-bot/fbc/facts/catalog'
import type { Config } from '../../config/config.ts'
import { compareFindings, type Finding, type Location } from '@catalog-bot/findings/finding'
import { createFinding } from '@catalog-bot/findings/rule'
import {
  type Check,
  type CheckInput,
  type CheckOutcome,
  type CatalogServerPackageResponses,
  applyConfiguredSeverities,
  type PendingLookup,
} from '../check.ts'
import { moveFindingToImageReference } from '../images/bundles-to-open.ts'
import { isAllowedRegistry } from '../images/named-image.ts'
import {
  privateImageRetrySeconds,
  type LookupResults,
  type ImageLookupResult,
  type LookupRequest,
} from '../lookups.ts'
import { analyzeBundleInstall, type BundleContentForInstall } from './install-analysis.ts'
import {
  evaluateInstall,
  getOpmValidationResult,
  isBundleAddedOrChanged,
  planInstallsOfChangedPackages,
  type PackageInstallPlan,
} from './simulate-install.ts'
import { readInlineBundle } from './served-bundles.ts'
import {
  type ChannelInstallResult,
  type InstallReport,
  findWorstInstallVerdict,
  mergeInstallSummaries,
  summarizeInstall,
  type InstallSummary,
  parseInstallTargetId,
  type InstallTarget,
} from './install-report.ts'
import { redactBundleInstallAnalysis } from '../images/redact-restricted-bundle.ts'
import { doesNotInstallRule } from './rules.ts'
import { planChannelClusterTests } from './cluster-test/cluster-test-plan.ts'

export const installCheck: Check<'install'> = {
  id: 'install',
  ask: ({ change, config }, answers) =>
    planInstallsOfChangedPackages(change)
      .packages.flatMap(({ plan }) => plan.bundlesToOpen)
      .flatMap((blob) => listBundleContentLookups(blob, config, answers)),
  judge: evaluateInstallCheck,
}

/** The limit for one sentence. The check run lists the others. */
const maxReasonsInInstallSummary = 3
/** In seconds. Long, because a retry does not make the pull request smaller. */
const oversizedChangeRetrySeconds = 3600

function evaluateInstallCheck({ change, config, served }: CheckInput, answers: LookupResults): CheckOutcome {
  const { packages, skippedCount } = planInstallsOfChangedPackages(change)
  const wanted = config.install.with.flatMap((id) => parseInstallTargetId(id) ?? [])
  const results = packages.map((planned) =>
    evaluatePackageInstall(planned, {
      config,
      answers,
      wanted,
      served: served?.get(planned.catalog.root)?.get(planned.change.name),
    }),
  )
  const summaries = mergeInstallSummaries(results.flatMap((one) => one.summaries))
  const clusterTests = results.flatMap((one) => one.clusterTests).slice(0, maxClusterTests)
  const unanswered = [...mergePendingLookups(results.flatMap((one) => one.unanswered))]
  if (skippedCount > 0)
    unanswered.push({
      question: `whether ${skippedCount} more packages can be installed`,
      reason: `catalog-bot simulates at most ${packages.length} packages per pull request; split the pull request into several smaller ones`,
      retryAfter: oversizedChangeRetrySeconds,
    })
  return {
    check: 'install',
    findings: mergeDuplicateFindings(results.flatMap((one) => one.findings)).sort(compareFindings),
    unanswered,
    waiting: [],
    ...(!config.install.required && { isOptional: true }),
    ...(summaries.length > 0 && { installSummaries: summaries }),
    ...(clusterTests.length > 0 && { clusterTests }),
    summary: formatInstallSummary(summaries),
  }
}

interface InstallEvaluationContext {
  readonly config: Config
  readonly answers: LookupResults
  readonly wanted: readonly InstallTarget[]
  readonly served: CatalogServerPackageResponses | undefined
}

interface PackageInstallEvaluation {
  readonly summaries: readonly InstallSummary[]
  readonly findings: readonly Finding[]
  readonly unanswered: readonly PendingLookup[]
  readonly clusterTests: NonNullable<CheckOutcome['clusterTests']>
}

/** Each install test occupies a cluster for several minutes. */
const maxClusterTests = 6

function evaluatePackageInstall(
  planned: PackageInstallPlan,
  context: InstallEvaluationContext,
): PackageInstallEvaluation {
  const { config, wanted, served } = context
  const { catalog, plan, change, otherChannels } = planned
  const findings: Finding[] = []
  const retries: number[] = []
  const report = evaluateInstall(
    plan,
    (blob) => {
      const { content, retryAfter } = findBundleContent(blob, planned, context)
      if (content.kind === 'unknown') retries.push(retryAfter ?? defaultBundleContentRetrySeconds)
      return content
    },
    {
      wanted,
      ...(served && { running: { responses: served.responses, images: [] } }),
      classify: (found, blob) => {
        const { line, column } = blob.imageMark ?? blob.place
        const at = { file: toRepositoryPath(catalog.root, blob.place.file), line, column }
        const shown = moveFindingToImageReference(found, { at, elsewhere: [], text: blob.image })
        const [counted] = applyConfiguredSeverities([shown], config)
        const isShown = counted !== undefined && isBundleAddedOrChanged(planned, blob)
        if (isShown) findings.push(counted)
        return { severity: counted?.severity ?? 'off', isShown }
      },
    },
  )
  const summaries = report.channels.map((channel) => summarizeInstall(change.name, catalog.root, channel))
  for (const channel of report.channels)
    if (channel.installs === 'no')
      findings.push(...applyConfiguredSeverities([createInstallFinding(planned, channel)], config))
  const unanswered = report.channels
    .filter(({ installs }) => installs === 'unknown')
    .map(({ channel, acceptance, wanted: requested }): PendingLookup => {
      const [why] = acceptance
        .filter(({ target, installs }) => requested.includes(target) && installs === 'unknown')
        .flatMap((row) => row.because)
      return {
        question: `whether package ${change.name} can be installed from channel ${channel}`,
        reason: why ?? 'the simulation was inconclusive',
        retryAfter: Math.min(oversizedChangeRetrySeconds, ...retries),
      }
    })
  if (otherChannels.length > 0)
    unanswered.push({
      question: `whether package ${change.name} can be installed from ${otherChannels.length} more of its channels`,
      reason: `catalog-bot simulates at most ${plan.channels.length} channels per package; change fewer channels in one pull request`,
      retryAfter: oversizedChangeRetrySeconds,
    })
  return { summaries, findings, unanswered, clusterTests: planPackageClusterTests(planned, report, context) }
}

/** Only packages that install in the simulation are tested on a cluster. */
function planPackageClusterTests(
  planned: PackageInstallPlan,
  report: InstallReport,
  context: InstallEvaluationContext,
): PackageInstallEvaluation['clusterTests'] {
  const { config, wanted } = context
  if (config.install.cluster === 'off') return []
  const { catalog, plan, change, test } = planned
  const named = [...(catalog.result?.bundles ?? []), ...(catalog.base?.bundles ?? [])]
  return plan.channels.flatMap(({ resolution }) => {
    const its = report.channels.find(({ channel }) => channel === resolution.channel)
    if (its?.installs !== 'yes') return []
    const accepted = its.acceptance.filter(({ installs }) => installs === 'yes').map(({ target }) => target)
    const { tests } = planChannelClusterTests({
      package: change.name,
      resolution,
      targets: wanted.length > 0 ? wanted : accepted,
      test,
      contentOf: (blob) => findBundleContent(blob, planned, context).content,
      blobNamed: (name) => named.find((blob) => blob.name === name),
    })
    return tests.map((clusterTest) => ({ root: catalog.root, trial: clusterTest }))
  })
}

function createInstallFinding(
  { catalog, change }: PackageInstallPlan,
  { channel, acceptance, steps, wanted }: ChannelInstallResult,
): Finding {
  const targets = acceptance
    .filter(
      ({ target, installs }) => wanted.includes(target) && (installs === 'no' || installs === 'other format'),
    )
    .map(({ target }) => target)
  const remarks = steps
    // The validation check reports that opm rejects the catalog.
    .filter(({ id }) => id !== 'catalog')
    .flatMap((step) => step.remarks)
    .filter(({ kind, isShown }) => kind === 'refused' && isShown !== true)
    .filter((remark) => remark.targets.some((target) => targets.includes(target)))
  const reasons = [...new Set(remarks.map(({ says }) => says))]
  const others = acceptance
    .filter(({ target, installs }) => targets.includes(target) && installs === 'other format')
    .map(({ target }) => `${target} does not install bundles in this format.`)
  const found = createFinding(doesNotInstallRule, findPackageLocation(change.name, catalog), {
    package: change.name,
    channel,
    targets,
    reasons: [...reasons, ...others].slice(0, maxReasonsInInstallSummary),
  })
  // If opm rejects the base catalog, nothing can be installed from it.
  const isOnBase =
    reasons.length + others.length === 0 &&
    catalog.base !== undefined &&
    !getOpmValidationResult(catalog.base).passed
  return isOnBase ? { ...found, isOnBase } : found
}

function findPackageLocation(
  name: string,
  { root, result }: PackageInstallPlan['catalog'],
): Location | undefined {
  const position = result?.packages.find((blob) => blob.name === name)?.place
  return (
    position && { file: toRepositoryPath(root, position.file), line: position.line, column: position.column }
  )
}

const defaultBundleContentRetrySeconds = 60

interface BundleContentWithRetryAfter {
  readonly content: BundleContentForInstall
  readonly retryAfter?: number
}

function findBundleContent(
  blob: BundleBlob,
  planned: PackageInstallPlan,
  { config, answers, served }: InstallEvaluationContext,
): BundleContentWithRetryAfter {
  return blob.image === ''
    ? findInlineBundleContent(blob, planned, served)
    : findBundleImageContent(blob, config, answers)
}

function findInlineBundleContent(
  blob: BundleBlob,
  { catalog: { result }, change }: PackageInstallPlan,
  served: CatalogServerPackageResponses | undefined,
): BundleContentWithRetryAfter {
  // Only the changed package is served, not its dependencies or earlier versions.
  if (!result?.bundles.includes(blob) || blob.package !== change.name || !served)
    return createUnavailableContent(
      'unknown',
      'the bundle has no image, and catalog-bot did not read its manifests from the catalog',
    )
  const files = readInlineBundle(result, blob, served.objects.get(blob.name) ?? [])
  if (files)
    return {
      content: { kind: 'bundle', from: 'catalog', facts: analyzeBundleInstall(files, { labels: {} }) },
    }
  return createUnavailableContent(
    'missing',
    'the bundle has no image, and the catalog does not contain all of its manifests',
  )
}

function createUnavailableContent(
  kind: 'missing' | 'unknown',
  reason: string,
  retryAfter: number = defaultBundleContentRetrySeconds,
): BundleContentWithRetryAfter {
  return { content: { kind, reason }, retryAfter }
}

function findBundleImageContent(
  blob: BundleBlob,
  config: Config,
  answers: LookupResults,
): BundleContentWithRetryAfter {
  const { reference } = parseImageReference(blob.image)
  if (!reference) return createUnavailableContent('missing', `${blob.image} is not a valid image reference`)
  if (!isAllowedRegistry(reference, config.images.registries))
    return createUnavailableContent(
      'unknown',
      `the configuration does not allow the registry of ${blob.image}`,
      oversizedChangeRetrySeconds,
    )
  const image = answers.get({ kind: 'image', reference: blob.image })
  if (image.kind !== 'ok') return classifyUnavailableBundleContent(image)
  const question = createBundleInstallLookup(blob, image.digest)
  const answer = question && answers.get(question)
  if (!answer) return createUnavailableContent('unknown', 'the image reference is invalid')
  if (answer.kind !== 'bundle') return classifyUnavailableBundleContent(answer)
  if (!answer.install) return createUnavailableContent('unknown', 'the installation was not simulated')
  const facts =
    answer.isRestricted === true ? redactBundleInstallAnalysis(answer.install, blob.image) : answer.install
  return { content: { kind: 'bundle', from: 'image', facts } }
}

function classifyUnavailableBundleContent(
  answer: Exclude<ImageLookupResult, { readonly kind: 'ok' }>,
): BundleContentWithRetryAfter {
  const { kind, reason } = answer
  if (kind === 'missing' || kind === 'unsupported' || kind === 'digest-mismatch' || kind === 'malformed')
    return createUnavailableContent('missing', reason)
  return createUnavailableContent(
    'unknown',
    reason,
    kind === 'unknown' ? answer.retryAfter : privateImageRetrySeconds,
  )
}

/** The same lookups as in the images check, so each runs only once. */
function listBundleContentLookups(
  blob: BundleBlob,
  config: Config,
  answers: LookupResults,
): readonly LookupRequest[] {
  const { reference } = parseImageReference(blob.image)
  if (!reference || !isAllowedRegistry(reference, config.images.registries)) return []
  const image: LookupRequest = { kind: 'image', reference: blob.image }
  const answer = answers.get(image)
  const install = answer.kind === 'ok' ? createBundleInstallLookup(blob, answer.digest) : undefined
  return install ? [image, install] : [image]
}

function createBundleInstallLookup({ image }: BundleBlob, digest: string) {
  const { reference } = parseImageReference(image)
  if (!reference) return undefined
  const { host, repository } = reference
  return { kind: 'install', reference: formatImageReference({ host, repository, digest }) } as const
}

/** The same bundle can be in many catalogs; each finding is reported once. */
function mergeDuplicateFindings(findings: readonly Finding[]): Finding[] {
  const once = new Map<string, Finding>()
  for (const one of findings) {
    const key = `${one.rule} ${one.what}`
    const first = once.get(key)
    if (!first) once.set(key, one)
    else if (one.at && !areFindingsOnSameLine(first, one))
      once.set(key, { ...first, related: [...(first.related ?? []), { at: one.at, note: 'Also here' }] })
  }
  return [...once.values()]
}

function areFindingsOnSameLine({ at, related = [] }: Finding, other: Finding): boolean {
  return [at, ...related.map((one) => one.at)].some(
    (location) => location?.file === other.at?.file && location?.line === other.at?.line,
  )
}

function* mergePendingLookups(unanswered: readonly PendingLookup[]): Generator<PendingLookup> {
  for (const [, same] of Map.groupBy(unanswered, ({ question, reason }) => `${question}\n${reason}`)) {
    const [first] = same
    if (first) yield { ...first, retryAfter: Math.min(...same.map(({ retryAfter }) => retryAfter)) }
  }
}

/** Returns, for example, `2 packages, simulated: OLM v0 yes, OLM v1 no, RukPak registry yes`. */
function formatInstallSummary(summaries: readonly InstallSummary[]): string {
  if (summaries.length === 0) return 'No package to install'
  const packages = new Set(summaries.map((one) => one.package)).size
  const rows = Map.groupBy(
    summaries.flatMap(({ acceptance }) =>
      acceptance.flatMap(({ target, installs }) =>
        installs === 'other format' ? [] : [{ target, installs }],
      ),
    ),
    ({ target }) => target,
  )
  const parts = [...rows].map(
    ([target, all]) => `${target} ${findWorstInstallVerdict(all.map(({ installs }) => installs))}`,
  )
  return `${packages} ${packages === 1 ? 'package' : 'packages'}, simulated: ${parts.join(', ')}`
}
