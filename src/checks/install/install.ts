// The install check: simulates an install of every package that a change touches. Missing data gives "unknown", never a
// pass or a failure.
import { repositoryPath } from '../../change/blob-text.ts'
import { formatImageReference, parseImageReference } from '../../go/reference/image-reference.ts'
import type { BundleBlob } from '../../catalog/facts/catalog.ts'
import type { Config } from '../../config/config.ts'
import { compareFindings, type Finding, type Location } from '../../findings/finding.ts'
import { finding } from '../../findings/rule.ts'
import type { Check, CheckInput, CheckOutcome, ServedPackage } from '../check.ts'
import { configuredFindings } from '../configured-findings.ts'
import { isAllowedRegistry } from '../images/named-image.ts'
import type { Answers, ImageAnswer, Question } from '../questions.ts'
import type { BundleContent } from './bundle-content.ts'
import { bundleFacts } from './bundle-facts.ts'
import { isOfChange, plannedChange, type PlannedPackage } from './changed-packages.ts'
import { inlineBundle } from './inline-bundle.ts'
import type { ChannelInstall, InstallReport } from './install-report.ts'
import { withoutDetails } from './restricted-facts.ts'
import { doesNotInstall } from './rules/does-not-install.ts'
import { judgeInstall } from './simulate-install.ts'
import { targetNamed, type Target } from './targets.ts'
import { planTrials } from './trial/plan-trials.ts'
import { mergedInstalls, triedInstall, type TriedInstall } from './tried-install.ts'

export const installCheck: Check<'install'> = {
  id: 'install',
  ask: ({ change, config }, answers) =>
    plannedChange(change)
      .packages.flatMap(({ plan }) => plan.toOpen)
      .flatMap((blob) => questionsAbout(blob, config, answers)),
  judge,
}

type Unanswered = CheckOutcome['unanswered'][number]

/** Limit for one sentence; the check run lists the rest. */
const mostReasons = 3
/** Seconds. Long, because a retry does not make the pull request smaller. */
const tooManyRetry = 3600

function judge({ change, config, served }: CheckInput, answers: Answers): CheckOutcome {
  const { packages, untried } = plannedChange(change)
  const wanted = config.install.with.flatMap((id) => targetNamed(id) ?? [])
  const judged = packages.map((planned) =>
    judgePackage(planned, {
      config,
      answers,
      wanted,
      served: served?.get(planned.catalog.root)?.get(planned.change.name),
    }),
  )
  const tried = mergedInstalls(judged.flatMap((one) => one.tried))
  const unanswered = [...merged(judged.flatMap((one) => one.unanswered))]
  if (untried > 0)
    unanswered.push({
      question: `whether ${untried} more packages install`,
      reason: `only ${packages.length} are tried for one pull request; split it into several`,
      retryAfter: tooManyRetry,
    })
  return {
    check: 'install',
    findings: distinct(judged.flatMap((one) => one.findings)).sort(compareFindings),
    unanswered,
    waiting: [],
    ...(!config.install.required && { isOptional: true }),
    ...(tried.length > 0 && { tried }),
    ...trialsOf(judged.flatMap((one) => one.trials)),
    summary: summaryOf(tried),
  }
}

interface Judging {
  readonly config: Config
  readonly answers: Answers
  readonly wanted: readonly Target[]
  readonly served: ServedPackage | undefined
}

interface JudgedPackage {
  readonly tried: readonly TriedInstall[]
  readonly findings: readonly Finding[]
  readonly unanswered: readonly Unanswered[]
  readonly trials: NonNullable<CheckOutcome['trials']>
}

/** Each trial occupies a cluster for minutes. */
const mostTrials = 6

function trialsOf(all: NonNullable<CheckOutcome['trials']>): Pick<CheckOutcome, 'trials'> {
  return all.length === 0 ? {} : { trials: all.slice(0, mostTrials) }
}

