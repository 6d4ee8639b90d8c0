import type { AbortSignalLike } from '../../ports/registry.ts'
import type { BundleImageAnswer } from '../../checks/questions.ts'
import { toImageAnswer } from './to-image-answer.ts'
import type { RegistryClient } from './registry-client.ts'
import { pullAndReadBundle, type ImagePullLimits } from './pull-bundle.ts'

export async function readBundle(
  client: RegistryClient,
  reference: string,
  options: { readonly limits?: Partial<ImagePullLimits>; readonly signal?: AbortSignalLike } = {},
): Promise<BundleImageAnswer> {
  try {
    const { digest, reading } = await pullAndReadBundle(client, reference, options)
    return { kind: 'bundle', digest, ...reading }
  } catch (error) {
    const answer = toImageAnswer(error)
    if (answer.kind === 'ok') throw error
    return answer
  }
}
