// Runs one order with its entry's credentials only. The operator's list is checked first; failures become answers, so
// that the App's process never sees a credential.
import type { CatalogImage, CatalogPublisher } from '../../image/catalog-publisher.ts'
import { ImageError } from '../../image/image-error.ts'
import { signablePublished } from '../../image/provenance/vouch-for.ts'
import { parseImageReference } from '../../go/reference/image-reference.ts'
import { readCatalogFiles } from './catalog-files.ts'
import { failedAnswer } from './failed-answer.ts'
import type { OrderOf, PublishRoom, RegistryRoom } from './publish-room.ts'
import { removeImages } from './remove-images.ts'
import { followWebhook, sendWebhook } from './send-webhook.ts'
import { signingOf, vouched, type Signing } from './signing.ts'
import { covers, grantPush, grantWebhook, type PushTarget } from './push-targets.ts'
import type {
  ImageSettings,
  IntendAnswer,
  Intending,
  PublishAnswer,
  PublishOrder,
  PublishedImage,
} from './publish-order.ts'

type Intend = (intending: Intending) => Promise<IntendAnswer>

/** Rejects only with our own failures. */
export async function doPublishOrder(
  order: PublishOrder,
  room: PublishRoom,
  intend: Intend,
): Promise<PublishAnswer> {
  try {
    return await perform(order, room, intend)
  } catch (error) {
    return failedAnswer(error)
  }
}

async function perform(order: PublishOrder, room: PublishRoom, intend: Intend): Promise<PublishAnswer> {
  if (order.kind === 'deliver' || order.kind === 'follow') return callWebhook(order, room)
  const given = grantPush(room.targets, order, order.image)
  if (given.kind === 'refused') return given
  const why = refusedTag(order) ?? refusedBase(order, given.target, room.closedHosts)
  if (why !== undefined) return { kind: 'refused', why }
  const registryRoom = await room.registryFor(given.at)
  const { publisher, registry, digestOfBase } = registryRoom
  switch (order.kind) {
    case 'publish':
      return publish(order, room, registryRoom, intend)
    case 'rebase':
      return rebase(order, room, registryRoom, intend)
    case 'retag':
      return retag(order, publisher)
    case 'look':
      return look(order, publisher, digestOfBase)
    case 'remove':
      return removeImages(order.image, order.images, publisher, registry)
  }
}

async function publish(
  order: OrderOf<'publish'>,
  room: PublishRoom,
  registryRoom: RegistryRoom,
  intend: Intend,
): Promise<PublishAnswer> {
  const { publisher } = registryRoom
  const signing = await signingOf(order, room, registryRoom)
  const files = await readCatalogFiles(await room.mirrorAt(order.mirror), order.tree, order.root)
  const { base, cache, compression, format, platforms } = order.settings
  const image = await publisher.build({
    files,
    base,
    cache,
    compression,
    format,
    annotations: order.annotations,
    ...(platforms.length > 0 && { platforms }),
  })
  const answer = await push(image, order, signing, intend)
  if (answer.kind !== 'published') return answer
  // A registry may accept an image and not return it.
  const { isSame, differences, problems } = await publisher.verify(`${order.image}@${answer.digest}`, files)
  if (!isSame) {
    const what = [...problems, ...differences.slice(0, 3).map(({ path, kind }) => `${path} is ${kind}`)]
    throw new ImageError(
      'not-a-catalog',
      `${order.image}@${answer.digest} does not hold what was pushed: ${what.join('; ')}`,
    )
  }
  await checkTags(order.image, order.tags, answer.digest, publisher)
  return vouched(
    answer,
    image,
    order,
    signing,
    async () => image.layer.listed ?? publisher.listBundles(files),
  )
}

async function rebase(
  order: OrderOf<'rebase'>,
  room: PublishRoom,
  registryRoom: RegistryRoom,
  intend: Intend,
): Promise<PublishAnswer> {
  const { publisher } = registryRoom
  const signing = await signingOf(order, room, registryRoom)
  const { platforms } = order.settings
  const old = `${order.image}@${order.digest}`
  const image = await publisher.rebase({
    image: old,
    base: order.settings.base,
    annotations: order.annotations,
    ...(platforms.length > 0 && { platforms }),
  })
  const answer = await push(image, order, signing, intend)
  if (answer.kind !== 'published') return answer
  return vouched(answer, image, order, signing, async () =>
    publisher.listBundles((await publisher.read(old)).files),
  )
}

async function push(
  image: CatalogImage,
  { image: repository, tags, history }: OrderOf<'publish'> | OrderOf<'rebase'>,
  signing: Signing,
  intend: Intend,
): Promise<PublishAnswer> {
  const { publisher } = signing
  const before = await tagsNow(repository, tags, publisher)
  if ((await intend({ kind: 'intend', digest: image.digest })) === 'superseded') return { kind: 'superseded' }
  const target = { repository, tags, expected: expected(before) }
  const pushed = await publisher.push(image, target)
  const { digest, unchanged } = await signablePublished(signing, pushed, () => Promise.resolve(image), target)
  await checkTags(repository, tags, digest, publisher)
  const kept =
    history === undefined || history.known === digest
      ? undefined
      : await keepUnder(history.tag, repository, digest, publisher)
  const { layer, base } = image
  return {
    kind: 'published',
    digest,
    unchanged,
    before,
    ...(kept !== undefined && { history: kept }),
    size: layer.size,
    ...(base !== undefined && { base }),
    ...(layer.packages !== undefined && { packages: layer.packages.length }),
    ...(layer.bundles !== undefined && { bundles: layer.bundles }),
  }
}

