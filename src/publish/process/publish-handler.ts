// Runs one order with its entry's credentials only. Checks the administrator's list first. Returns failures as answers,
// so that the App's process never receives a credential.
import { readCatalogFiles } from './catalog-files.ts'
import {
  type BuiltCatalogImage,
  type CatalogPublisher,
  ImageError,
} from '../../adapters/image/catalog-publisher.ts'
import { ensureSignableImage } from '../../adapters/image/provenance/attest-image.ts'
import { parseImageReference } from '@catalog-bot/fbc/go/reference/image-reference'
import {
  type PublishRequestOfKind,
  type PublishContext,
  type PublishRegistryContext,
  toFailedPublishResponse,
  loadImageSigningContext,
  attestPublishedImage,
  type ImageSigningContext,
} from './publish-context.ts'
import { removeImages } from './remove-images.ts'
import { fetchBuildStatus, sendWebhook } from './send-webhook.ts'
import { matchesImagePattern, findImagePushGrant, findWebhookGrant, type PushTarget } from './push-targets.ts'
import type {
  PublishImageSettings,
  PublishIntentDecision,
  PublishIntentMessage,
  PublishResponse,
  PublishRequest,
  PublishedImageResponse,
} from './publish-protocol.ts'

type PublishIntentConfirmer = (intending: PublishIntentMessage) => Promise<PublishIntentDecision>

/** Rejects only with internal failures. */
export function handlePublishRequest(
  order: PublishRequest,
  ctx: PublishContext,
  intend: PublishIntentConfirmer,
): Promise<PublishResponse> {
  return dispatchPublishRequest(order, ctx, intend).catch(toFailedPublishResponse)
}

async function dispatchPublishRequest(
  order: PublishRequest,
  ctx: PublishContext,
  intend: PublishIntentConfirmer,
): Promise<PublishResponse> {
  if (order.kind === 'deliver' || order.kind === 'follow') return callRebuildWebhook(order, ctx)
  const grant = findImagePushGrant(ctx.targets, order, order.image)
  if (grant.kind === 'refused') return grant
  const why = findPreviewTagRejection(order) ?? findBaseImageRejection(order, grant.target, ctx.closedHosts)
  if (why !== undefined) return { kind: 'refused', why }
  const registryCtx = await ctx.registryFor(grant.at)
  const { publisher, registry, digestOfBase } = registryCtx
  switch (order.kind) {
    case 'publish':
      return publishCatalogImage(order, ctx, registryCtx, intend)
    case 'rebase':
      return rebaseImage(order, ctx, registryCtx, intend)
    case 'retag':
      return retagImage(order, publisher)
    case 'look':
      return readTagAndBaseImageDigests(order, publisher, digestOfBase)
    case 'remove':
      return removeImages(order.image, order.images, publisher, registry)
  }
}

async function publishCatalogImage(
  order: PublishRequestOfKind<'publish'>,
  ctx: PublishContext,
  registryCtx: PublishRegistryContext,
  intend: PublishIntentConfirmer,
): Promise<PublishResponse> {
  const { publisher } = registryCtx
  const signing = await loadImageSigningContext(order, ctx, registryCtx)
  const files = await readCatalogFiles(await ctx.mirrorAt(order.mirror), order.tree, order.root)
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
  const answer = await pushCatalogImage(image, order, signing, intend)
  if (answer.kind !== 'published') return answer
  // A registry may accept an image and not return it.
  const { isSame, differences, problems } = await publisher.verify(`${order.image}@${answer.digest}`, files)
  if (!isSame) {
    const details = [...problems, ...differences.slice(0, 3).map(({ path, kind }) => `${path} is ${kind}`)]
    throw new ImageError(
      'not-a-catalog',
      `${order.image}@${answer.digest} does not match the catalog that was pushed: ${details.join('; ')}`,
    )
  }
  await verifyTagDigests(order.image, order.tags, answer.digest, publisher)
  return attestPublishedImage(
    answer,
    image,
    order,
    signing,
    async () => image.layer.listed ?? publisher.listBundles(files),
  )
}

async function rebaseImage(
  order: PublishRequestOfKind<'rebase'>,
  ctx: PublishContext,
  registryCtx: PublishRegistryContext,
  intend: PublishIntentConfirmer,
): Promise<PublishResponse> {
  const { publisher } = registryCtx
  const signing = await loadImageSigningContext(order, ctx, registryCtx)
  const { platforms } = order.settings
  const old = `${order.image}@${order.digest}`
  const image = await publisher.rebase({
    image: old,
    base: order.settings.base,
    annotations: order.annotations,
    ...(platforms.length > 0 && { platforms }),
  })
  const answer = await pushCatalogImage(image, order, signing, intend)
  if (answer.kind !== 'published') return answer
  return attestPublishedImage(answer, image, order, signing, async () =>
    publisher.listBundles((await publisher.read(old)).files),
  )
}