function judgePackage(planned: PlannedPackage, { config, answers, wanted, served }: Judging): JudgedPackage {
  const { catalog, plan, change, otherChannels } = planned
  const findings: Finding[] = []
  const retries: number[] = []
  const report = judgeInstall(
    plan,
    (blob) => {
      const { content, retryAfter } =
        blob.image === '' ? contentInCatalog(blob, planned, served) : contentOf(blob, config, answers)
      if (content.kind === 'unknown') retries.push(retryAfter ?? defaultRetry)
      return content
    },
    {
      wanted,
      ...(served && { running: { asked: served.asked, images: [] } }),
      weigh: (found, blob) => {
        const shown = atImage(found, blob, catalog.root)
        const [counted] = configuredFindings([shown], config)
        const isShown = counted !== undefined && isOfChange(planned, blob)
        if (isShown) findings.push(counted)
        return { severity: counted?.severity ?? 'off', isShown }
      },
    },
  )
  const tried = report.channels.map((channel) => triedInstall(change.name, catalog.root, channel))
  for (const channel of report.channels)
    if (channel.installs === 'no') findings.push(...configuredFindings([failure(planned, channel)], config))
  const unanswered = report.channels
    .filter(({ installs }) => installs === 'unknown')
    .map(({ channel, acceptance, wanted: asked }): Unanswered => {
      const [why] = acceptance
        .filter(({ target, installs }) => asked.includes(target) && installs === 'unknown')
        .flatMap((row) => row.because)
      return {
        question: `whether package ${change.name} installs from channel ${channel}`,
        reason: why ?? 'it could not be found out',
        retryAfter: Math.min(tooManyRetry, ...retries),
      }
    })
  if (otherChannels.length > 0)
    unanswered.push({
      question: `whether package ${change.name} installs from ${otherChannels.length} more of its channels`,
      reason: `only ${plan.channels.length} are tried for one package; change fewer at once`,
      retryAfter: tooManyRetry,
    })
  return {
    tried,
    findings,
    unanswered,
    trials: plannedTrials(planned, report, { config, answers, wanted, served }),
  }
}

/** Only what installs in the simulation is tried on a cluster. */
function plannedTrials(
  planned: PlannedPackage,
  report: InstallReport,
  { config, answers, wanted, served }: Judging,
): JudgedPackage['trials'] {
  if (config.install.cluster === 'off') return []
  const { catalog, plan, change, test } = planned
  const named = [...(catalog.result?.bundles ?? []), ...(catalog.base?.bundles ?? [])]
  return plan.channels.flatMap(({ resolution }) => {
    const its = report.channels.find(({ channel }) => channel === resolution.channel)
    if (its?.installs !== 'yes') return []
    const accepted = its.acceptance.filter(({ installs }) => installs === 'yes').map(({ target }) => target)
    const { trials } = planTrials({
      package: change.name,
      resolution,
      targets: wanted.length > 0 ? wanted : accepted,
      test,
      contentOf: (blob) =>
        blob.image === ''
          ? contentInCatalog(blob, planned, served).content
          : contentOf(blob, config, answers).content,
      blobNamed: (name) => named.find((blob) => blob.name === name),
    })
    return trials.map((trial) => ({ root: catalog.root, trial }))
  })
}

function failure(
  { catalog, change }: PlannedPackage,
  { channel, acceptance, steps, wanted }: ChannelInstall,
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
    .map(({ target }) => `${target} takes bundles of another format`)
  return finding(doesNotInstall, placeOfPackage(change.name, catalog), {
    package: change.name,
    channel,
    targets,
    reasons: [...reasons, ...others].slice(0, mostReasons),
  })
}

function placeOfPackage(name: string, { root, result }: PlannedPackage['catalog']): Location | undefined {
  const place = result?.packages.find((blob) => blob.name === name)?.place
  return place && { file: repositoryPath(root, place.file), line: place.line, column: place.column }
}

const defaultRetry = 60
/** Seconds. A private image and a missing one look alike, and waiting for minutes changes nothing. */
const privateRetry = 900

interface ContentAnswer {
  readonly content: BundleContent
  readonly retryAfter?: number
}

function contentInCatalog(
  blob: BundleBlob,
  { catalog: { result }, change }: PlannedPackage,
  served: ServedPackage | undefined,
): ContentAnswer {
  // Only the changed package is served, not its companions or earlier versions.
  if (!result?.bundles.includes(blob) || blob.package !== change.name || !served)
    return {
      content: {
        kind: 'unknown',
        reason: 'it has no image, and the catalog was not asked for its manifests',
      },
    }
  const files = inlineBundle(result, blob, served.objects.get(blob.name) ?? [])
  if (files)
    return { content: { kind: 'bundle', from: 'catalog', facts: bundleFacts(files, { labels: {} }) } }
  return {
    content: {
      kind: 'missing',
      reason: 'it has no image, and the catalog does not hold all of its manifests',
    },
  }
}

