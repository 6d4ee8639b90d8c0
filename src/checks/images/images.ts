// Checks that every newly referenced image exists, matches its digest, and is allowed, and compares new or edited
// bundles with their images. Only definite registry answers count against the author.
import { formatCountWithNoun } from '@catalog-bot/findings/printable'
import { formatImageReference } from '@catalog-bot/fbc/go/reference/image-reference'
import { unreadableBundleRule } from '@catalog-bot/bundle/rules/reported-rules'
import { compareFindings, type Finding } from '@catalog-bot/findings/finding'
import { memoizeLastResult } from '@catalog-bot/findings/memoize'
import { createFinding, type FindingRule } from '@catalog-bot/findings/rule'
import {
  type Check,
  type CheckInput,
  type CheckOutcome,
  applyConfiguredSeverities,
  type PendingLookup,
} from '../check.ts'
import {
  privateImageRetrySeconds,
  type LookupResults,
  type ImageLookupResult,
  type LookupRequest,
} from '../lookups.ts'
import {
  isAllowedRegistry,
  collectReferencedImages,
  type ReferencedImage,
  createUnpinnedImageFindings,
  validateImageReference,
} from './named-image.ts'
import {
  moveFindingToImageReference,
  groupBundlesByImageToPull,
  findBundleImageProblems,
  listPulledBundleImageReferences,
} from './bundles-to-open.ts'
import { parseImageTagAndDigest } from './missing-images.ts'
import {
  evaluateRepublishedBundles,
  listTagDigestLookups,
  findRepublishedBundles,
} from './republished-bundles.ts'
import {
  imageDigestMismatch,
  imageMissingRule,
  imageUnsupportedRule,
  malformedReferenceRule,
  platformMissingRule,
  registryBlockedRule,
  tagMovedRule,
} from './rules.ts'

export const imagesCheck = {
  id: 'images',
  ask(input: ImagesInput, answers: LookupResults): readonly LookupRequest[] {
    const { images, opened, republished } = collectImagesToCheck(input)
    const questions = images.flatMap((image) => [
      ...(canQueryImageRegistry(image, input) ? createImageLookupRequests(image, input) : []),
      // Pull a bundle only after its image is known to exist, and by the digest found.
      ...(opened.has(image.text) ? createBundleLookupRequests(image, input, answers) : []),
    ])
    return [...questions, ...listTagDigestLookups(republished)]
  },
  judge: evaluateImagesCheck,
} satisfies Check<'images'>

/** Known before the rest of a check's input, so that registries can answer while the rest is read. */
export type ImagesInput = Pick<CheckInput, 'change' | 'config' | 'published'>

/** Cached, because each answer causes another round of questions. */
const collectImagesToCheck = memoizeLastResult(['change', 'published'], collectImages)

function collectImages({ change, published }: ImagesInput) {
  const opened = groupBundlesByImageToPull(change, published)
  const known = new Set(
    change.references.filter(({ role }) => role === 'bundle').map(({ reference }) => reference),
  )
  const unlistedReferences = listPulledBundleImageReferences(opened).filter(
    ({ reference }) => !known.has(reference),
  )
  return {
    images: collectReferencedImages([...change.references, ...unlistedReferences]),
    opened,
    republished: findRepublishedBundles(change.catalogs, published),
  }
}

function evaluateImagesCheck(input: CheckInput, answers: LookupResults): CheckOutcome {
  const { images, opened, republished } = collectImagesToCheck(input)
  const again = evaluateRepublishedBundles(republished, answers)
  const findings: Finding[] = applyConfiguredSeverities(again.findings, input.config)
  const unanswered: PendingLookup[] = [...again.unanswered]
  const closed: BundleImagePullFailure[] = []
  for (const image of images) {
    const reference = image.text
    const addFindings = (...found: readonly Finding[]) =>
      findings.push(...applyConfiguredSeverities(found, input.config, image.locations))
    const written = validateImageReference(image, input.config.images.registries)
    if (written) {
      addFindings(written)
      continue
    }
    const answer = answers.get(createImageLookupRequest(image, input))
    const unknown = findInconclusiveLookupReason(answer)
    if (unknown) unanswered.push({ question: `whether ${reference} exists`, ...unknown })
    addFindings(...createImageLookupFindings(image, answer))
    addFindings(...createUnpinnedImageFindings(image, answer.kind === 'ok' ? answer.digest : undefined))
    if (answer.kind === 'ok') {
      addFindings(...createMovedTagFindings(image, answers))
      const platforms = findMissingPlatforms(image, answer, input.config.images.platforms)
      if (platforms === 'unread')
        unanswered.push({
          question: `which platforms ${reference} supports`,
          reason: 'catalog-bot has not looked up the image yet',
          retryAfter: 0,
        })
      else addFindings(...platforms)
    }
    const blobs = opened.get(reference)
    const [question] = blobs ? createBundleLookupRequests(image, input, answers) : []
    if (blobs && question) {
      const bundle = answers.get(question)
      if (bundle.kind === 'bundle') addFindings(...findBundleImageProblems(image, blobs, bundle))
      else if (isPermanentImageFailure(bundle)) addFindings(...createBundlePullFailureFindings(image, bundle))
      else closed.push({ reference, ...bundle })
    }
  }
  unanswered.push(...groupImagePullFailuresByReason(closed))
  return {
    check: 'images',
    findings: findings.sort(compareFindings),
    unanswered,
    waiting: [],
    summary: summarizeNewImages(images),
  }
}

/** Asks for platforms only if the configuration requires some and the image runs on one. */
function createImageLookupRequest(image: ReferencedImage, { config }: ImagesInput) {
  const platforms = config.images.platforms.length > 0 && isWorkloadImage(image)
  return { kind: 'image', reference: image.text, ...(platforms && { platforms }) } as const
}