async function pushCatalogImage(
  image: BuiltCatalogImage,
  { image: repository, tags, history }: PublishRequestOfKind<'publish'> | PublishRequestOfKind<'rebase'>,
  signing: ImageSigningContext,
  intend: PublishIntentConfirmer,
): Promise<PublishResponse> {
  const { publisher } = signing
  const before = await readTagDigests(repository, tags, publisher)
  if ((await intend({ kind: 'intend', digest: image.digest })) === 'superseded') return { kind: 'superseded' }
  const target = { repository, tags, expected: toExpectedTagDigests(before) }
  const pushed = await publisher.push(image, target)
  const { digest, unchanged } = await ensureSignableImage(
    signing,
    pushed,
    () => Promise.resolve(image),
    target,
  )
  await verifyTagDigests(repository, tags, digest, publisher)
  const permanentTag =
    history === undefined || history.known === digest
      ? undefined
      : await addPermanentTag(history.tag, repository, digest, publisher)
  const { layer, base } = image
  return {
    kind: 'published',
    digest,
    unchanged,
    before,
    ...(permanentTag !== undefined && { history: permanentTag }),
    size: layer.size,
    ...(base !== undefined && { base }),
    ...(layer.packages !== undefined && { packages: layer.packages.length }),
    ...(layer.bundles !== undefined && { bundles: layer.bundles }),
  }
}

/** One commit can have several images, for example on another base. */
async function addPermanentTag(
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

async function retagImage(
  { image, digest, tags }: PublishRequestOfKind<'retag'>,
  publisher: CatalogPublisher,
): Promise<PublishedImageResponse> {
  const before = await readTagDigests(image, tags, publisher)
  const unchanged = tags.every((tag) => before[tag] === digest)
  if (!unchanged)
    await publisher.retag(`${image}@${digest}`, {
      repository: image,
      tags,
      expected: toExpectedTagDigests(before),
    })
  await verifyTagDigests(image, tags, digest, publisher)
  return { kind: 'published', digest, unchanged, before }
}

async function readTagAndBaseImageDigests(
  { image, tags, base }: PublishRequestOfKind<'look'>,
  publisher: CatalogPublisher,
  digestOfBase: PublishRegistryContext['digestOfBase'],
): Promise<PublishResponse> {
  return {
    kind: 'seen',
    tags: await readTagDigests(image, tags, publisher),
    ...(base !== undefined && base !== 'scratch' && { base: (await digestOfBase(base)) ?? null }),
  }
}

async function readTagDigests(
  image: string,
  tags: readonly string[],
  publisher: CatalogPublisher,
): Promise<Record<string, string | null>> {
  const found = await Promise.all(
    tags.map(async (tag) => [tag, (await publisher.digestOf(`${image}:${tag}`)) ?? null] as const),
  )
  return Object.fromEntries(found)
}

const toExpectedTagDigests = (before: Readonly<Record<string, string | null>>) =>
  Object.fromEntries(Object.entries(before).map(([tag, digest]) => [tag, digest ?? undefined]))

/** Reads every tag back from the registry. */
async function verifyTagDigests(
  image: string,
  tags: readonly string[],
  digest: string,
  publisher: CatalogPublisher,
): Promise<void> {
  const now = await readTagDigests(image, tags, publisher)
  for (const tag of tags)
    if (now[tag] !== digest)
      throw new ImageError(
        'tag-moved',
        `the tag ${tag} of ${image} points to ${now[tag] ?? 'nothing'} immediately after it was set to ${digest}`,
      )
}

async function callRebuildWebhook(
  order: PublishRequestOfKind<'deliver'> | PublishRequestOfKind<'follow'>,
  { targets, transport, secretOf, now }: PublishContext,
): Promise<PublishResponse> {
  const grant = findWebhookGrant(targets, order, order.url)
  if (grant.kind === 'refused') return grant
  if (order.kind === 'follow') return fetchBuildStatus(order, transport)
  const file = grant.target.webhooks.find(({ url }) => url === order.url)?.secret ?? ''
  return sendWebhook({ ...order, secret: await secretOf(file), now: now() }, transport)
}

/** Checks the final tags, regardless of their templates: a preview must not reach users. */
function findPreviewTagRejection(order: PublishRequest): string | undefined {
  if (!('tags' in order) || order.kind === 'look') return undefined
  const wantsPreview = order.kind === 'publish' && order.purpose === 'preview'
  const tags = 'history' in order && order.history ? [...order.tags, order.history.tag] : order.tags
  const wrong = tags.find((tag) => /^pr-\d/.test(tag) !== wantsPreview)
  if (wrong === undefined) return undefined
  return wantsPreview
    ? `a preview must not set the tag ${wrong}`
    : `the tag ${wrong} is reserved for previews because it starts with pr- and a number`
}

/** The entry's credentials could copy a private base, so bases must be public or allowed by the administrator. */
function findBaseImageRejection(
  order: PublishRequest,
  { bases }: PushTarget,
  closedHosts: readonly string[],
): string | undefined {
  const base = 'settings' in order ? (order as { settings: PublishImageSettings }).settings.base : undefined
  const baseImage = base ?? (order.kind === 'look' ? order.base : undefined)
  if (baseImage === undefined || baseImage === 'scratch') return undefined
  const { reference, reason } = parseImageReference(baseImage)
  if (reference === undefined) return `the base image ${baseImage} is not a valid reference: ${reason}`
  if (!closedHosts.includes(reference.host)) return undefined
  const name = `${reference.host}/${reference.repository}`
  return bases.some((pattern) => matchesImagePattern(pattern, name))
    ? undefined
    : `the bot administrator does not allow this repository to use ${name} as a base image`
}