/** One commit can have several images, for example on another base. */
async function keepUnder(
  tag: string,
  repository: string,
  digest: string,
  publisher: CatalogPublisher,
): Promise<string> {
  const before = await publisher.digestOf(`${repository}:${tag}`)
  if (before === digest) return tag
  const free = before === undefined ? tag : `${tag}-${digest.slice('sha256:'.length, 'sha256:'.length + 8)}`
  await publisher.retag(`${repository}@${digest}`, { repository, tags: [free] })
  return free
}

async function retag(
  { image, digest, tags }: OrderOf<'retag'>,
  publisher: CatalogPublisher,
): Promise<PublishedImage> {
  const before = await tagsNow(image, tags, publisher)
  const unchanged = tags.every((tag) => before[tag] === digest)
  if (!unchanged)
    await publisher.retag(`${image}@${digest}`, { repository: image, tags, expected: expected(before) })
  await checkTags(image, tags, digest, publisher)
  return { kind: 'published', digest, unchanged, before }
}

async function look(
  { image, tags, base }: OrderOf<'look'>,
  publisher: CatalogPublisher,
  digestOfBase: RegistryRoom['digestOfBase'],
): Promise<PublishAnswer> {
  return {
    kind: 'seen',
    tags: await tagsNow(image, tags, publisher),
    ...(base !== undefined && base !== 'scratch' && { base: (await digestOfBase(base)) ?? null }),
  }
}

async function tagsNow(
  image: string,
  tags: readonly string[],
  publisher: CatalogPublisher,
): Promise<Record<string, string | null>> {
  const found = await Promise.all(
    tags.map(async (tag) => [tag, (await publisher.digestOf(`${image}:${tag}`)) ?? null] as const),
  )
  return Object.fromEntries(found)
}

const expected = (before: Readonly<Record<string, string | null>>) =>
  Object.fromEntries(Object.entries(before).map(([tag, digest]) => [tag, digest ?? undefined]))

/** Reads every tag back from the registry. */
async function checkTags(
  image: string,
  tags: readonly string[],
  digest: string,
  publisher: CatalogPublisher,
): Promise<void> {
  const now = await tagsNow(image, tags, publisher)
  for (const tag of tags)
    if (now[tag] !== digest)
      throw new ImageError(
        'tag-moved',
        `the tag ${tag} of ${image} names ${now[tag] ?? 'nothing'} right after it was set to ${digest}`,
      )
}

async function callWebhook(
  order: OrderOf<'deliver'> | OrderOf<'follow'>,
  { targets, transport, secretOf, now }: PublishRoom,
): Promise<PublishAnswer> {
  const given = grantWebhook(targets, order, order.url)
  if (given.kind === 'refused') return given
  if (order.kind === 'follow') return followWebhook(order, transport)
  const file = given.target.webhooks.find(({ url }) => url === order.url)?.secret ?? ''
  return sendWebhook({ ...order, secret: await secretOf(file), now: now() }, transport)
}

/** Checks the final tags, regardless of their templates: a preview must not reach users. */
function refusedTag(order: PublishOrder): string | undefined {
  if (!('tags' in order) || order.kind === 'look') return undefined
  const wantsPreview = order.kind === 'publish' && order.purpose === 'preview'
  const tags = 'history' in order && order.history ? [...order.tags, order.history.tag] : order.tags
  const wrong = tags.find((tag) => /^pr-\d/.test(tag) !== wantsPreview)
  if (wrong === undefined) return undefined
  return wantsPreview
    ? `a preview must not set the tag ${wrong}`
    : `the tag ${wrong} is kept for previews: tags that begin with pr- and a number are`
}

/**
 * The entry's credentials could copy a private base to where the entry pushes, so bases must be public or allowed by
 * the operator.
 */
function refusedBase(
  order: PublishOrder,
  { bases }: PushTarget,
  closedHosts: readonly string[],
): string | undefined {
  const base = 'settings' in order ? (order as { settings: ImageSettings }).settings.base : undefined
  const asked = base ?? (order.kind === 'look' ? order.base : undefined)
  if (asked === undefined || asked === 'scratch') return undefined
  const { reference, reason } = parseImageReference(asked)
  if (reference === undefined) return `the base ${asked} is no reference: ${reason}`
  if (!closedHosts.includes(reference.host)) return undefined
  const name = `${reference.host}/${reference.repository}`
  return bases.some((pattern) => covers(pattern, name))
    ? undefined
    : `the operator of the App does not let this repository build on ${name}`
}
