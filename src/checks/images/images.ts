// Checks that every newly named image exists, matches its digest and is allowed, and compares new or edited bundles
// with their images. Only definite registry answers count against the author.
import { formatImageReference } from '../../go/reference/image-reference.ts'
import { unreadableBundle } from '../../bundle/rules/unreadable-bundle.ts'
import { compareFindings, type Finding } from '../../findings/finding.ts'
import { finding } from '../../findings/rule.ts'
import type { Check, CheckInput, CheckOutcome } from '../check.ts'
import type { Answers, ImageAnswer, Question } from '../questions.ts'
import { configuredFindings } from '../configured-findings.ts'
import { isAllowedRegistry, namedImages, type NamedImage } from './named-image.ts'
import { atReference, bundlesToOpen, judgeBundle, openedReferences } from './opened-bundles.ts'
import { judgeRepublished, questionsAboutRepublished, republishedBundles } from './republished-bundles.ts'
import { digestMismatch } from './rules/digest-mismatch.ts'
import { imageMissing } from './rules/image-missing.ts'
import { imageUnsupported } from './rules/image-unsupported.ts'
import { malformedReference } from './rules/malformed-reference.ts'
import { platformMissing } from './rules/platform-missing.ts'
import { registryBlocked } from './rules/registry-blocked.ts'
import { tagMoved } from './rules/tag-moved.ts'
import { judgeTagged, judgeWritten } from './written-references.ts'

export const imagesCheck: Check<'images'> = {
  id: 'images',
  ask(input, answers) {
    const { images, opened, republished } = lookInto(input)
    const questions = images.flatMap((image) => [
      ...(isAskable(image, input) ? questionsAbout(image, input) : []),
      // Pull a bundle only after its image is known to exist, and by the digest found.
      ...(opened.has(image.text) ? bundleQuestion(image, input, answers) : []),
    ])
    return [...questions, ...questionsAboutRepublished(republished)]
  },
  judge,
}

type Unanswered = CheckOutcome['unanswered'][number]

function lookInto({ change, published }: CheckInput) {
  const opened = bundlesToOpen(change, published)
  const known = new Set(
    change.references.filter(({ role }) => role === 'bundle').map(({ reference }) => reference),
  )
  const kept = openedReferences(opened).filter(({ reference }) => !known.has(reference))
  return {
    images: namedImages([...change.references, ...kept]),
    opened,
    republished: republishedBundles(change.catalogs, published),
  }
}

// A private image looks like a missing one from outside; retrying within minutes does not help.
const privateRetry = 900

function judge(input: CheckInput, answers: Answers): CheckOutcome {
  const { images, opened, republished } = lookInto(input)
  const again = judgeRepublished(republished, answers)
  const findings: Finding[] = configuredFindings(again.findings, input.config)
  const unanswered: Unanswered[] = [...again.unanswered]
  const closed: ClosedBundle[] = []
  for (const image of images) {
    const reference = image.text
    const tell = (...found: readonly Finding[]) =>
      findings.push(...configuredFindings(found, input.config, image.places))
    const written = judgeWritten(image, input.config.images.registries)
    if (written) {
      tell(written)
      continue
    }
    const answer = answers.get(questionAbout(image, input))
    const unknown = unknownReason(answer)
    if (unknown) unanswered.push({ question: `whether ${reference} exists`, ...unknown })
    tell(...judgeAnswer(image, answer))
    tell(...judgeTagged(image, answer.kind === 'ok' ? answer.digest : undefined))
    if (answer.kind === 'ok') {
      tell(...judgeTag(image, answers))
      const platforms = judgePlatforms(image, answer, input.config.images.platforms)
      if (platforms === 'not-told')
        unanswered.push({
          question: `which platforms ${reference} supports`,
          reason: 'the bot has not asked yet',
          retryAfter: 0,
        })
      else tell(...platforms)
    }
    const blobs = opened.get(reference)
    const [question] = blobs ? bundleQuestion(image, input, answers) : []
    if (blobs && question) {
      const bundle = answers.get(question)
      if (bundle.kind === 'bundle') tell(...judgeBundle(image, blobs, bundle))
      else if (isDefinite(bundle)) tell(...judgeClosed(image, bundle))
      else closed.push({ reference, ...bundle })
    }
  }
  unanswered.push(...closedBundles(closed))
  return {
    check: 'images',
    findings: findings.sort(compareFindings),
    unanswered,
    waiting: [],
    summary: summaryOf(images),
  }
}

/** Asks for platforms only if the configuration requires some and the image runs on one. */
function questionAbout(image: NamedImage, { config }: CheckInput) {
  const platforms = config.images.platforms.length > 0 && runsSomewhere(image)
  return { kind: 'image', reference: image.text, ...(platforms && { platforms }) } as const
}

function questionsAbout(image: NamedImage, input: CheckInput): readonly Question[] {
  return [
    questionAbout(image, input),
    ...(taggedForm(image) ?? []).map((reference) => ({ kind: 'image', reference }) as const),
  ]
}

