// The bundle behind a reference of a template, as far as answers tell: by tag its digest is asked for first, and the
// bundle is asked for by its digest alone, as the images check does, so that both share one answer.
import { formatImageReference, parseImageReference } from '../../../go/reference/image-reference.ts'
import type { RenderedBundle } from '../../../catalog/template/bundle-source.ts'
import type { Answers, BundleAnswer, ImageAnswer, Question } from '../../questions.ts'

export interface OpenedBundle {
  /** What is asked of the world at this stage. */
  readonly question: Question
  readonly answer:
    | { readonly kind: 'bundle'; readonly bundle: RenderedBundle; readonly isRestricted: boolean }
    | Exclude<ImageAnswer, { readonly kind: 'ok' }>
}

/** `image` must be an image reference. */
export function openBundle(image: string, answers: Answers): OpenedBundle {
  const { reference } = parseImageReference(image)
  if (!reference) throw new TypeError(`${image} is no image reference`)
  const { host, repository } = reference
  let { digest } = reference
  if (digest === undefined) {
    const question = { kind: 'image', reference: image } as const
    const answer = answers.get(question)
    if (answer.kind !== 'ok') return { question, answer }
    digest = answer.digest
  }
  const question = {
    kind: 'bundle',
    reference: formatImageReference({ host, repository, digest }),
  } as const
  const answer = answers.get(question)
  return { question, answer: answer.kind === 'bundle' ? rendered(image, answer) : answer }
}

function rendered(
  image: string,
  { content, csv, findings, isRestricted = false }: Extract<BundleAnswer, { readonly kind: 'bundle' }>,
): OpenedBundle['answer'] {
  if (!content) {
    const [first] = findings.filter(({ severity }) => severity === 'error')
    return {
      kind: 'unsupported',
      reason: `it is no bundle that opm can read${first && !isRestricted ? `: ${first.what}` : ''}`,
    }
  }
  const { name, package: its, properties, relatedImages } = content
  // opm adds the bundle's own image where its ClusterServiceVersion does not name it.
  const related = relatedImages.some((one) => one.image === image)
    ? relatedImages
    : [...relatedImages, { name: '', image }]
  const blob = { schema: 'olm.bundle', name, package: its, image, properties, relatedImages: related }
  return { kind: 'bundle', bundle: { blob, ...(csv !== undefined && { csv }) }, isRestricted }
}
