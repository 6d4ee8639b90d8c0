// `build DIR|LIST` and `rebase IMAGE`: build a catalog image without a container engine.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { getCacheDirectory } from '../catalogs/parsed-file-cache.ts'
import { systemClock } from '../adapters/system-clock.ts'
import { escapeNonPrintableCharacters } from '@catalog-bot/findings/printable'
import {
  type ImageBuildCache,
  type CatalogImageFile,
  type BuiltCatalogImage,
  type CatalogImageSpec,
  type CatalogPublisher,
  type ImagePublishResult,
  type ImagePublishTarget,
  ImageError,
} from '../adapters/image/catalog-publisher.ts'
import {
  renderCompositeCatalogFiles,
  parseCompositeCatalogSpec,
  type CompositeCatalogSpec,
} from '../adapters/image/composite-catalog.ts'
import { writeOciLayout, renderDockerfile, readCatalogFolder } from '../adapters/image/local-build.ts'
import { RegistryCatalogPublisher } from '../adapters/image/open-catalog-publisher.ts'
import { RegistryImagePusher } from '../adapters/image/open-pusher.ts'
import { parseImageReferenceOrThrow } from '../adapters/image/base-image.ts'
import { formatImageReference } from '@catalog-bot/fbc/go/reference/image-reference'
import { HttpRegistryClient } from '../adapters/registry/open-registry.ts'
import type { RegistryClient } from '../adapters/registry/registry-client.ts'
import { readRegistryAccess } from '../adapters/registry/registry-access.ts'
import { parseCommaSeparatedKeyValues } from './options.ts'
import {
  setExitCode,
  printToStdout,
  printJson,
  printToStderr,
  withProgress,
  type ReportProgress,
} from './output.ts'
import { toRepositoryRelativePath, createImageAttester, type ImageAttestationOptions } from './sign.ts'

interface RebaseImageOptions extends ImageAttestationOptions {
  readonly baseImage: string
  readonly tag?: readonly string[]
  readonly extraLabels?: readonly string[]
  readonly annotation?: readonly string[]
  readonly platform?: readonly string[]
  readonly dryRun?: boolean
  readonly ociLayout?: string
  readonly insecureRegistry?: readonly string[]
  readonly output: 'text' | 'json'
}

interface BuildOptions extends RebaseImageOptions {
  readonly serveCache: boolean
  readonly uncompressed?: boolean
  readonly format: 'oci' | 'docker'
  readonly created?: string
  readonly force?: boolean
  readonly dockerfile?: boolean
  readonly builderImage: string
}

export async function runBuild(source: string, options: BuildOptions): Promise<void> {
  if (options.dockerfile === true) return printDockerfile(source, options)
  const list = statSync(source).isDirectory() ? undefined : parseCompositeCatalogSpec(readFileSync(source))
  const tags = options.tag ?? getCompositeCatalogImageTags(list)
  requireSingleOutputMode(options, tags)
  await runWithCatalogPublisher(options, async (publisher, registry, reader, report) => {
    const attest = await createImageAttester(options, publisher, reader)
    const files = list
      ? await renderCompositeCatalogFiles(registry, list, source)
      : await readCatalogFolder(source)
    const order = toCatalogImageSpec(files, options)
    const path = list ? undefined : toRepositoryRelativePath(source)
    if (options.ociLayout !== undefined) {
      const image = await publisher.build(order)
      await writeOciLayout(image, options.ociLayout, tags.length > 0 ? tags : ['latest'])
      return printBuildResult(options, image, [])
    }
    const origin = {
      built: () => publisher.build(order),
      files: () => Promise.resolve(files),
      annotations: order.annotations ?? {},
      ...(path !== undefined && { path }),
    }
    const published = await publishToTargets(tags, options, async (target) => {
      report(`Building and pushing the image: ${target.repository}`)
      return attest(await publisher.publish(order, target), target, origin)
    })
    printBuildResult(options, published.at(-1)?.[1].image, published)
  })
}

