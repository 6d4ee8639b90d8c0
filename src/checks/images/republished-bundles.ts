// Finds new bundles whose name another catalog already uses for a different image. Within one catalog, bundle-edited
// covers this.
import { parseImageReference } from '@catalog-bot/fbc/go/reference/image-reference'
import type { BundleBlob } from '@catalog-bot/fbc/facts/catalog'
import type { CatalogChange } from '../../pull-request/change.ts'
import type { Finding } from '@catalog-bot/findings/finding'
import { createFinding } from '@catalog-bot/findings/rule'
import type { PublishedBundle, PendingLookup } from '../check.ts'
import { privateImageRetrySeconds, type LookupResults, type LookupRequest } from '../lookups.ts'
import { bundleRepublishedRule } from './rules.ts'
import { listBundlesOfPackages, listChangedPackageNames, toBundleKey } from './bundles-to-open.ts'

interface PublishedImageInCatalog {
  readonly image: string
  readonly catalog: string
}

/** A bundle whose name has different images elsewhere, none of which is known to be the same. */
export interface RepublishedBundle {
  readonly bundle: BundleBlob
  /** Not empty. Each has a different reference and not the same digest. */
  readonly known: readonly PublishedImageInCatalog[]
}

export function findRepublishedBundles(
  catalogs: readonly CatalogChange[],
  published: readonly PublishedBundle[] = [],
): readonly RepublishedBundle[] {
  // Published bundles come first, then new ones in catalog order.
  const images = new Map<string, PublishedImageInCatalog[]>()
  const recordBundle = (bundle: BundleBlob, catalog: string) => {
    if (bundle.image === '') return
    const known = images.get(toBundleKey(bundle)) ?? []
    images.set(toBundleKey(bundle), known)
    if (!known.some(({ image }) => image === bundle.image)) known.push({ image: bundle.image, catalog })
  }
  const changed = listChangedPackageNames(catalogs)
  for (const { root, base } of catalogs)
    for (const bundle of listBundlesOfPackages(base, changed)) recordBundle(bundle, root)
  for (const { catalog, bundle } of published) recordBundle(bundle, catalog)
  const found: RepublishedBundle[] = []
  for (const { root, base, result } of catalogs) {
    const had = new Set(listBundlesOfPackages(base, changed).map(toBundleKey))
    for (const bundle of listBundlesOfPackages(result, changed)) {
      if (had.has(toBundleKey(bundle)) || bundle.image === '') continue
      const known = images.get(toBundleKey(bundle)) ?? []
      // One match is enough. If catalogs already disagree, using one of their images again is harmless.
      if (
        known.length > 0 &&
        known.every(({ image }) => compareImageReferencesByDigest(image, bundle.image) !== 'same')
      )
        found.push({ bundle, known: [...known] })
      recordBundle(bundle, root)
    }
  }
  return found
}

/** Asks for the digests of tags if the references alone do not decide. */
export function listTagDigestLookups(
  republished: readonly RepublishedBundle[],
): readonly Extract<LookupRequest, { kind: 'image' }>[] {
  return republished.flatMap(({ bundle, known }) =>
    known.some(({ image }) => compareImageReferencesByDigest(image, bundle.image) === 'unknown')
      ? [bundle.image, ...known.map(({ image }) => image)]
          .filter(
            (image) => parseImageReferenceDigest(image) === undefined && parseImageReference(image).reference,
          )
          .map((reference) => ({ kind: 'image', reference }) as const)
      : [],
  )
}

/** Findings, and questions that remain open. */
export function evaluateRepublishedBundles(
  republished: readonly RepublishedBundle[],
  answers: LookupResults,
): { readonly findings: readonly Finding[]; readonly unanswered: readonly PendingLookup[] } {
  const findings: Finding[] = []
  const unanswered: PendingLookup[] = []
  for (const { bundle, known } of republished) {
    const compared = known.map(({ image }) => compareResolvedImageDigests(image, bundle.image, answers))
    const [first] = known
    if (compared.includes('same') || !first) continue
    const open = compared.find((one) => typeof one === 'object')
    if (open) {
      unanswered.push({
        question: `whether ${bundle.image} is the image of ${bundle.name} in ${first.catalog}`,
        ...open,
      })
      continue
    }
    const { file, line, column } = bundle.place
    findings.push(
      createFinding(
        bundleRepublishedRule,
        { file, ...(bundle.imageMark ?? { line, column }) },
        { bundle: bundle.name, image: bundle.image, published: first.image, catalog: first.catalog },
      ),
    )
  }
  return { findings, unanswered }
}

/** If both have a digest, it decides: the same image may be in two registries. */
function compareImageReferencesByDigest(one: string, other: string): 'same' | 'other' | 'unknown' {
  if (one === other) return 'same'
  const [left, right] = [parseImageReferenceDigest(one), parseImageReferenceDigest(other)]
  if (left === undefined || right === undefined) return 'unknown'
  return left === right ? 'same' : 'other'
}

type PendingDigestLookup = { readonly reason: string; readonly retryAfter: number }

function compareResolvedImageDigests(
  one: string,
  other: string,
  answers: LookupResults,
): 'same' | 'other' | PendingDigestLookup {
  const byText = compareImageReferencesByDigest(one, other)
  if (byText !== 'unknown') return byText
  const [left, right] = [getImageDigestFromLookups(one, answers), getImageDigestFromLookups(other, answers)]
  if (typeof left === 'object') return left
  if (typeof right === 'object') return right
  return left === right && left !== '' ? 'same' : 'other'
}

/** '' for a missing image, which equals no other. */
function getImageDigestFromLookups(image: string, answers: LookupResults): string | PendingDigestLookup {
  const written = parseImageReferenceDigest(image)
  if (written !== undefined) return written
  if (!parseImageReference(image).reference) return ''
  const answer = answers.get({ kind: 'image', reference: image })
  switch (answer.kind) {
    case 'ok':
      return answer.digest
    case 'unknown':
      return { reason: answer.reason, retryAfter: answer.retryAfter }
    case 'missing-or-private':
      return { reason: answer.reason, retryAfter: privateImageRetrySeconds }
    case 'missing':
    case 'digest-mismatch':
    case 'malformed':
    case 'unsupported':
    case 'blocked':
      return ''
  }
}

function parseImageReferenceDigest(image: string): string | undefined {
  return parseImageReference(image).reference?.digest
}