function createImageLookupRequests(image: ReferencedImage, input: ImagesInput): readonly LookupRequest[] {
  const tagged = parseImageTagAndDigest(image.text)
  return [
    createImageLookupRequest(image, input),
    ...(tagged ? [{ kind: 'image', reference: tagged.reference } as const] : []),
  ]
}

function createBundleLookupRequests(
  image: ReferencedImage,
  input: ImagesInput,
  answers: LookupResults,
): readonly Extract<LookupRequest, { kind: 'bundle' }>[] {
  const { reference } = image.parsed
  if (!reference || !canQueryImageRegistry(image, input)) return []
  const answer = answers.get(createImageLookupRequest(image, input))
  if (answer.kind !== 'ok') return []
  const { host, repository } = reference
  return [{ kind: 'bundle', reference: formatImageReference({ host, repository, digest: answer.digest }) }]
}

/** True for valid references in allowed registries. */
function canQueryImageRegistry({ parsed: { reference } }: ReferencedImage, { config }: ImagesInput): boolean {
  return reference !== undefined && isAllowedRegistry(reference, config.images.registries)
}

function isWorkloadImage({ isBundle, isListed }: ReferencedImage): boolean {
  return !isBundle && !isListed
}

function createImageLookupFindings(
  { text: reference, at, elsewhere }: ReferencedImage,
  answer: ImageLookupResult,
): readonly Finding[] {
  const rule = ruleByImageLookupResultKind[answer.kind]
  if (rule === undefined || answer.kind === 'ok') return []
  return [createFinding(rule, at, { reference, reason: answer.reason }, elsewhere)]
}

const ruleByImageLookupResultKind: Readonly<
  Record<ImageLookupResult['kind'], FindingRule<{ reference: string; reason: string }> | undefined>
> = {
  missing: imageMissingRule,
  'digest-mismatch': imageDigestMismatch,
  unsupported: imageUnsupportedRule,
  malformed: malformedReferenceRule,
  blocked: registryBlockedRule,
  ok: undefined,
  'missing-or-private': undefined,
  unknown: undefined,
}

type FailedImageLookupResult = Exclude<ImageLookupResult, { readonly kind: 'ok' }>

interface BundleImagePullFailure {
  readonly reference: string
  readonly kind: FailedImageLookupResult['kind']
  readonly reason: string
  readonly retryAfter?: number
}

/** The bundle's image existed a moment ago, so `missing` may be temporary and is retried. */
function isPermanentImageFailure({ kind }: FailedImageLookupResult): boolean {
  return kind === 'unsupported' || kind === 'digest-mismatch' || kind === 'malformed' || kind === 'blocked'
}

function createBundlePullFailureFindings(image: ReferencedImage, answer: FailedImageLookupResult) {
  if (answer.kind !== 'unsupported') return createImageLookupFindings(image, answer)
  return [
    moveFindingToImageReference(
      createFinding(unreadableBundleRule, undefined, { reason: answer.reason }),
      image,
    ),
  ]
}

/** Groups unopened bundles by reason to keep the list readable. */
function* groupImagePullFailuresByReason(
  closed: readonly BundleImagePullFailure[],
): Generator<PendingLookup> {
  const byReason = Map.groupBy(closed, ({ reason }) => reason)
  for (const [reason, [first, ...others]] of byReason)
    if (first)
      yield {
        question: `the content of ${first.reference}${others.length === 0 ? '' : ` and ${formatCountWithNoun(others.length, 'other bundle image')}`}`,
        reason,
        retryAfter: others.reduce(
          (shortest, { retryAfter = 60 }) => Math.min(shortest, retryAfter),
          first.retryAfter ?? 60,
        ),
      }
}

function findInconclusiveLookupReason(answer: ImageLookupResult) {
  if (answer.kind === 'unknown') return { reason: answer.reason, retryAfter: answer.retryAfter }
  if (answer.kind === 'missing-or-private')
    return {
      reason: `the image is missing or private: ${answer.reason}`,
      retryAfter: privateImageRetrySeconds,
    }
  return undefined
}

// A missing answer does not block here, because the digest decides what is installed.
function createMovedTagFindings(image: ReferencedImage, answers: LookupResults): readonly Finding[] {
  const tagged = parseImageTagAndDigest(image.text)
  if (!tagged) return []
  const { tag, digest } = tagged
  const answer = answers.get({ kind: 'image', reference: tagged.reference })
  if (answer.kind !== 'ok' || answer.digest === digest) return []
  const { text: reference, at, elsewhere } = image
  return [createFinding(tagMovedRule, at, { reference, tag, digest, now: answer.digest }, elsewhere)]
}

function findMissingPlatforms(
  image: ReferencedImage,
  answer: Extract<ImageLookupResult, { kind: 'ok' }>,
  requiredPlatforms: readonly string[],
): readonly Finding[] | 'unread' {
  if (requiredPlatforms.length === 0 || !isWorkloadImage(image)) return []
  if (answer.platforms === undefined) return 'unread'
  const offered = answer.platforms
  const missing = requiredPlatforms.filter((platform) => !offered.includes(platform))
  if (missing.length === 0) return []
  return [
    createFinding(
      platformMissingRule,
      image.at,
      { reference: image.text, missing, offered },
      image.elsewhere,
    ),
  ]
}

function summarizeNewImages(images: readonly ReferencedImage[]): string {
  if (images.length === 0) return 'no new images'
  const hosts = new Set(images.flatMap(({ parsed: { reference } }) => (reference ? [reference.host] : [])))
  return `${formatCountWithNoun(images.length, 'image')} in ${formatCountWithNoun(hosts.size, 'registry', 'registries')}`
}