export async function runImageRebase(image: string, options: RebaseImageOptions): Promise<void> {
  const tags = options.tag ?? (image.includes('@') ? [] : [image])
  requireSingleOutputMode(options, tags)
  await runWithCatalogPublisher(options, async (publisher, _registry, reader, report) => {
    const attest = await createImageAttester(options, publisher, reader)
    const { baseImage: base, extraLabels, annotation, platform } = options
    const annotations = annotation && parseCommaSeparatedKeyValues(annotation, 'annotation')
    // By digest, because the build may set the image's own tag.
    const { host, repository } = parseImageReferenceOrThrow(image)
    const name = formatImageReference({ host, repository })
    const digest = await publisher.digestOf(image)
    const rebased = await publisher.rebase({
      image: digest === undefined ? image : `${name}@${digest}`,
      base,
      ...(extraLabels && { labels: parseCommaSeparatedKeyValues(extraLabels, 'label') }),
      ...(annotations && { annotations }),
      ...(platform && { platforms: platform }),
    })
    if (options.ociLayout !== undefined) {
      await writeOciLayout(rebased, options.ociLayout, tags.length > 0 ? tags : ['latest'])
      return printBuildResult(options, rebased, [])
    }
    const origin = {
      built: () => Promise.resolve(rebased),
      files: async () => (await publisher.read(`${name}@${digest ?? ''}`)).files,
      annotations: annotations ?? {},
      ...(digest !== undefined && { rebased: { name, digest } }),
    }
    const published = await publishToTargets(tags, options, async (target) => {
      report(`Pushing the image: ${target.repository}`)
      return attest(await publisher.push(rebased, target), target, origin)
    })
    printBuildResult(options, rebased, published)
  })
}

function toCatalogImageSpec(files: readonly CatalogImageFile[], options: BuildOptions): CatalogImageSpec {
  const { extraLabels, annotation, platform, created } = options
  const time = created ?? parseSourceDateEpoch(process.env['SOURCE_DATE_EPOCH'])
  return {
    files,
    base: options.baseImage,
    cache: options.serveCache,
    compression: options.uncompressed === true ? 'none' : 'gzip',
    format: options.format,
    ...(extraLabels && { labels: parseCommaSeparatedKeyValues(extraLabels, 'label') }),
    ...(annotation && { annotations: parseCommaSeparatedKeyValues(annotation, 'annotation') }),
    ...(platform && { platforms: platform }),
    ...(time !== undefined && { created: time }),
  }
}

/** The variable contains seconds: https://reproducible-builds.org/specs/source-date-epoch/ */
function parseSourceDateEpoch(epoch: string | undefined): string | undefined {
  if (epoch === undefined || epoch === '') return undefined
  // The largest four-digit year.
  if (!/^\d{1,12}$/.test(epoch) || Number(epoch) > 253_402_300_799)
    throw new Error(
      `SOURCE_DATE_EPOCH must be a number of seconds, but is "${escapeNonPrintableCharacters(epoch)}"`,
    )
  return new Date(Number(epoch) * 1000).toISOString()
}

function printDockerfile(source: string, options: BuildOptions): void {
  if (!statSync(source).isDirectory()) throw new Error(`provided root path "${source}" is not a directory`)
  printToStdout(
    renderDockerfile({
      directory: basename(resolve(source)),
      base: options.baseImage,
      builder: options.builderImage,
      labels: parseCommaSeparatedKeyValues(options.extraLabels ?? [], 'label'),
    }),
  )
  setExitCode(0)
}

function getCompositeCatalogImageTags(list: CompositeCatalogSpec | undefined): readonly string[] {
  return list?.repository === undefined || list.tag === undefined ? [] : [`${list.repository}:${list.tag}`]
}

function requireSingleOutputMode(options: RebaseImageOptions, tags: readonly string[]): void {
  const destinations = [options.push === true, options.dryRun === true, options.ociLayout !== undefined]
  if (destinations.filter(Boolean).length !== 1)
    throw new Error('specify exactly one of --push, --dry-run, and --oci-layout DIR')
  if (options.ociLayout === undefined && tags.length === 0)
    throw new Error('specify the image name with --tag REGISTRY/REPOSITORY:TAG')
}

/** One after the other. Results are by repository. */
async function publishToTargets(
  tags: readonly string[],
  options: RebaseImageOptions & { readonly force?: boolean },
  publish: (target: ImagePublishTarget) => Promise<ImagePublishResult>,
): Promise<readonly (readonly [string, ImagePublishResult])[]> {
  const tagsByRepository = new Map<string, string[]>()
  for (const text of tags) {
    const [, repository, tag] = /^(.*\/[^:@]*):([^/@]+)$/.exec(text) ?? []
    if (repository === undefined || tag === undefined)
      throw new Error(`"${text}" is not an image name in the form REGISTRY/REPOSITORY:TAG`)
    tagsByRepository.set(repository, [...(tagsByRepository.get(repository) ?? []), tag])
  }
  const published: [string, ImagePublishResult][] = []
  for (const [repository, own] of tagsByRepository) {
    const [dryRun, evenIfUnchanged] = [options.dryRun === true, options.force === true]
    const target = { repository, tags: [...new Set(own)], dryRun, evenIfUnchanged }
    published.push([repository, await publish(target)])
  }
  return published
}