function bundleQuestion(
  image: NamedImage,
  input: CheckInput,
  answers: Answers,
): readonly Extract<Question, { kind: 'bundle' }>[] {
  const { reference } = image.parsed
  if (!reference || !isAskable(image, input)) return []
  const answer = answers.get(questionAbout(image, input))
  if (answer.kind !== 'ok') return []
  const { host, repository } = reference
  return [{ kind: 'bundle', reference: formatImageReference({ host, repository, digest: answer.digest }) }]
}

/** Readable references in allowed registries. */
function isAskable({ parsed: { reference } }: NamedImage, { config }: CheckInput): boolean {
  return reference !== undefined && isAllowedRegistry(reference, config.images.registries)
}

function runsSomewhere({ isBundle, isListed }: NamedImage): boolean {
  return !isBundle && !isListed
}

/** The reference by tag alone, to see whether the tag has moved from the digest beside it. */
function taggedForm({ parsed: { reference } }: NamedImage): [string] | undefined {
  if (reference?.tag === undefined || reference.digest === undefined) return undefined
  const { host, repository, tag } = reference
  return [formatImageReference({ host, repository, tag })]
}

function judgeAnswer(
  { text: reference, at, elsewhere }: NamedImage,
  answer: ImageAnswer,
): readonly Finding[] {
  switch (answer.kind) {
    case 'missing':
      return [finding(imageMissing, at, { reference, reason: answer.reason }, elsewhere)]
    case 'digest-mismatch':
      return [finding(digestMismatch, at, { reference, reason: answer.reason }, elsewhere)]
    case 'unsupported':
      return [finding(imageUnsupported, at, { reference, reason: answer.reason }, elsewhere)]
    case 'malformed':
      return [finding(malformedReference, at, { reference, reason: answer.reason }, elsewhere)]
    case 'blocked':
      return [finding(registryBlocked, at, { reference, reason: answer.reason }, elsewhere)]
    case 'ok':
    case 'missing-or-private':
    case 'unknown':
      return []
  }
}

type Failure = Exclude<ImageAnswer, { readonly kind: 'ok' }>

interface ClosedBundle {
  readonly reference: string
  readonly kind: Failure['kind']
  readonly reason: string
  readonly retryAfter?: number
}

/** The bundle's image existed a moment ago, so `missing` may be temporary and is retried. */
function isDefinite({ kind }: Failure): boolean {
  return kind === 'unsupported' || kind === 'digest-mismatch' || kind === 'malformed' || kind === 'blocked'
}

function judgeClosed(image: NamedImage, answer: Failure): readonly Finding[] {
  if (answer.kind !== 'unsupported') return judgeAnswer(image, answer)
  return [atReference(finding(unreadableBundle, undefined, { reason: answer.reason }), image)]
}

/** Groups unopened bundles by reason to keep the list readable. */
function* closedBundles(closed: readonly ClosedBundle[]): Generator<Unanswered> {
  const byReason = Map.groupBy(closed, ({ reason }) => reason)
  for (const [reason, [first, ...others]] of byReason)
    if (first)
      yield {
        question: `the content of ${first.reference}${others.length === 0 ? '' : ` and ${count(others.length, 'other bundle image')}`}`,
        reason,
        retryAfter: others.reduce(
          (least, { retryAfter = 60 }) => Math.min(least, retryAfter),
          first.retryAfter ?? 60,
        ),
      }
}

function unknownReason(answer: ImageAnswer): { reason: string; retryAfter: number } | undefined {
  if (answer.kind === 'unknown') return { reason: answer.reason, retryAfter: answer.retryAfter }
  if (answer.kind === 'missing-or-private')
    return {
      reason: `the image is missing or private: ${answer.reason}`,
      retryAfter: privateRetry,
    }
  return undefined
}

// A missing answer does not block here, because the digest decides what is installed.
function judgeTag(image: NamedImage, answers: Answers): readonly Finding[] {
  const tagged = taggedForm(image)
  const { digest, tag } = image.parsed.reference ?? {}
  if (!tagged || digest === undefined || tag === undefined) return []
  const answer = answers.get({ kind: 'image', reference: tagged[0] })
  if (answer.kind !== 'ok' || answer.digest === digest || !digest.startsWith('sha256:')) return []
  const { text: reference, at, elsewhere } = image
  return [finding(tagMoved, at, { reference, tag, digest, now: answer.digest }, elsewhere)]
}

function judgePlatforms(
  image: NamedImage,
  answer: Extract<ImageAnswer, { kind: 'ok' }>,
  wanted: readonly string[],
): readonly Finding[] | 'not-told' {
  if (wanted.length === 0 || !runsSomewhere(image)) return []
  if (answer.platforms === undefined) return 'not-told'
  const offered = answer.platforms
  const missing = wanted.filter((platform) => !offered.includes(platform))
  if (missing.length === 0) return []
  return [finding(platformMissing, image.at, { reference: image.text, missing, offered }, image.elsewhere)]
}

function summaryOf(images: readonly NamedImage[]): string {
  if (images.length === 0) return 'no new images'
  const hosts = new Set(images.flatMap(({ parsed: { reference } }) => (reference ? [reference.host] : [])))
  return `${count(images.length, 'image')} in ${count(hosts.size, 'registry', 'registries')}`
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`
}