function contentOf(blob: BundleBlob, config: Config, answers: Answers): ContentAnswer {
  const unknown = (reason: string, retryAfter: number = defaultRetry): ContentAnswer => ({
    content: { kind: 'unknown', reason },
    retryAfter,
  })
  const { reference } = parseImageReference(blob.image)
  if (!reference) return { content: { kind: 'missing', reason: `${blob.image} names no image` } }
  if (!isAllowedRegistry(reference, config.images.registries))
    return unknown(`the configuration does not allow the registry of ${blob.image}`, tooManyRetry)
  const image = answers.get({ kind: 'image', reference: blob.image })
  if (image.kind !== 'ok') return closed(image)
  const question = installQuestion(blob, image.digest)
  const answer = question && answers.get(question)
  if (!answer) return unknown('its reference could not be read')
  if (answer.kind !== 'bundle') return closed(answer)
  if (!answer.install) return unknown('nobody looked at how it installs')
  const facts = answer.isRestricted === true ? withoutDetails(answer.install, blob.image) : answer.install
  return { content: { kind: 'bundle', from: 'image', facts } }
}

function closed(answer: Exclude<ImageAnswer, { readonly kind: 'ok' }>): ContentAnswer {
  const { kind, reason } = answer
  if (kind === 'missing' || kind === 'unsupported' || kind === 'digest-mismatch' || kind === 'malformed')
    return { content: { kind: 'missing', reason } }
  return {
    content: { kind: 'unknown', reason },
    retryAfter: kind === 'unknown' ? answer.retryAfter : privateRetry,
  }
}

/** The same questions as in the images check, so each is asked once. */
function questionsAbout(blob: BundleBlob, config: Config, answers: Answers): readonly Question[] {
  const { reference } = parseImageReference(blob.image)
  if (!reference || !isAllowedRegistry(reference, config.images.registries)) return []
  const image: Question = { kind: 'image', reference: blob.image }
  const answer = answers.get(image)
  const install = answer.kind === 'ok' ? installQuestion(blob, answer.digest) : undefined
  return install ? [image, install] : [image]
}

function installQuestion({ image }: BundleBlob, digest: string) {
  const { reference } = parseImageReference(image)
  if (!reference) return undefined
  const { host, repository } = reference
  return { kind: 'install', reference: formatImageReference({ host, repository, digest }) } as const
}

/** Reports a finding about a file in the image where the catalog names the image. */
function atImage(inside: Finding, { place, imageMark, image }: BundleBlob, root: string): Finding {
  const { line, column } = imageMark ?? place
  const where = inside.at ? `, ${inside.at.file}` : ''
  return {
    ...inside,
    what: `${inside.what} (in ${image}${where})`,
    at: { file: repositoryPath(root, place.file), line, column },
  }
}

/** The same bundle can be in many catalogs; each finding is reported once. */
function distinct(findings: readonly Finding[]): Finding[] {
  const once = new Map<string, Finding>()
  for (const one of findings) {
    const key = `${one.rule} ${one.what}`
    const first = once.get(key)
    if (!first) once.set(key, one)
    else if (one.at && !isSamePlace(first, one))
      once.set(key, {
        ...first,
        related: [...(first.related ?? []), { at: one.at, note: 'here too' }],
      })
  }
  return [...once.values()]
}

function isSamePlace({ at, related = [] }: Finding, other: Finding): boolean {
  return [at, ...related.map((one) => one.at)].some(
    (place) => place?.file === other.at?.file && place?.line === other.at?.line,
  )
}

function* merged(unanswered: readonly Unanswered[]): Generator<Unanswered> {
  for (const [, same] of Map.groupBy(unanswered, ({ question, reason }) => `${question}\n${reason}`)) {
    const [first] = same
    if (first) yield { ...first, retryAfter: Math.min(...same.map(({ retryAfter }) => retryAfter)) }
  }
}

/** Returns, for example, `2 packages, simulated: OLM v0 yes, OLM v1 no, RukPak registry yes`. */
function summaryOf(tried: readonly TriedInstall[]): string {
  if (tried.length === 0) return 'no package to install'
  const packages = new Set(tried.map((one) => one.package)).size
  const rows = Map.groupBy(
    tried.flatMap(({ acceptance }) => acceptance).filter(({ installs }) => installs !== 'other format'),
    ({ target }) => target,
  )
  const words = [...rows].map(([target, all]) => {
    const worst = all.some(({ installs }) => installs === 'no')
      ? 'no'
      : all.some(({ installs }) => installs === 'unknown')
        ? 'unknown'
        : 'yes'
    return `${target} ${worst}`
  })
  return `${packages} ${packages === 1 ? 'package' : 'packages'}, simulated: ${words.join(', ')}`
}
