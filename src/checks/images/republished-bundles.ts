// Finds new bundles whose name another catalog already uses for a different image. Within one catalog, bundle-edited
// covers this.
import { parseImageReference } from '../../go/reference/image-reference.ts'
import type { BundleBlob } from '../../catalog/facts/catalog.ts'
import type { CatalogChange } from '../../change/change.ts'
import type { Finding } from '../../findings/finding.ts'
import { finding } from '../../findings/rule.ts'
import type { PublishedBundle } from '../check.ts'
import type { Answers, Question } from '../questions.ts'
import { bundleRepublished } from './rules/bundle-republished.ts'

interface KnownImage {
  readonly image: string
  readonly catalog: string
}

/** A bundle whose name has other images elsewhere, and none that is certainly the same. */
export interface Republished {
  readonly bundle: BundleBlob
  /** Not empty. Different text, and not the same digest. */
  readonly known: readonly KnownImage[]
}

export function republishedBundles(
  catalogs: readonly CatalogChange[],
  published: readonly PublishedBundle[] = [],
): readonly Republished[] {
  // Published bundles come first, then new ones in catalog order.
  const images = new Map<string, KnownImage[]>()
  const remember = (bundle: BundleBlob, catalog: string) => {
    if (bundle.image === '') return
    const known = images.get(keyOf(bundle)) ?? []
    images.set(keyOf(bundle), known)
    if (!known.some(({ image }) => image === bundle.image)) known.push({ image: bundle.image, catalog })
  }
  for (const { root, base } of catalogs) for (const bundle of base?.bundles ?? []) remember(bundle, root)
  for (const { catalog, bundle } of published) remember(bundle, catalog)
  const found: Republished[] = []
  for (const { root, base, result } of catalogs) {
    const had = new Set((base?.bundles ?? []).map(keyOf))
    for (const bundle of result?.bundles ?? []) {
      if (had.has(keyOf(bundle)) || bundle.image === '') continue
      const known = images.get(keyOf(bundle)) ?? []
      // One match is enough: if catalogs already disagree, repeating one does no harm.
      if (known.length > 0 && known.every(({ image }) => compareByText(image, bundle.image) !== 'same'))
        found.push({ bundle, known: [...known] })
      remember(bundle, root)
    }
  }
  return found
}

/** Asks for tags' digests where the texts alone do not decide. */
export function questionsAboutRepublished(
  republished: readonly Republished[],
): readonly Extract<Question, { kind: 'image' }>[] {
  return republished.flatMap(({ bundle, known }) =>
    known.some(({ image }) => compareByText(image, bundle.image) === 'unknown')
      ? [bundle.image, ...known.map(({ image }) => image)]
          .filter((image) => digestIn(image) === undefined && parseImageReference(image).reference)
          .map((reference) => ({ kind: 'image', reference }) as const)
      : [],
  )
}

/** Findings, and questions that remain open. */
export function judgeRepublished(
  republished: readonly Republished[],
  answers: Answers,
): {
  readonly findings: readonly Finding[]
  readonly unanswered: readonly { question: string; reason: string; retryAfter: number }[]
} {
  const findings: Finding[] = []
  const unanswered: { question: string; reason: string; retryAfter: number }[] = []
  for (const { bundle, known } of republished) {
    const compared = known.map(({ image }) => compareByAnswers(image, bundle.image, answers))
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
      finding(
        bundleRepublished,
        { file, ...(bundle.imageMark ?? { line, column }) },
        { bundle: bundle.name, image: bundle.image, published: first.image, catalog: first.catalog },
      ),
    )
  }
  return { findings, unanswered }
}

function keyOf({ package: its, name }: BundleBlob): string {
  return `${its}\n${name}`
}

/** If both have a digest, it decides: the same image may be in two registries. */
function compareByText(one: string, other: string): 'same' | 'other' | 'unknown' {
  if (one === other) return 'same'
  const [left, right] = [digestIn(one), digestIn(other)]
  if (left === undefined || right === undefined) return 'unknown'
  return left === right ? 'same' : 'other'
}

type Open = { readonly reason: string; readonly retryAfter: number }

function compareByAnswers(one: string, other: string, answers: Answers): 'same' | 'other' | Open {
  const byText = compareByText(one, other)
  if (byText !== 'unknown') return byText
  const [left, right] = [digestOf(one, answers), digestOf(other, answers)]
  if (typeof left === 'object') return left
  if (typeof right === 'object') return right
  return left === right && left !== '' ? 'same' : 'other'
}

/** '' for a missing image, which equals no other. */
function digestOf(image: string, answers: Answers): string | Open {
  const written = digestIn(image)
  if (written !== undefined) return written
  if (!parseImageReference(image).reference) return ''
  const answer = answers.get({ kind: 'image', reference: image })
  switch (answer.kind) {
    case 'ok':
      return answer.digest
    case 'unknown':
      return { reason: answer.reason, retryAfter: answer.retryAfter }
    case 'missing-or-private':
      return { reason: answer.reason, retryAfter: privateRetry }
    case 'missing':
    case 'digest-mismatch':
    case 'malformed':
    case 'unsupported':
    case 'blocked':
      return ''
  }
}

// As in images.ts: retrying within minutes does not help.
const privateRetry = 900

function digestIn(image: string): string | undefined {
  return parseImageReference(image).reference?.digest
}