async function runWithCatalogPublisher(
  options: RebaseImageOptions,
  use: (
    publisher: CatalogPublisher,
    registry: RegistryClient,
    reader: RegistryClient,
    report: ReportProgress,
  ) => Promise<void>,
): Promise<void> {
  const access = await readRegistryAccess(process.env, options.insecureRegistry)
  const registry = new HttpRegistryClient({ clock: systemClock, ...access })
  const { credentials, egress } = access
  const pusher = new RegistryImagePusher({ clock: systemClock, credentials, egress })
  // Doesn't use mirrors, because their tags might be outdated.
  const published = new HttpRegistryClient({ clock: systemClock, ...access, rules: [] })
  const publisher = new RegistryCatalogPublisher({
    registry,
    published,
    pusher,
    buildCache: createOnDiskImageBuildCache(),
    packsIn: 'here',
  })
  try {
    await withProgress('Building the image', (report) => use(publisher, registry, published, report))
  } catch (error) {
    if (!(error instanceof ImageError) || !['invalid-catalog', 'no-cache'].includes(error.code)) throw error
    printToStderr(`Error: ${error.message}`)
    setExitCode(1)
  } finally {
    await publisher.close()
    await published.close()
    await registry.close()
  }
}

/** Uses the user's cache folder. Treats errors as missing entries. */
function createOnDiskImageBuildCache(): ImageBuildCache {
  const folder = join(getCacheDirectory(), 'images')
  const pathOf = (key: string) => join(folder, createHash('sha256').update(key).digest('hex'))
  return {
    async get(key) {
      try {
        return readFileSync(pathOf(key), 'utf8')
      } catch {
        return undefined
      }
    },
    async set(key, value) {
      try {
        mkdirSync(folder, { recursive: true })
        const beside = `${pathOf(key)}.${process.pid}`
        writeFileSync(beside, value)
        renameSync(beside, pathOf(key))
      } catch {
        // A failed write only costs time later.
      }
    },
  }
}

function printBuildResult(
  options: RebaseImageOptions,
  image: BuiltCatalogImage | undefined,
  published: readonly (readonly [string, ImagePublishResult])[],
): void {
  if (options.output === 'json') {
    const layer = image && { ...image.layer, packages: image.layer.packages?.length, listed: undefined }
    printJson({
      digest: image?.digest ?? published[0]?.[1].digest,
      contentDigest: image?.contentDigest ?? published[0]?.[1].contentDigest,
      ...(image && { platforms: image.platforms, base: image.base, layer }),
      repositories: published.map(([repository, { digest, unchanged, tags, blobs }]) => ({
        repository,
        digest,
        unchanged,
        tags,
        blobs,
      })),
    })
  } else {
    if (image) for (const line of describeBuiltImage(image)) printToStdout(line)
    for (const [repository, one] of published)
      for (const line of describePublishedImage(repository, one, options.dryRun === true)) printToStdout(line)
  }
  setExitCode(0)
}

function describeBuiltImage({ digest, platforms, base, layer }: BuiltCatalogImage): readonly string[] {
  const { packages, bundles, size, uncompressed, cacheDigest } = layer
  return [
    `image ${digest} for ${platforms.join(', ')}`,
    ...(base ? [`base ${base.name}@${base.digest}`] : []),
    `layer ${layer.digest}: ${formatMegabytes(size)}${uncompressed > 0 ? ` (${formatMegabytes(uncompressed)} unpacked)` : ''}`,
    ...(packages ? [`catalog ${packages.length} packages, ${bundles} bundles`] : []),
    ...(cacheDigest === undefined ? [] : [`cache ${cacheDigest}`]),
  ]
}

function describePublishedImage(
  repository: string,
  published: ImagePublishResult,
  isDryRun: boolean,
): readonly string[] {
  return published.tags.map(({ tag, before, after }) => {
    const name = escapeNonPrintableCharacters(`${repository}:${tag}`)
    if (published.unchanged || before === after) return `unchanged: ${name} is ${after}`
    const verb = isDryRun ? 'would be set' : 'set'
    return before === undefined
      ? `new: ${name} ${verb} to ${after}`
      : `${verb}: ${name} to ${after} (was ${before})`
  })
}

const formatMegabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`
