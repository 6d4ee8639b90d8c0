// Attaches SBOM, provenance and the operator's signature to published images.
import type { CatalogImage } from '../../image/catalog-publisher.ts'
import { ImageError } from '../../image/image-error.ts'
import type { ListedBundle } from '../../image/provenance/listed-bundles.ts'
import type { SigningKey } from '../../image/provenance/signing-key.ts'
import type { BuildRecord } from '../../image/provenance/statement.ts'
import { vouchFor } from '../../image/provenance/vouch-for.ts'
import { RegistryError } from '../../registry/registry-error.ts'
import { failedAnswer } from './failed-answer.ts'
import type { PublishAnswer, PublishedImage } from './publish-order.ts'
import type { OrderOf, PublishRoom, RegistryRoom } from './publish-room.ts'

type BuildOrder = OrderOf<'publish'> | OrderOf<'rebase'>

export interface Signing extends RegistryRoom {
  readonly key: SigningKey | undefined
  readonly started: number
  readonly room: PublishRoom
}

/** Loads the key before the push, so that no image is published unsigned. */
export async function signingOf(
  order: BuildOrder,
  room: PublishRoom,
  registryRoom: RegistryRoom,
): Promise<Signing> {
  const key = isPreview(order) ? undefined : await registryRoom.signingKey()
  return { ...registryRoom, key, started: room.now(), room }
}

/** Unreviewed content must not be signed with our key. */
function isPreview(order: BuildOrder): boolean {
  return order.kind === 'publish' && order.purpose === 'preview'
}

/** With a key, an unsigned image counts as unpublished; without one, the answer says what is missing. */
export async function vouched(
  answer: PublishedImage,
  image: CatalogImage,
  order: BuildOrder,
  signing: Signing,
  listed: () => Promise<readonly ListedBundle[]>,
): Promise<PublishAnswer> {
  if (isPreview(order)) return answer
  const { digest } = answer
  try {
    await vouchFor(signing, {
      repository: order.image,
      digest,
      made: async () => ({ listed: await listed(), build: buildRecord(image, order, signing) }),
    })
    return answer
  } catch (error) {
    if (!(error instanceof RegistryError) && !(error instanceof ImageError)) throw error
    if (!signing.key) return { ...answer, unattested: error.message }
    const why = `the tags have ${digest}, and it is not signed: ${error.message}`
    return { ...failedAnswer(error), why, retryable: true }
  }
}

function buildRecord(
  { base, platforms }: CatalogImage,
  order: BuildOrder,
  { started, room }: Signing,
): BuildRecord {
  const { annotations, installation } = order
  const repository = annotations['org.opencontainers.image.source']
  const revision = annotations['org.opencontainers.image.revision']
  const hasSource = repository !== undefined && revision !== undefined
  return {
    ...(hasSource && {
      source: { repository, revision, ...(order.kind === 'publish' && { path: order.root }) },
    }),
    ...(base && { base }),
    ...(order.kind === 'rebase' && { rebased: { name: order.image, digest: order.digest } }),
    platforms,
    builder: `urn:catalog-bot:installation:${installation}`,
    version: room.version,
    started,
    finished: room.now(),
  }
}
