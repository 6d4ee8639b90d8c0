// Takes images that are not wanted any more out of a registry. Registries delete by digest, and with it every tag that
// names it: so nothing goes that any other tag names, by itself or through an index, whoever set that tag.
import { parseImageReference } from '../../go/reference/image-reference.ts'
import type { CatalogPublisher } from '../../image/catalog-publisher.ts'
import type { RegistryClient } from '../../registry/registry-client.ts'
import { RegistryError } from '../../registry/registry-error.ts'
import type { PublishAnswer, Unwanted } from './publish-order.ts'

/** Each tag costs a question: a repository with more is left alone. */
const mostTags = 5000
const atOnce = 4
/** An index of indexes is rare, and a circle impossible. */
const deepest = 3

export async function removeImages(
  image: string,
  unwanted: readonly Unwanted[],
  publisher: CatalogPublisher,
  registry: Pick<RegistryClient, 'fetchManifest'>,
): Promise<PublishAnswer> {
  const tags = await publisher.listTags(image)
  if (tags.length > mostTags)
    return {
      kind: 'removed',
      gone: [],
      kept: unwanted.map(({ digest }) => ({ digest, why: `the repository has more than ${mostTags} tags` })),
    }
  const going = new Map(unwanted.map(({ digest, tags: own }) => [digest, new Set(own)]))
  const needed = new Map<string, string>()
  for (const part of chunks(tags, atOnce))
    await Promise.all(
      part.map(async (tag) => {
        const found = await manifestOf(image, { tag }, registry)
        // Gone since the list was made.
        if (found === undefined) return
        const isGoing = going.get(found.digest)?.has(tag) === true
        if (!isGoing) needed.set(found.digest, tag)
        if (!isGoing) for (const child of await childrenOf(image, found, registry)) needed.set(child, tag)
      }),
    )
  const gone: string[] = []
  const kept: { digest: string; why: string }[] = []
  for (const { digest } of unwanted) {
    const tag = needed.get(digest)
    if (tag !== undefined) {
      kept.push({ digest, why: `the tag ${tag} needs it` })
      continue
    }
    try {
      await publisher.deleteManifest(image, digest)
      gone.push(digest)
    } catch (error) {
      if (!(error instanceof RegistryError) || error.code !== 'unsupported') throw error
      kept.push({ digest, why: 'the registry does not delete images' })
    }
  }
  return { kind: 'removed', gone, kept }
}

type Fetched = Awaited<ReturnType<RegistryClient['fetchManifest']>>

async function manifestOf(
  image: string,
  which: { readonly tag: string } | { readonly digest: string },
  registry: Pick<RegistryClient, 'fetchManifest'>,
): Promise<Fetched | undefined> {
  const { reference } = parseImageReference(image)
  if (reference === undefined) return undefined
  try {
    return await registry.fetchManifest({ ...reference, ...which })
  } catch (error) {
    if (error instanceof RegistryError && error.code === 'missing') return undefined
    throw error
  }
}

async function childrenOf(
  image: string,
  { manifest }: Fetched,
  registry: Pick<RegistryClient, 'fetchManifest'>,
  depth = 1,
): Promise<readonly string[]> {
  if (manifest.kind !== 'index') return []
  const digests = manifest.manifests.map(({ digest }) => digest)
  if (depth === deepest) return digests
  const below: string[] = []
  for (const child of manifest.manifests) {
    if (!/index|manifest\.list/.test(child.mediaType)) continue
    const found = await manifestOf(image, { digest: child.digest }, registry)
    if (found !== undefined) below.push(...(await childrenOf(image, found, registry, depth + 1)))
  }
  return [...digests, ...below]
}

function chunks<Item>(items: readonly Item[], size: number): Item[][] {
  const result: Item[][] = []
  for (let at = 0; at < items.length; at += size) result.push(items.slice(at, at + size))
  return result
}
