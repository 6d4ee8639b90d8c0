// The images check with a look inside: every bundle image that a change names for the first time is opened, judged,
// and held beside the blob that names it. Everything that images.ts judges is judged here too.
import { compareWithImage, type BundleDifference } from '../../bundle/compare-with-image.ts'
import type { BundleBlob } from '../../catalog/catalog.ts'
import { compareFindings, type Finding } from '../../findings/finding.ts'
import { finding } from '../../findings/rule.ts'
import type { Check, CheckInput, CheckOutcome } from '../check.ts'
import type { Answers } from '../questions.ts'
import { imagesCheck } from './images.ts'
import { isAllowedRegistry, namedImages, type NamedImage } from './named-image.ts'
import { bundleDiffersFromImage } from './rules/bundle-differs-from-image.ts'
import { bundleNotItsImage } from './rules/bundle-not-its-image.ts'
import { imageUnsupported } from './rules/image-unsupported.ts'

export const bundleImagesCheck: Check = {
  id: 'images',
  title: 'Every image exists, is allowed, and holds what the catalog says',
  // A bundle is pulled only once its image is known to be there.
  ask: (input, answers) => [
    ...imagesCheck.ask(input, answers),
    ...openable(input, answers).map(({ text }) => ({ kind: 'bundle', reference: text }) as const),
  ],
  judge(input, answers) {
    const outcome = imagesCheck.judge(input, answers)
    const findings: Finding[] = [...outcome.findings]
    const unanswered: CheckOutcome['unanswered'][number][] = [...outcome.unanswered]
    for (const image of openable(input, answers)) {
      const answer = answers.get({ kind: 'bundle', reference: image.text })
      switch (answer.kind) {
        case 'bundle':
          findings.push(...answer.findings.map((inside) => atReference(inside, image)))
          if (answer.content)
            for (const blob of blobsOf(input, image.text))
              findings.push(...judgeBlob(blob, image, compareWithImage(blob, answer.content, image.text)))
          break
        case 'unsupported':
        case 'digest-mismatch':
        case 'malformed':
        case 'blocked':
          findings.push(
            finding(
              imageUnsupported,
              image.at,
              { reference: image.text, reason: answer.reason },
              image.elsewhere,
            ),
          )
          break
        // It was there a moment ago: what is gone now may be back, and is asked again.
        case 'missing':
        case 'missing-or-private':
        case 'unknown':
          unanswered.push({
            question: `what is in ${image.text}?`,
            reason: answer.reason,
            retryAfter: answer.kind === 'unknown' ? answer.retryAfter : 60,
          })
      }
    }
    return { ...outcome, findings: findings.sort(compareFindings), unanswered }
  },
}

function openable({ change, config }: CheckInput, answers: Answers): readonly NamedImage[] {
  return namedImages(change.references).filter(
    ({ isBundle, text, parsed: { reference } }) =>
      isBundle &&
      reference !== undefined &&
      isAllowedRegistry(reference, config.images.registries) &&
      answers.get({ kind: 'image', reference: text }).kind === 'ok',
  )
}

function blobsOf({ change }: CheckInput, reference: string): readonly BundleBlob[] {
  return change.catalogs.flatMap(({ result }) =>
    (result?.bundles ?? []).filter(({ image }) => image === reference),
  )
}

function* judgeBlob(
  blob: BundleBlob,
  { text: reference }: NamedImage,
  differences: readonly BundleDifference[],
): Generator<Finding> {
  const { file, line, column } = blob.place
  const shown = (isIdentity: boolean) =>
    differences.filter((one) => one.isIdentity === isIdentity).map(inWords)
  const [identity, others] = [shown(true), shown(false)]
  if (identity.length > 0)
    yield finding(bundleNotItsImage, { file, line, column }, { reference, differences: identity })
  if (others.length > 0)
    yield finding(bundleDiffersFromImage, { file, line, column }, { reference, differences: others })
}

function inWords({ field, catalog, image }: BundleDifference): string {
  if (image === undefined) return `${field} ${catalog ?? ''} is only in the catalog`
  if (catalog === undefined) return `${field} ${image} is only in the image`
  return `${field} is ${catalog} in the catalog and ${image} in the image`
}

/** The file lies in the image: the finding is shown where the image is named. */
function atReference(inside: Finding, { at, elsewhere, text }: NamedImage): Finding {
  const where = inside.at ? `, ${inside.at.file}` : ''
  return {
    ...inside,
    what: `${inside.what} (in ${text}${where})`,
    at,
    ...(elsewhere.length > 0 && { related: elsewhere }),
  }
}
