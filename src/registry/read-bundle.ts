// A bundle image as an answer: pulled, validated and rendered. What a registry or an archive does wrong is part of
// the answer, and depends on the digest alone, so that it can be remembered.
import { gzipSync } from 'node:zlib'
import { readRegistryBundle } from '../bundle/registry-bundle.ts'
import { renderBundle } from '../bundle/render-bundle.ts'
import { validateBundle } from '../bundle/validate-bundle.ts'
import type { BundleAnswer } from '../checks/questions.ts'
import type { AbortSignalLike } from '../ports/registry.ts'
import { answerOf } from './answer-of.ts'
import type { RegistryClient } from './open-registry.ts'
import { pullBundle, type PullLimits } from './pull-bundle.ts'

const bulky = ['olm.bundle.object', 'olm.csv.metadata']

export async function readBundle(
  client: RegistryClient,
  reference: string,
  options: { readonly limits?: Partial<PullLimits>; readonly signal?: AbortSignalLike } = {},
): Promise<BundleAnswer> {
  try {
    const { digest, files } = await pullBundle(client, reference, options)
    const { findings } = validateBundle(files, { packedSize: (bytes) => gzipSync(bytes).length })
    const { bundle } = readRegistryBundle(files)
    if (!bundle) return { kind: 'bundle', digest, findings }
    const { name, package: its, properties, relatedImages = [] } = renderBundle(bundle, reference)
    const content = {
      name,
      package: its,
      properties: properties.filter(({ type }) => !bulky.includes(type)),
      relatedImages,
    }
    return { kind: 'bundle', digest, content, findings }
  } catch (error) {
    const answer = answerOf(error)
    if (answer.kind === 'ok') throw error
    return answer
  }
}
